"""The templates of the HTML pages; compiled ones are kept where Python keeps compiled modules."""

import os
import sys
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from pickle import UnpicklingError

import jinja2
from jinja2.bccache import Bucket, BytecodeCache

from arena.document import html as document
from arena.document.blocks import plain


class CompiledTemplates(BytecodeCache):
    """Compiled templates in files like those of Python's modules, which only who wrote our modules
    can write: to compile the templates of a report takes 70 ms.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the file in which Python would keep a module of this file."""
        return cache_from_source(filename or name)

    def get_source_checksum(self, source: str) -> str:
        """Return a checksum that another version of Jinja2 does not share."""
        return super().get_source_checksum(f"{jinja2.__version__}\n{source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template's code if there is any; Jinja2 compiles what is of another source."""
        with suppress(OSError, EOFError, UnpicklingError), Path(bucket.key).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code, where Python would keep that of a module."""
        if sys.dont_write_bytecode:
            return
        path = Path(bucket.key)
        own = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with own.open("wb") as file:
                bucket.write_bytecode(file)
            own.replace(path)


@cache
def environment(folders: tuple[Path, ...]) -> jinja2.Environment:
    """Return the environment of the templates in these folders."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader((*folders, document.FOLDER)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=CompiledTemplates(),
    )
    found.filters |= {"inline": document.inline, "minus": document.minus, "plain": plain}
    return found
