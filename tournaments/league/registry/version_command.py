"""The command of a version: it may read its own files and the installation of its program."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import UNSET

from arena.sandbox.command import Command
from arena.sandbox.dependencies import interpreter, is_file, program_paths
from arena.sealed.module import is_module
from protocol.errors import UserError, suggestion
from tournaments.formats.base import Entrant
from tournaments.league.folder import LeagueFolder
from tournaments.league.records import Admitted
from tournaments.league.registry.bot_file import parse_bot_file
from tournaments.league.registry.file_tree import RefusedPushError, TreeItem
from tournaments.league.settings import BotPermissions, LeagueSettings
from tournaments.plan.bot_catalog import BOT_FILE, BotFile
from tournaments.plan.bot_command import (
    INTERPRETERS,
    PYTHON,
    fill_places,
    find_program,
    our_packages,
)

COMPILERS = ("cc", "c++", "go", "javac", "java", "rustc", "make", "tclsh", "bash")
"""Programs that authors ask for, besides interpreters."""


def version_command(bot: BotFile, folder: Path, permissions: BotPermissions) -> Command:
    """Return the command of a bot whose files, built or not, are in a folder.

    No file outside is opened to it, whatever its words name. Raises RefusedPushError.
    """
    argv, reads = resolve_words("run", bot.run, folder)
    reads = (*reads, str(folder))
    access = permissions.network, permissions.environment
    return Command(argv, str(folder), reads, (str(folder),), *access)


def check_sealed(command: Command, settings: LeagueSettings) -> None:
    """Refuse a process in a league of sealed bots. Raises RefusedPushError."""
    if settings.sealed and not is_module(command.argv):
        raise RefusedPushError(
            "run: this league admits sealed bots only. Name a module of WebAssembly (*.wasm) first."
        )


def resolve_words(
    field: str, words: Sequence[str], folder: Path, built: Path | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a command with its program's path, and what it must read besides the bot's files.

    `built`: the folder that {build} means, if not this one. Raises RefusedPushError.
    """
    first, *others = fill_places(words, built or folder)
    program = _program(field, words[0], first, folder)
    reads = tuple(dict.fromkeys(_readable(field, program, folder)))
    return (str(program), *others), reads


def _program(field: str, written: str, word: str, folder: Path) -> Path:
    if written == PYTHON:
        return find_program("", word, folder)
    own = Path(os.path.normpath(folder / word))
    if own.is_relative_to(folder) and is_file(own):
        if not os.access(own, os.X_OK) and not is_module((word,)):
            raise RefusedPushError(
                f"{field}: {word} is not executable. Make it so (chmod +x), or name its "
                'interpreter first, as in ["{python}", "main.py"].'
            )
        return own
    if "/" in word:
        raise RefusedPushError(
            f"{field}: there is no program {written} in the bot's folder"
            f"{' after the build' if '{build}' in written else ''}. Name one of its files, or a "
            "program of the league's machine without its path."
        )
    try:
        return find_program("", word, folder)
    except UserError:
        known = {PYTHON, *(by for by, *_ in INTERPRETERS.values() if "/" not in by), *COMPILERS}
        here = sorted(one for one in known if one == PYTHON or shutil.which(one))
        raise RefusedPushError(
            f"{field}: the league's machine has no program {word!r}: {suggestion(word, here)}"
        ) from None


def _readable(field: str, program: Path, folder: Path) -> Iterator[str]:
    """Yield the paths that a program needs besides the bot's own files.

    The bot's own program chooses none of them: a script may be for a program of the PATH only.
    """
    if program.is_relative_to(folder):
        script_for = interpreter(program)
        if script_for is None:
            return
        if shutil.which(script_for.name) != str(script_for):
            raise RefusedPushError(
                f"{field}: the first line of {program.relative_to(folder)} asks for {script_for}, "
                "which is not a program of the league's PATH. Write #!/usr/bin/env and its name."
            )
        program = script_for
    yield from program_paths(program)
    yield from our_packages(program)


def entrant_of(league: LeagueFolder, settings: LeagueSettings, entry: Admitted) -> Entrant:
    """Return a version as a round's plan has it. Raises UserError if it cannot play here."""
    version = entry.version
    folder = LeagueFolder(league.path.resolve()).version(version)
    try:
        content = (folder / BOT_FILE).read_bytes()
        bot = parse_bot_file({BOT_FILE: TreeItem("file", content)}, version, list(entry.divisions))
        permissions = settings.permissions(entry.bot)
        command = version_command(bot, built_folder(folder) if bot.build else folder, permissions)
        if not entry.house:
            check_sealed(command, settings)
    except (OSError, RefusedPushError) as error:
        raise UserError(f"Version {version} cannot play: {error}") from error
    clock = permissions.clock.complete(settings.clock) if permissions.clock else UNSET
    return Entrant(version, command, entry.fingerprint, clock=clock)


def built_folder(folder: Path) -> Path:
    """Return the folder beside a version's files that has them with all that their build made."""
    return folder.with_name(f"{folder.name}.built")
