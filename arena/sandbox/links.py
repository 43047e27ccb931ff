"""Search of a bot's files for what would open more than was meant: outward links, named pipes.

A link opens its target to a bot if a command names the link, and on workers of a cluster, which
receive contents. A named pipe joins two bots that may both read its folder. This module only reads;
a hard link cannot be told from the file itself.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import NamedTuple

from arena.sandbox.command import is_within, readable_paths
from arena.sandbox.dependencies import as_named, interpreter, is_python, linked_paths, real_path


class Territory(NamedTuple):
    """The folders of a bot's files, and the permitted targets of the links among them."""

    own: tuple[Path, ...]
    """The folders that the bot may read completely; links inside each may lead anywhere in it."""
    base: Path
    """The folder to which the words of the bot's command are relative."""
    named: tuple[Path, ...]
    """The paths that an organiser has named: links may lead there too."""


def outward_on(path: Path, territory: Territory) -> Iterator[Path]:
    """Yield each link on the way to a path that leads out of the territory.

    A folder above all of the bot's files is the organiser's own, and may have any links.
    """
    own = (*territory.own, territory.base)
    for link in map(Path, linked_paths(path)):
        judged = link == as_named(path) or is_within(link, own)
        if judged and link.is_symlink() and _leads_out(link, territory):
            yield link


def outward_below(folder: Path, territory: Territory) -> Iterator[Path]:
    """Yield each link in a folder, at any depth, that leads out of the territory."""
    for path in _below(folder):
        if path.is_symlink() and _leads_out(path, territory):
            yield path


def pipes_below(folder: Path) -> Iterator[Path]:
    """Yield each named pipe in a folder, at any depth."""
    for path in _below(folder):
        if stat.S_ISFIFO(path.lstat().st_mode):
            yield path


def _below(folder: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(folder):
        yield from (Path(where, name) for name in sorted((*folders, *files)))


def _leads_out(link: Path, territory: Territory) -> bool:
    target = real_path(link)
    homes = [one for one in territory.own if link.is_relative_to(one)]
    everywhere = (*map(Path, readable_paths(())), *territory.named, *homes)
    if is_within(target, everywhere) or is_python(target):
        return False
    # Without a folder of its own a bot's file is among others: it may mean only what is beside
    # the link and not hidden, or a link to `../.ssh` would open that.
    if homes or not target.is_relative_to(link.parent):
        return True
    return any(part.startswith(".") for part in target.relative_to(link.parent).parts)


def foreign_interpreter(script: Path, territory: Territory) -> Path | None:
    """Return the program outside that a bot's script asks for by its path; None if there is none.

    One that is asked for by its name alone is what the organiser's PATH says. Any Python may be
    asked for: scripts that pip writes ask for that of their virtual environment.
    """
    found = interpreter(script)
    if found is None or which(found.name) == str(found) or is_python(real_path(found)):
        return None
    return None if is_within(real_path(found), (*territory.own, *territory.named)) else found
