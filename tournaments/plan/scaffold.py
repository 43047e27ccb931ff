"""A new bot from a template: a folder with its source, a README and its bot.toml."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena.rules.load import load_toml
from arena.sealed.module import INTERPRETED, MODULE, sealed_build
from protocol.codec import encode_json
from protocol.errors import UserError, unknown_name
from tournaments.plan.bots import BOT_FILE, missing_tools, sample_bots, sample_folder

NAME_PLACEHOLDER = "my-bot"
"""Placeholder in the templates for the name of the bot."""
MAX_BOT_NAME_LENGTH = 32
"""Most characters of a name: a tournament may add some."""
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_-]{{0,{MAX_BOT_NAME_LENGTH - 1}}}")


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of languages.toml."""

    title: str
    file: str
    run: tuple[str, ...]
    """As in bot.toml."""
    build: tuple[str, ...] = ()
    """As in bot.toml."""
    needs: str = ""
    """As in bot.toml."""
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


def make_bot(word: str, name: str, folder: Path, *, sealed: bool = False) -> MadeBot:
    """Make a bot in a folder of its name in this folder, whole or not at all. Raises UserError."""
    if (key := language_key(word)) is None:
        raise unknown_name("language", word, languages())
    language = languages()[key]
    missing = missing_programs(language)
    if sealed:
        language, missing = sealed_language(key, language)
    files, home = _files(key, language, name), folder / name
    _check(name)
    try:
        with TemporaryDirectory(prefix=".new-", dir=folder) as place:
            draft = Path(place, name)
            draft.mkdir()
            for file, content in files.items():
                (draft / file).write_bytes(content)
            draft.rename(home)
    except OSError as error:
        if os.path.lexists(home):
            raise UserError(f"{home} already exists and is not overwritten.") from None
        path = error.filename or home
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error
    return MadeBot(tuple(home / file for file in files), missing)


def sealed_language(key: str, language: Language) -> tuple[Language, str]:
    """Return a language as it builds sealed bots, and what is missing for it. Raises UserError."""
    if key in INTERPRETED:
        return language, ""
    build, missing = sealed_build(key, language.file)
    return replace(language, needs="", build=build, run=(MODULE,)), missing


def _templates() -> Path:
    return sample_folder() / "templates"


def language_key(word: str) -> str | None:
    """Return the key of the language that has this name, or None."""
    pairs = ((key, (key, *language.also)) for key, language in languages().items())
    return next((key for key, names in pairs if word.lower() in names), None)


def _check(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise UserError(
            f"A bot's name has 1 to {MAX_BOT_NAME_LENGTH} letters a to z, digits, _ and -, and no "
            f"- in front: not {name!r}."
        )
    if name in sample_bots():
        raise UserError(f"There is a bot {name} already: see `boneyard help bots`.")


AUTHOR = '# author = "Your name"\n'
"""The last line of a new bot.toml: a league shows names of people."""


def _files(key: str, language: Language, name: str) -> dict[str, bytes]:
    """Return the files of a bot's folder with their content; the first is the bot's source."""
    source = (_templates() / key / language.file).read_text(encoding="utf-8")
    readme = (_templates() / "README.md").read_text(encoding="utf-8")
    built = "It is built before each event." if language.build else "Nothing has to be built."
    for word, phrase in {"LANGUAGE": language.title, "FILE": language.file, "BUILT": built}.items():
        readme = readme.replace(word, phrase)
    words = {"needs": language.needs, "build": language.build, "run": language.run}
    entry = "".join(f"{field} = {_in_toml(value)}\n" for field, value in words.items() if value)
    texts = {language.file: source, "README.md": readme, BOT_FILE: entry + AUTHOR}
    return {file: text.replace(NAME_PLACEHOLDER, name).encode() for file, text in texts.items()}


def _in_toml(value: str | Sequence[str]) -> str:
    """Return a text, or a list of texts, as TOML; a text in quotes is the same there as in JSON."""
    if isinstance(value, str):
        return encode_json(value).decode()
    return f"[{', '.join(map(_in_toml, value))}]"
