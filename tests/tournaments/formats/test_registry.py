"""The list of formats: whoever adds one adds a module and a line."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from click.testing import CliRunner

from tournaments import formats
from tournaments.cli.run import run
from tournaments.formats.base import BaseFormat
from tournaments.formats.registry import FORMATS
from tournaments.formats.tune import Tune


def with_names(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield the formats that a user can name; the others are their bases."""
    if kind.__struct_config__.tag != kind.__name__:
        yield kind
    for one in kind.__subclasses__():
        yield from with_names(one)


def test_every_format_of_the_folder_is_in_the_list() -> None:
    for module in iter_modules(formats.__path__, f"{formats.__name__}."):
        import_module(module.name)
    choices = {type(one) for one in FORMATS.values()}
    assert choices | {Tune} == set(with_names(BaseFormat))


def test_run_offers_the_formats_of_the_list() -> None:
    words = CliRunner().invoke(run, ["--help"], terminal_width=200).output
    assert f"--format [{'|'.join(FORMATS)}]" in words
    said = CliRunner().invoke(run, ["first", "--format", "swis"])
    assert said.exit_code == 2
    assert all(name in said.output for name in FORMATS)
