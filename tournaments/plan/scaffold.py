"""A new bot from a template: its folder, and its entry in the list of the working folder."""

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from protocol.errors import UserError, unknown_name
from tournaments.plan.bot_catalog import LIST, all_bots, missing_tools, sample_folder
from tournaments.plan.event import from_toml
from tournaments.plan.file_lock import try_lock_folder

PLACE = "my-bot"
"""What stands in the templates for the name of the bot."""
LONGEST = 32
"""Characters of a name: room is left for what a tournament adds."""
PATIENCE_S = 10.0
"""How long one `new` waits for another in its folder."""
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_-]{{0,{LONGEST - 1}}}")
HEAD = """\
# Your bots: commands in this folder find them by name, as they find the sample bots.
#   {python}  the interpreter that runs boneyard
#   {build}   a private folder for what is built
"""


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of languages.toml."""

    title: str
    """What the language is called."""
    file: str
    """The bot's source."""
    run: tuple[str, ...]
    """As in a list of bots."""
    build: tuple[str, ...] = ()
    """As in a list of bots."""
    needs: str = ""
    """As in a list of bots."""
    reads: tuple[str, ...] = ()
    """As in a list of bots."""
    also: tuple[str, ...] = ()
    """Other words for the language."""
    install: str = ""
    """Where that comes from which it needs."""


class MadeBot(NamedTuple):
    """What `new` has made."""

    files: tuple[Path, ...]
    """The bot's files; the first is its source."""
    missing: str
    """What must be installed before it can play; nothing if it can."""


def languages() -> dict[str, Language]:
    """Every language that there is a template for, by name."""
    return from_toml(_templates() / "languages.toml", dict[str, Language])


def missing_programs(language: Language) -> str:
    """A sentence that says what to install; nothing if this machine has what it needs."""
    lacks = missing_tools(language.needs)
    return f"It needs {language.needs}, {lacks}: {language.install}." if lacks else ""


def make_bot(word: str, name: str, folder: Path) -> MadeBot:
    """Make a bot in the folder, and add it to the folder's list, or go on where that was cut short.

    Raises UserError, and then nothing was made, or what the same words finish later.
    """
    key = _meant(word)
    language = languages()[key]
    files = _files(key, language, name)
    try:
        with _alone(folder):
            _check(name, folder, files)
            _write(files, folder / name)
            _add(folder / LIST, _entry(language, name))
    except OSError as error:
        path = error.filename or folder / name
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error
    return MadeBot(tuple(folder / name / file for file in files), missing_programs(language))


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder itself, which leaves no file behind, so that no other `new` is between its
    look at the list and its entry: two entries of one name make a list unreadable.

    Windows cannot lock a folder: there two at the same moment are not kept apart. Raises UserError
    when another holds it for longer than any of them takes.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        until = time.monotonic() + PATIENCE_S
        while not try_lock_folder(descriptor):
            if time.monotonic() > until:
                raise UserError(f"{folder} is being written by another boneyard.")
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _templates() -> Path:
    return sample_folder() / "templates"


def _meant(word: str) -> str:
    """The language by any of its names."""
    known = languages()
    names = {also: key for key, one in known.items() for also in (key, *one.also)}
    if word.lower() not in names:
        raise unknown_name("language", word, known)
    return names[word.lower()]


def _check(name: str, folder: Path, files: Mapping[str, bytes]) -> None:
    if not _NAME.fullmatch(name):
        raise UserError(
            f"A bot's name has 1 to {LONGEST} letters, digits, _ and -, and no - in front: "
            f"not {name!r}."
        )
    if name in all_bots(folder):
        raise UserError(f"There is a bot {name} already: see `boneyard bots`.")
    if os.path.lexists(folder / name) and not _begun(folder / name, files):
        raise UserError(f"{folder / name} is there already, and nothing is overwritten.")


def _begun(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Whether the folder holds nothing but beginnings of the files: `new` was cut short there."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    return all(
        path.name in files
        and not path.is_symlink()
        and path.is_file()
        and path.stat().st_size <= len(files[path.name])
        and files[path.name].startswith(path.read_bytes())
        for path in folder.iterdir()
    )


def _files(key: str, language: Language, name: str) -> dict[str, bytes]:
    """What stands in the bot's folder; the first is its source."""
    source = (_templates() / key / language.file).read_text(encoding="utf-8")
    texts = {language.file: source, "README.md": _readme(language)}
    return {file: text.replace(PLACE, name).encode() for file, text in texts.items()}


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for file, content in files.items():
        (folder / file).write_bytes(content)


def _readme(language: Language) -> str:
    text = (_templates() / "README.md").read_text(encoding="utf-8")
    built = "It is built before it plays." if language.build else "Nothing has to be built."
    return (
        text.replace("LANGUAGE", language.title)
        .replace("FILE", language.file)
        .replace("BUILT", built)
    )


def _entry(language: Language, name: str) -> str:
    """The bot as it stands in a list. A string of JSON is one of TOML."""

    def called(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(word.replace(PLACE, name) for word in words)

    fields = {
        "about": f"A bot in {language.title}, made by `boneyard new`.",
        "folder": name,
        "needs": language.needs,
        "build": called(language.build),
        "run": called(language.run),
        "reads": called(language.reads),
    }
    lines = [f"{field} = {json.dumps(value)}" for field, value in fields.items() if value]
    return "\n".join([f"[{name}]", *lines, ""])


def _add(path: Path, entry: str) -> None:
    """Add the entry, all of it or nothing; what the user has written there stays as it is."""
    old = path.read_bytes() if path.exists() else b""
    before = HEAD if not old else "" if old.endswith(b"\n") else "\n"
    new = f"{before}\n{entry}".encode()
    with path.open("ab", buffering=0) as file:
        if file.write(new) < len(new):
            # Half an entry would make the list unreadable, and with it every bot of the folder.
            file.truncate(len(old))
            raise OSError(ENOSPC, os.strerror(ENOSPC), str(path))
