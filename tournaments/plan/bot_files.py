"""Checks of a bot's files: they must not open more to the bot than the organiser named."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from arena.sandbox.command import is_within
from arena.sandbox.dependencies import as_named, is_file, is_folder, named_paths, real_path
from arena.sandbox.links import (
    Territory,
    foreign_interpreter,
    outward_below,
    outward_on,
    pipes_below,
)
from protocol.errors import UserError
from tournaments.plan.event import WrittenBot

NAMED = 3
"""Links that the error names when a folder has many."""


def check_folder(bot: WrittenBot, base: Path) -> None:
    """Refuse a folder that does not exist, or that is a link out of the event's folder.

    Raises UserError.
    """
    folder = base / (bot.folder or ".")
    if not folder.is_dir():
        raise UserError(f"Bot {bot.name}: there is no folder {folder}.")
    if bot.folder:
        territory = Territory(own=(), base=base.resolve(), named=())
        _refuse_links(bot.name, list(outward_on(folder, territory)), "in `folder`")


def check_files(bot: WrittenBot, base: Path, build: Path) -> None:
    """Refuse missing files, links that lead out of what the bot was given, and named pipes.

    `base`: the folder where the bot's relative paths start. `build`: the folder for what is built.
    The bot's placeholders are already filled in. Links on paths that only an organiser can have
    made (above the base, or to a program outside the bot's folder) are followed. Raises UserError.
    """
    folder = (base / (bot.folder or ".")).resolve()
    reads = [folder / part for part in bot.reads]
    for path in reads:
        if not path.exists():
            raise UserError(
                f"Bot {bot.name}: it reads {path}, but there is no such file or folder."
            )
    opened = [real_path(one) for one in ([folder] if bot.folder else []) + reads]
    words = [folder / word for word in bot.run[1:] if any(named_paths([word], folder))]
    territory = Territory(
        own=(*filter(is_folder, (*opened, build)),),
        base=base.resolve(),
        named=(*map(as_named, reads), *(as_named(one) for one in words if is_file(one))),
    )
    programs = list(_own_program(bot, folder, territory))
    named = programs + words + reads
    found = chain(
        chain.from_iterable(outward_on(one, territory) for one in named),
        chain.from_iterable(outward_below(one, territory) for one in opened),
    )
    _refuse_links(bot.name, list(islice(dict.fromkeys(found), NAMED)), "in `reads` or the command")
    for program in programs:
        if asked := foreign_interpreter(program, territory):
            raise UserError(
                f"Bot {bot.name}: the first line of {program} asks for a program outside its "
                f"files: {asked}. Name that in `reads` or in the command."
            )
    for pipe in chain.from_iterable(map(pipes_below, opened)):
        raise UserError(
            f"Bot {bot.name}: among its files is a named pipe, by which bots could talk: {pipe}. "
            "Remove it."
        )


def _own_program(bot: WrittenBot, folder: Path, territory: Territory) -> Iterator[Path]:
    """Yield the program if it is one of the bot's own files, not one that the organiser names."""
    program = folder / bot.run[0]
    relative = not Path(bot.run[0]).is_absolute()
    if is_file(program) and (relative or is_within(program, territory.own)):
        yield program


def _refuse_links(name: str, links: Sequence[Path], where: str) -> None:
    if links:
        told = ", ".join(f"{link} leads to {real_path(link)}" for link in links)
        raise UserError(
            f"Bot {name}: a link leads out of its files: {told}. Remove it, or name its target "
            f"{where}."
        )
