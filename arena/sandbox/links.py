"""Finds what in a bot's files would open more than was meant: links that lead out, named pipes.

A link opens its target to a bot when a command names the link, and on workers of a cluster, which
are sent contents. A named pipe joins two bots that may both read the folder in which it lies.
Only reads; a hard link cannot be told from the file that it is.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import NamedTuple

from arena.sandbox.command import readable_paths
from arena.sandbox.dependencies import (
    as_named,
    interpreter,
    is_python,
    is_within,
    linked_paths,
    real_path,
)


class Territory(NamedTuple):
    """Where a bot's files lie, and where the links among them may lead."""

    own: tuple[Path, ...]
    """Folders all of which the bot may read; links inside each may lead anywhere in it."""
    base: Path
    """The folder in which the bot's words are understood."""
    named: tuple[Path, ...]
    """What an organiser has named, each by its own path: links may lead there too."""


def outward_on(path: Path, territory: Territory) -> Iterator[Path]:
    """Yield each link on the way to a path that leads out of where it may lead.

    A folder above all that is the bot's is the organiser's own, whatever it is made of.
    """
    own = (*territory.own, territory.base)
    for link in map(Path, linked_paths(path)):
        judged = link == as_named(path) or is_within(link, own)
        if judged and link.is_symlink() and _leads_out(link, territory):
            yield link


def outward_below(folder: Path, territory: Territory) -> Iterator[Path]:
    """Yield each link in a folder that leads out of where it may lead, at any depth."""
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
    # Without a folder of its own a bot's file lies among others: what is beside a link and not
    # hidden is all that it may mean, or a link to `../.ssh` would open that.
    return bool(homes) or not _is_beside(target, link.parent)


def _is_beside(target: Path, folder: Path) -> bool:
    return target.is_relative_to(folder) and not any(
        part.startswith(".") for part in target.relative_to(folder).parts
    )


def foreign_interpreter(script: Path, territory: Territory) -> Path | None:
    """Return the program that a script of the bot's asks for by a path outside; None if it is well.

    One that is asked for by its name alone is what the organiser's PATH says. Any Python may be
    asked for: scripts that pip writes ask for that of their virtual environment.
    """
    found = interpreter(script)
    if found is None or which(found.name) == str(found) or is_python(real_path(found)):
        return None
    return None if is_within(real_path(found), (*territory.own, *territory.named)) else found
