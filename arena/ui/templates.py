"""The templates of the HTML pages, and the cache of their compiled forms."""

from contextlib import suppress
from functools import cache
from pathlib import Path
from pickle import UnpicklingError

import jinja2
from jinja2.bccache import Bucket

from arena.document import blocks
from arena.document.blocks import plain
from arena.files import make_private, user_cache


class TemplateCache(jinja2.FileSystemBytecodeCache):
    """Compiled templates in the user's cache: to compile those of a report takes 100 ms.

    A file that cannot be read or written is left out.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template's code if there is any; Jinja2 compiles what is of another source."""
        with suppress(OSError, EOFError, UnpicklingError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def template_cache() -> TemplateCache | None:
    """Return the cache of this version of Jinja2; None where the user can have none."""
    folder = user_cache("templates")
    if folder is None:
        return None
    with suppress(OSError):
        make_private(folder)
        return TemplateCache(f"{folder}", f"jinja2-{jinja2.__version__}-%s")
    return None


@cache
def environment(folders: tuple[Path, ...]) -> jinja2.Environment:
    """Return the environment of the templates in these folders."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader((*folders, blocks.MACRO_FOLDER)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=template_cache(),
    )
    env.filters |= {"inline": blocks.inline, "minus": blocks.minus, "plain": plain}
    return env
