"""A new bot from a template: its folder, and its entry in the list of the working folder."""

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from arena.files import append_atomic, open_append, read_file
from arena.rules.toml_file import load_toml
from protocol.codec import encode_json
from protocol.errors import UserError, unknown_name
from tournaments.plan.bot_catalog import LIST, all_bots, missing_tools, sample_folder
from tournaments.plan.bot_file import BOT_FILE
from tournaments.plan.file_lock import try_lock_folder

PLACE = "my-bot"
"""Placeholder in the templates for the name of the bot."""
LONGEST = 32
"""Most characters of a name: a tournament may add some."""
PATIENCE_S = 10.0
"""Time that one `new` waits for another in its folder, in s."""
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_-]{{0,{LONGEST - 1}}}")
HEAD = """\
# Your bots: commands in this folder find them by name, as they find the sample bots.
#   {python}  the interpreter that runs boneyard
#   {build}   a private folder for what is built
"""


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of languages.toml."""

    title: str
    """Name of the language for people."""
    file: str
    """Name of the bot's source file."""
    run: tuple[str, ...]
    """As in a list of bots."""
    build: tuple[str, ...] = ()
    """As in a list of bots."""
    needs: str = ""
    """As in a list of bots."""
    reads: tuple[str, ...] = ()
    """As in a list of bots."""
    also: tuple[str, ...] = ()
    """Other names of the language."""
    install: str = ""
    """Advice on where to get what the language needs."""


class MadeBot(NamedTuple):
    """The result of `boneyard new`."""

    files: tuple[Path, ...]
    """The bot's files; the first is its source."""
    missing: str
    """Sentence that says what to install before the bot can play; empty if nothing is missing."""


def languages() -> dict[str, Language]:
    """Return every language that has a template, by name."""
    return load_toml(_templates() / "languages.toml", dict[str, Language])


def missing_programs(language: Language) -> str:
    """Return a sentence that says what to install; empty if this machine has all that is needed."""
    lacks = missing_tools(language.needs)
    return f"It needs {language.needs}, {lacks}: {language.install}." if lacks else ""


def make_bot(word: str, name: str, folder: Path) -> MadeBot:
    """Make a bot in the folder and add it to the folder's list, or finish a call cut short.

    Raises UserError; then nothing was made, or only what the same call finishes later.
    """
    key = _meant(word)
    language = languages()[key]
    files = _files(key, name)
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
    """Hold the folder itself, which leaves no file behind.

    Otherwise another `new` could come between this one's look at the list and its entry: two
    entries of one name make a list unreadable. Windows cannot lock a folder: there two calls at
    the same moment are not kept apart. Raises UserError if another process holds the folder for
    longer than any call takes.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        until = time.monotonic() + PATIENCE_S
        while not try_lock_folder(descriptor):
            if time.monotonic() > until:
                raise UserError(f"{folder} is in use by another boneyard process.")
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _templates() -> Path:
    return sample_folder() / "templates"


def _meant(word: str) -> str:
    """Return the key of the language that has this name."""
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
        raise UserError(f"There is a bot {name} already: see `boneyard help bots`.")
    if os.path.lexists(folder / name) and not _begun(folder / name, files):
        raise UserError(f"{folder / name} already exists and is not overwritten.")


def _begun(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Tell whether the folder holds only beginnings of the files: a `new` was cut short there."""
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


def _files(key: str, name: str) -> dict[str, bytes]:
    """Return the files of a bot's folder with their content; the first is the bot's source."""
    language = languages()[key]
    source = (_templates() / key / language.file).read_text(encoding="utf-8")
    about = f"A bot in {language.title}, made by `boneyard new`."
    words = {"about": about, "build": language.build, "run": language.run}
    entry = "".join(f"{field} = {_in_toml(value)}\n" for field, value in words.items() if value)
    texts = {language.file: source, "README.md": _readme(language), BOT_FILE: entry}
    return {file: text.replace(PLACE, name).encode() for file, text in texts.items()}


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for file, content in files.items():
        (folder / file).write_bytes(content)


def _readme(language: Language) -> str:
    text = (_templates() / "README.md").read_text(encoding="utf-8")
    built = "It is built before each event." if language.build else "Nothing has to be built."
    return (
        text.replace("LANGUAGE", language.title)
        .replace("FILE", language.file)
        .replace("BUILT", built)
    )


def _entry(language: Language, name: str) -> str:
    """Return the bot's entry in a list, as TOML: every JSON string is also a TOML string."""

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
    lines = [f"{field} = {_in_toml(value)}" for field, value in fields.items() if value]
    return "\n".join([f"[{name}]", *lines, ""])


def _in_toml(value: str | Sequence[str]) -> str:
    """Return a text, or a list of texts, as TOML; a text in quotes is the same there as in JSON."""
    if isinstance(value, str):
        return encode_json(value).decode()
    return f"[{', '.join(map(_in_toml, value))}]"


def _add(path: Path, entry: str) -> None:
    """Append the entry, whole or not at all; whatever the user has written there stays as it is."""
    old = read_file(path) if path.exists() else b""
    before = HEAD if not old else "" if old.endswith(b"\n") else "\n"
    new = f"{before}\n{entry}".encode()
    with open_append(path) as descriptor:
        # Half an entry would make the list unreadable, and with it every bot of the folder.
        append_atomic(descriptor, new)
