"""Bots as users name them: found by name, built, fingerprinted, their files checked."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from itertools import chain, count, islice
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from shutil import which
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from msgspec import UNSET, Meta, Struct
from msgspec.structs import replace

import arena
import protocol
from arena.analysis.find import EVENT_FILE, RUNS
from arena.files import describe_error
from arena.rules.load import load_toml
from arena.sandbox.command import (
    BYTECODE_FOLDER,
    Command,
    Territory,
    as_named,
    foreign_interpreter,
    is_file,
    is_folder,
    is_within,
    linked_paths,
    named_paths,
    outward_below,
    outward_on,
    pipes_below,
    program_paths,
    real_path,
    resolve_links,
)
from arena.sealed.module import (
    JAVASCRIPT,
    SEALED_LANGUAGES,
    installed_interpreter,
    interpreter_name,
    is_interpreted,
    is_module,
    sealed_argv,
)
from protocol.errors import UserError, suggestion, unknown_name
from tournaments.formats.base import Entrant, plain_name, version_number
from tournaments.formats.entrant import split_clock
from tournaments.plan.event import (
    ENTRANT,
    EVENT_SUFFIX,
    CommandWord,
    EntrantName,
    Event,
    IgnoredFiles,
    Title,
    WrittenBot,
)

# Names of bots and files, which become files of an event on whatever system.


LONGEST_SLUG = 32
"""Characters of a name made from a file's: a number or version may follow."""
_CYRILLIC = "а a б b в v г g д d е e ж zh з z и i к k л l м m н n о o п p р r с s т t у u ф f х kh"
_CYRILLIC += " ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya ђ dj ј j љ lj њ nj ћ c џ dz є ye і i"
_GREEK = "α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f"
_GREEK += " χ ch ψ ps ω o"
_LATIN = "ß ss æ ae œ oe ø o ł l đ d ð d þ th ħ h ı i ŋ ng"
_WORDS = f"{_CYRILLIC} {_GREEK} {_LATIN}".split()
LETTERS = {letter: text.strip("-") for letter, text in zip(_WORDS[::2], _WORDS[1::2], strict=True)}
"""Letters that do not decompose into one of a to z and its accents, with their usual spelling."""


def slug(name: str) -> str:
    """Return a name in characters that entrants and folders may have; `bot` if none has any.

    Accents go, Greek and Cyrillic are spelt in Latin letters, letters of other scripts become their
    numbers: 日本 is u65e5u672c, so that two names stay two.
    """
    text = "".join(map(_spell, unicodedata.normalize("NFKD", name)))
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "-" for c in text)
    plain = plain.lstrip("-")[:LONGEST_SLUG]
    return plain if plain.strip("_-") else "bot"


def _spell(char: str) -> str:
    if char.isascii():
        return char
    if unicodedata.combining(char):
        return ""
    if (text := LETTERS.get(char.lower())) is not None:
        return text.capitalize() if char != char.lower() else text
    return f"u{ord(char):x}" if char.isalnum() else "-"


def unique_name(name: str, used_names: Iterable[str]) -> str:
    """Return the name, with a number appended if another bot has it in any case."""
    names = {other.casefold() for other in used_names}
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free.casefold() not in names)


def file_title(entrant: Entrant) -> str:
    """Return the name of an entrant's file or folder if the entrant is called by a respelling."""
    command = entrant.command
    for path in map(Path, (*command.argv, command.folder)):
        if not path.name.isascii() and entrant.name.startswith(slug(path.stem)):
            return unicodedata.normalize("NFC", path.name)
    return ""


# The files in a bot's folder that no program reads: they make no new version of it.
#
# A league's copy of a bot has none of them, so no bot there plays by a file that its fingerprint
# leaves out. On one's own machine they stay visible: who reads one deceives nobody but themselves.


LEFTOVER_NAMES = frozenset((
    ".git", ".gitignore", ".gitattributes", ".hg", ".svn", ".idea", ".vs", ".vscode",
    ".editorconfig", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".DS_Store", ".directory", "Thumbs.db", "desktop.ini",
))  # fmt: skip
"""Names that version control, editors, desktops and Python leave behind."""
BEGINNINGS = (".#", "#", "._", ".nfs")
ENDINGS = ("~", ".swp", ".swo", ".bak", ".orig")
TEXTS = frozenset(
    f"{name}{ending}"
    for name in ("readme", "license", "licence", "copying")
    for ending in ("", ".md", ".rst", ".txt")
)
"""Names of texts for people, in small letters."""


def is_ignored(name: str) -> bool:
    """Tell whether a name is one that no program reads, wherever the file or folder is."""
    is_leftover = name in LEFTOVER_NAMES or name.startswith(BEGINNINGS) or name.endswith(ENDINGS)
    return is_leftover or name.lower() in TEXTS


def is_left_out(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path in a bot's folder, or a folder on it, is ignored or matches a pattern.

    A pattern is that of a name, as `*.log`, or of a path, as `notes/*.txt`.
    """
    parts = path.split("/")
    paths = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(map(is_ignored, parts)) or any(
        fnmatchcase(text, pattern.strip("/")) for pattern in patterns for text in (*parts, *paths)
    )


# Checks of a bot's files: they must not open more to the bot than the organiser named.


LINKS = 3
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
    open_paths = [real_path(path) for path in ([folder] if bot.folder else []) + reads]
    words = [folder / word for word in bot.run[1:] if any(named_paths([word], folder))]
    territory = Territory(
        own=(*filter(is_folder, (*open_paths, build)),),
        base=base.resolve(),
        named=(*map(as_named, reads), *(as_named(path) for path in words if is_file(path))),
    )
    programs = list(_own_program(bot, folder, territory))
    paths = programs + words + reads
    links = chain(
        chain.from_iterable(outward_on(path, territory) for path in paths),
        chain.from_iterable(outward_below(path, territory) for path in open_paths),
    )
    _refuse_links(bot.name, list(islice(dict.fromkeys(links), LINKS)), "in `reads` or the command")
    for program in programs:
        if interpreter := foreign_interpreter(program, territory):
            raise UserError(
                f"Bot {bot.name}: the first line of {program} asks for a program outside its "
                f"files: {interpreter}. Name that in `reads` or in the command."
            )
    for pipe in chain.from_iterable(map(pipes_below, open_paths)):
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


def _refuse_links(name: str, links: Sequence[Path], place: str) -> None:
    if links:
        text = ", ".join(f"{link} leads to {real_path(link)}" for link in links)
        raise UserError(
            f"Bot {name}: a link leads out of its files: {text}. Remove it, or name its target "
            f"{place}."
        )


# Bots by name, the sample bots and the user's own, and the file bot.toml that describes one.


BOT_FILE = "bot.toml"
"""The name of the file in each bot's folder."""
ELSEWHERE = {
    "network": "Only the organiser opens addresses to a bot, in an event file or league.toml.",
    "environment": "Only the organiser gives a bot variables, in an event file or league.toml.",
    "clock": "Only the organiser gives a bot a clock, in an event file or league.toml.",
    "folder": "A bot has its own folder here and reads all of it. Remove the line.",
    "reads": "A bot has its own folder here and reads all of it. Remove the line.",
    "name": "A bot is called as its folder. Remove the line.",
}
"""Keys of other files that a bot.toml must not have, each with what to do instead."""
VERSION_S = 20
"""Time that a program may take to print its version, in s."""
_NEEDS = re.compile(r"(?P<program>\S+)(?:\s*>=\s*(?P<least>\d+(?:\.\d+)*))?")
_VERSION = re.compile(r"\d+(?:\.\d+)*")


class Practice(Struct, frozen=True, forbid_unknown_fields=True):
    """Games that the author of a push asks a league for, rated for nobody."""

    against: Annotated[tuple[Annotated[str, Meta(max_length=40)], ...], Meta(max_length=4)] = ()
    """The bots to play against; whether they are there is answered to the author alone."""


class BotFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot as its author enters it."""

    run: Annotated[tuple[CommandWord, ...], Meta(min_length=1)]
    """Program and arguments; {python} and {build} are placeholders."""
    build: tuple[CommandWord, ...] = ()
    """A command that builds the bot first, in its folder; a league runs it in the sandbox."""
    ignore: IgnoredFiles = ()
    """Files and folders that the bot does not read, as `*.log`: no change of them is a version."""
    needs: str = ""
    """A program that must be on the PATH, perhaps at least of some version: `node >= 22.6`."""
    about: Annotated[
        str,
        Meta(
            pattern=r"^[^\x00-\x1f\x7f]{0,200}(?!\n)$",
            description="up to 200 characters in one line",
        ),
    ] = ""
    author: Title = ""
    divisions: tuple[EntrantName, ...] = ()
    """The divisions of a league that it enters; none: all."""
    withdrawn: bool = False
    """True if the bot plays no more in a league."""
    practice: Practice = Practice()

    @property
    def lacks(self) -> str:
        """Reason why this machine cannot run the bot, as the end of a sentence; empty if it can."""
        return missing_tools(self.needs)

    @property
    def available(self) -> bool:
        """True if this machine has everything that the bot needs."""
        return not self.lacks

    @property
    def reads(self) -> tuple[CommandWord, ...]:
        """Files and folders that are built for it and that its command names after the program."""
        return tuple(word for word in self.run[1:] if word.startswith("{build}/"))


def load_bot_file(path: Path) -> BotFile:
    """Read the bot.toml of a bot of the user's own. Raises UserError."""
    return load_toml(path, BotFile, without_others_fields)


def without_others_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a bot.toml; refuse those of event files. Raises UserError."""
    for name in fields:
        if name in ELSEWHERE:
            raise UserError(f"Unknown field {name}: {ELSEWHERE[name]}")
    return fields


def missing_tools(needs: str) -> str:
    """Return why this machine lacks a program, as the end of a sentence; empty if it has it.

    Raises UserError for a need that cannot be read.
    """
    need = _NEEDS.fullmatch(needs)
    if not needs:
        return ""
    if not need:
        raise UserError(f"needs takes a program, or one like node >= 22.6, not {needs!r}.")
    program, least = need["program"], need["least"]
    if shutil.which(program) is None:
        return "which is not on the PATH"
    version = _version(program) if least else ""
    return f"and here is {version or 'another'}" if _number(version) < _number(least or "") else ""


def _version(program: str) -> str:
    """Return the first words in the program's output that look like a version; empty if none do."""
    words = (program, "--version")
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=VERSION_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = _VERSION.search(done.stdout)
    return match[0] if match else ""


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part)


LIST = "bots.toml"
"""Name of the file that lists the sample bots."""


class CatalogBot(NamedTuple):
    """A bot that has a name here."""

    bot: BotFile
    home: Path
    """The folder where its relative paths start."""
    folder: str | None = None
    """A folder of its own in `home`; None for a sample bot."""


def sample_folder() -> Path:
    """Return the folder of the sample bots, in a checkout or in an installed wheel."""
    return Path(str(resources.files("sample_bots"))).resolve()


@cache  # A run asks six times, and each reading takes 2 ms.
def sample_bots() -> Mapping[str, BotFile]:
    """Return every sample bot by name."""
    return load_toml(sample_folder() / LIST, dict[EntrantName, BotFile])


def own_bots(folder: Path) -> dict[str, BotFile]:
    """Return the bots in the folders of this folder, by folder name; leave out broken ones.

    Raises UserError for one with a sample bot's name: an event would not say which of the two bots
    it means.
    """
    bots: dict[str, BotFile] = {}
    for path in sorted(folder.glob(f"*/{BOT_FILE}")):
        name = path.parent.name
        if name in sample_bots():
            raise UserError(f"{path}: {name} is the name of a sample bot. Rename the folder.")
        if re.fullmatch(ENTRANT, name):
            with suppress(UserError):
                bots[name] = load_bot_file(path)
    return bots


def all_bots(folder: Path) -> dict[str, CatalogBot]:
    """Return the sample bots and the folder's own bots, by name. Raises UserError."""
    samples = {name: CatalogBot(bot, sample_folder()) for name, bot in sample_bots().items()}
    home, bots = folder.resolve(), own_bots(folder)
    return {**samples, **{name: CatalogBot(bot, home, name) for name, bot in bots.items()}}


def own_bot(event: Event) -> str | None:
    """Return the user's only bot in an event; None if there is none, or several.

    The user's bots are those in folders here, or all that are no samples. A version (`mine@2`)
    counts as its bot.
    """
    names = [entrant.name for entrant in event.entrants if not entrant.retired]
    own_names = [name for name in names if plain_name(name) not in sample_bots()]
    folder_bots = own_bots(Path())
    own_names = [name for name in own_names if plain_name(name) in folder_bots] or own_names
    return own_names[0] if len(own_names) == 1 else None


# The files of each version that played in runs/, so that it can play again.


VERSIONS = Path(RUNS, "versions")
"""Folder with a folder for each fingerprint, which has one for the version, as `mine-v2`."""
MOST_KEPT_VERSIONS = 20
"""Versions of a bot that are kept; the oldest go."""
MOST_FILES = 500
LARGEST_VERSION = 1 << 23
"""The most bytes of a version that is kept: sources have less, what is built or learnt more."""
_VERSION_WORD = re.compile(r"(?P<name>[A-Za-z0-9_][A-Za-z0-9_-]*)@(?P<number>[1-9]\d{0,5})")


def _versions(name: str) -> dict[int, Path]:
    """Return the file or folder of each version of a bot that is kept, by ascending number."""
    paths = filter(_is_version, VERSIONS.glob(f"*[0-9a-f]/{name}-v*"))
    numbers = {path.name.removeprefix(f"{name}-v"): path for path in paths}
    kept = sorted((int(number), path) for number, path in numbers.items() if number.isdecimal())
    return {number: _kept_source(path) for number, path in kept}


def _is_version(path: Path) -> bool:
    """Tell whether a path is a folder of files, as we make them: others may have written there."""
    return path.is_dir() and not path.is_symlink() and any(path.iterdir())


def _kept_source(path: Path) -> Path:
    """Return what plays in the folder of a version: the folder, or the only file in it."""
    return path if is_file(path / BOT_FILE) else next(path.iterdir(), path)


def _kept_version(name: str, number: int) -> WrittenBot:
    """Return a version of a bot: 1 is the first that played in runs/. Raises UserError."""
    versions = _versions(name)
    if number not in versions:
        known = ", ".join(f"{name}@{kept_number}" for kept_number in versions) or "no version"
        raise UserError(f"{VERSIONS} has not the files of {name}@{number}, but of: {known}.")
    return replace(_understood(f"{versions[number]}"), name=f"{name}-v{number}")


def version_before(word: str) -> str:
    """Return the last version, as `mine@2`, whose files differ from what a bot's are now.

    Raises UserError if there is none.
    """
    (bot,) = parse_bots((word,))
    entry, home = resolve_command(bot, Path.cwd())
    source = home / (entry.folder or entry.run[-1])
    files = [*_content_below(source, entry.ignore)] if source.exists() else []
    for number, path in reversed(_versions(bot.name).items()):
        if files != [*_content_below(path, entry.ignore)]:
            return f"{bot.name}@{number}"
    raise UserError(
        f"No version of {bot.name} with other files has played here: change them, or let one play "
        f"first (boneyard run {word} greedy)."
    )


def keeps_versions(event: Path) -> bool:
    """Tell whether the versions that play in an event's folder are kept: those in runs/."""
    return event.parent == Path(os.path.realpath(RUNS))


def kept_number(entrant: Entrant) -> int:
    """Return the number of a version among those kept, or that it will have; 0 if none is kept."""
    versions, home = _versions(plain_name(entrant.name)), VERSIONS / entrant.fingerprint
    mine = (number for number, path in versions.items() if path.is_relative_to(home))
    return next(mine, max(versions, default=-1) + 1)


def keep_version(entrant: Entrant) -> str:
    """Copy the files of a bot that is one file or folder to `VERSIONS`; return a note, or nothing.

    Sample bots and versions that are kept already are left out. Raises OSError.
    """
    home, source = VERSIONS / entrant.fingerprint, _source(entrant.command)
    if source is None or home.exists():
        return ""
    base = source if source.is_dir() else source.parent
    ignore = load_bot_file(source / BOT_FILE).ignore if base == source else ()
    # A folder may have any number of files, and we look at no more than that.
    paths = [*islice(_paths_below(source, ignore), MOST_FILES)] if base == source else [source]
    if len(paths) == MOST_FILES or sum(path.lstat().st_size for path in paths) > LARGEST_VERSION:
        most = f"{MOST_FILES} files or {LARGEST_VERSION >> 20} MB"
        return f"The files of {entrant.name} are not kept for later: they are more than {most}."
    name = plain_name(entrant.name)
    versions = _versions(name)
    number = max(versions, default=0) + 1
    VERSIONS.mkdir(parents=True, exist_ok=True)
    # A kill leaves the copy under a name that is no fingerprint, where nobody looks for a version.
    with TemporaryDirectory(prefix=".partial-", dir=VERSIONS, ignore_cleanup_errors=True) as place:
        partial = Path(place, "version")
        for path in paths:
            copy = partial / f"{name}-v{number}" / path.relative_to(base)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if path.is_symlink() or path.is_file():
                shutil.copy2(path, copy, follow_symlinks=False)
        try:
            partial.rename(home)
        except OSError:
            if home.is_dir():
                return ""  # Another run has kept it meanwhile.
            raise
    for path in [*versions.values()][: 1 - MOST_KEPT_VERSIONS]:
        shutil.rmtree(VERSIONS / path.relative_to(VERSIONS).parts[0])
    same = number == version_number(entrant.name)
    return "" if same else f"The files of {entrant.name} are kept as {name}@{number}."


def _source(command: Command) -> Path | None:
    """Return the file or folder that is all of a bot; None for other bots, and for our own."""
    if is_interpreted(command.argv):
        return None  # Outside the seal it would be another bot.
    folder, file = Path(command.folder), Path(command.argv[-1])
    is_bot = command.folder in command.own and is_file(folder / BOT_FILE)
    # With arguments it would play again as another.
    is_bot = is_bot and len(command.argv) == len(load_bot_file(folder / BOT_FILE).run)
    is_file_alone = file.is_absolute() and command.own in ((f"{file}",), ())
    source = folder if is_bot else file
    if any(source.is_relative_to(path.resolve()) for path in (sample_folder(), VERSIONS)):
        return None
    return source if is_bot or (is_file_alone and command.own == command.argv[1:]) else None


# Turn a bot as its user writes it into an entrant: find, build and fingerprint its command.


PYTHON_PLACEHOLDER = "{python}"
"""Placeholder for the interpreter that runs us."""
PLACEHOLDERS = (PYTHON_PLACEHOLDER, "{build}")
"""Placeholders in commands: the interpreter that runs us, and the folder for what is built."""
TYPO_SIMILARITY = 0.75
"""Similarity from which a word in braces counts as a mistyped placeholder."""
_IN_BRACES = re.compile(r"\{\w+\}")
SEARCHED_FILES = 1000
"""Files of a folder among which a suggestion for a mistyped name is sought."""
BUILD_S = 300
"""Time that a build command may take, in s."""
INTERPRETERS = {
    ".py": (sys.executable,),
    ".js": ("node",),
    ".mjs": ("node",),
    ".sh": ("sh",),
    ".rb": ("ruby",),
    ".pl": ("perl",),
    ".lua": ("lua",),
}


SEALED_MARK = "@sealed"
"""The end of a word on the command line whose bot is sealed."""
COMMON_NAMES = frozenset(["agent", "bot", "main", "player"])
"""Names of files that suit every bot, which is then called as its folder."""


def parse_bots(words: Sequence[str]) -> tuple[WrittenBot, ...]:
    """Read bots from the command line: each word is a listed bot, a file, the folder of a
    bot.toml, or a command.

    Arguments may follow a listed bot's name: `"montecarlo --worlds 25"`; a clock of its own may
    follow any of them: `mine@200ms`. Raises UserError.
    """
    bots: list[WrittenBot] = []
    for word in words:
        bot = _understood(word)
        names = {other.name for other in bots if other.clock == bot.clock}
        folder = Path(bot.run[-1]).parent.name if bot.run and not bot.folder else ""
        # Two files of one name differ by their folders: a number would not say which is which.
        name = slug(folder) if bot.name in names and folder else bot.name
        bots.append(replace(bot, name=unique_name(name, names)))
    return tuple(bots)


def _understood(word: str) -> WrittenBot:
    catalog = all_bots(Path.cwd())
    path = Path(word)
    if (version := _VERSION_WORD.fullmatch(word)) and not is_file(path):
        return _kept_version(version["name"], int(version["number"]))
    if word.endswith(SEALED_MARK) and word not in catalog and not is_file(path):
        return replace(_understood(word.removesuffix(SEALED_MARK)), sealed=True)
    bot, clock = split_clock(word)
    if clock and word not in catalog and not is_file(path):
        if split_clock(bot)[1]:
            raise UserError(f"{word} has two clocks. Give it one, as in {bot}.")
        return replace(_understood(bot), clock=clock)
    if word not in catalog and is_file(path):
        name = (path.stem in COMMON_NAMES and path.parent.name) or path.stem
        return WrittenBot(slug(name), (*_interpreter(path), str(path.resolve())))
    if word not in catalog and is_file(path / BOT_FILE):
        home, file = path.resolve(), load_bot_file(path / BOT_FILE)
        entry = WrittenBot(slug(home.name), file.run, file.build, str(home), file.reads)
        return replace(entry, ignore=file.ignore)
    try:
        argv = shlex.split(word)
    except ValueError as error:
        raise UserError(f"The command {word!r} cannot be read: {error}.") from error
    if argv and argv[0] in catalog:
        return WrittenBot(argv[0], bot=argv[0], arguments=tuple(argv[1:]))
    if len(argv) > 1 and (argv[0] == PYTHON_PLACEHOLDER or shutil.which(argv[0])):
        scripts = [Path(part) for part in argv[1:] if is_file(Path(part))]
        return WrittenBot(slug((scripts or [Path(argv[0])])[0].stem), tuple(argv))
    if argv and is_file(program := Path(argv[0])):
        first = (*_interpreter(program), str(program.resolve()))
        return WrittenBot(slug(program.stem), (*first, *argv[1:]))
    raise _no_bot(word, argv, catalog)


def _no_bot(word: str, argv: Sequence[str], names: Iterable[str]) -> UserError:
    """Return the error for a word that is neither a listed bot nor a file nor a command."""
    path = Path(word)
    if is_file(path / EVENT_FILE):
        return UserError(
            f"{word} is an event's folder, not a bot: `boneyard show {word}` shows it."
        )
    if word and is_folder(path):
        return UserError(
            f"{word} is a folder: name the program in it, or write {BOT_FILE} there with a line "
            'such as: run = ["{python}", "main.py"]'
        )
    if len(argv) > 1:
        return UserError(f"There is no program {argv[0]!r} to run {word!r} with.")
    near = islice(path.parent.glob("*"), SEARCHED_FILES) if is_folder(path.parent) else ()
    candidates = [*names, *sorted(f"{file}" for file in near if is_file(file) and _runs(file))]
    if path.name != word or path.suffix:
        return UserError(f"There is no file {word}: {suggestion(word, candidates)}")
    return unknown_name("bot", word, candidates)


def _runs(path: Path) -> bool:
    return path.suffix in INTERPRETERS or is_module((path.name,)) or os.access(path, os.X_OK)


def _interpreter(path: Path) -> tuple[str, ...]:
    if _runs(path):
        return INTERPRETERS.get(path.suffix, ())
    if path.suffix == EVENT_SUFFIX:
        raise UserError(f"{path} is an event file, not a bot: give it alone.")
    raise UserError(
        f"Cannot tell the language of {path}. Add a suffix such as .py, or make it executable and "
        "begin it with #!."
    )


def prepare_entrant(bot: WrittenBot, base: Path, build: Path) -> Entrant:
    """Find, build and fingerprint a bot; return the entrant that plays.

    The bot may read its program's installation, the files that its command names, and what the
    event file adds; the fingerprint covers all of these but the installation. Raises UserError.
    """
    entry, base = resolve_command(bot, base)
    try:
        check_places((*entry.run, *entry.build, *entry.reads))
    except UserError as error:
        raise UserError(f"Bot {entry.name}: {error}") from None
    check_folder(entry, base)
    folder = (base / (entry.folder or ".")).resolve()
    if entry.build:
        _built(entry.name, fill_places(entry.build, build), folder, build)
    bot = replace(
        entry,
        run=fill_places(entry.run, build),
        reads=fill_places(entry.reads, build),
        build=(),
    )
    # Only now, because a build can make links too.
    check_files(bot, base, build)
    program = find_program(bot.name, bot.run[0], folder, sealed=bot.sealed)
    is_sealed = bot.sealed or is_module((f"{program}",))
    added = [folder / part for part in bot.reads] + ([folder] if bot.folder else [])
    own_paths = [
        *named_paths(bot.run[1:], folder),
        *(linked_path for path in added for linked_path in linked_paths(path)),
    ]
    installed = [f"{program}"]
    if not is_sealed:
        paths = program_paths(program, None if bot.folder else folder)
        installed = [*paths, *our_packages(program)]
    visible = [f"{part}" for path in own_paths for part in _visible_paths(Path(path), bot.ignore)]
    argv: tuple[str, ...] = (str(program), *bot.run[1:])
    access = (*bot.network, *bot.environment)
    if is_sealed and not is_module(argv):
        argv, installed = _sealed_command(bot.name, argv, folder, visible), []
        access = (*access, f"sealed by {interpreter_name(argv[0])}")
    command = Command(
        *(argv, str(folder), tuple(dict.fromkeys((*installed, *visible)))),
        *(tuple(dict.fromkeys(own_paths)), bot.network, bot.environment),
    )
    try:
        digest = fingerprint(entry.run, bot.run, folder, own_paths, access, bot.ignore)
        return Entrant(bot.name, command, digest, clock=bot.clock or UNSET)
    except OSError as error:
        text = f"{error.filename} cannot be read: {error.strerror}"
        raise UserError(f"Bot {bot.name}: {text}.") from error


def _sealed_command(
    name: str, argv: Sequence[str], folder: Path, reads: Sequence[str]
) -> tuple[str, ...]:
    """Return a bot's command inside the seal; prepare its interpreter. Raises UserError."""
    try:
        words = sealed_argv(argv, folder, reads)
    except UserError as error:
        raise UserError(f"Bot {name} cannot be sealed: {error}") from None
    installed_interpreter(words[0])
    return words


def prepare_word(word: str, build: Path) -> Entrant:
    """Find, build and fingerprint a bot from the command line: see `parse_bots`.

    Raises UserError.
    """
    (bot,) = parse_bots((word,))
    return prepare_entrant(bot, Path.cwd(), build)


def find_program(name: str, word: str, folder: Path, *, sealed: bool = False) -> Path:
    """Return the program's file; a shim of pyenv or rustup is asked for the program it starts.

    `sealed`: for a bot inside the seal, where no machine needs Node. Raises UserError.
    """
    if sealed and JAVASCRIPT.programs.fullmatch(word):
        return Path(word)
    local = folder / word
    if is_file(local) and is_module((word,)):
        return resolve_links(local)
    if is_file(local) and not os.access(local, os.X_OK):
        raise UserError(
            f"Bot {name}: {word} is not executable. Make it so (chmod +x), or name its interpreter "
            f'first, as in ["{PYTHON_PLACEHOLDER}", "main.py"].'
        )
    program_path = local if is_file(local) else shutil.which(word)
    if program_path is None:
        raise UserError(f"Bot {name}: there is no program {word!r}.")
    program = resolve_links(Path(program_path))
    # Ask only a shim on the PATH: a bot's own file of that name would run outside any sandbox.
    if shutil.which(program.name) == str(program) and (question := _question_to_shim(program)):
        done = subprocess.run(
            question, capture_output=True, text=True, timeout=BUILD_S, check=False
        )
        program = Path(done.stdout.strip() or program)
    return program


def _question_to_shim(program: Path) -> tuple[str, ...]:
    """Return the command by which a shim tells which program it starts; nothing for others."""
    if program.parent.name == "shims" and program.name.startswith("python"):
        return (str(program), "-c", "import sys; print(sys.executable)")
    rustup = program.with_name("rustup")
    if is_file(rustup) and program.samefile(rustup):
        return (str(rustup), "which", program.name)
    return ()


def our_packages(program: Path) -> Iterator[str]:
    """Yield the files of ours that a Python bot may import; none of them is secret.

    In a checkout they lie beside the Python that runs us, whatever name a command gives it, and
    other virtual environments may have installed us from there too.
    """
    if real_path(program).name.startswith("python"):
        for package in (arena, protocol):
            yield from linked_paths(Path(package.__path__[0]))


def shell_word(entrant: Entrant) -> str:
    """Return the shell word for an entrant: its name here, its file or command."""
    name, command = plain_name(entrant.name), entrant.command
    mark = SEALED_MARK if is_interpreted(command.argv) else ""
    if _names_program(name, command):
        return name + mark
    folder = Path(command.folder)
    words = [f"{folder / word}" if is_file(folder / word) else word for word in command.argv]
    if mark:
        return shlex.quote(shlex.join(words[1:]) + mark)
    (interpreter,) = INTERPRETERS.get(Path(words[-1]).suffix, ("",))
    path = shutil.which(interpreter)
    if len(words) == 2 and path and words[0] == f"{resolve_links(Path(path))}":
        words = words[1:]
    return shlex.quote(words[0] if len(words) == 1 else shlex.join(words))


def _names_program(name: str, command: Command) -> bool:
    """Tell whether the lists here give this name to this very program, not to another one."""
    try:
        entry = all_bots(Path.cwd()).get(name)
    except UserError:
        return False
    if entry is None:
        return False
    home = (entry.home / (entry.folder or ".")).resolve()
    words = entry.bot.run[1:]
    if is_interpreted(command.argv):
        harmless = SEALED_LANGUAGES[command.argv[0]].harmless
        words = tuple(word for word in words if word not in harmless)
    return home == Path(command.folder) and words == command.argv[1:]


def resolve_command(entry: WrittenBot, base: Path) -> tuple[WrittenBot, Path]:
    """Return a listed bot's entry written out, and the folder where its paths start.

    Raises UserError if no list has the bot, or this machine lacks a program that it needs.
    """
    if entry.run and entry.bot:
        raise UserError(f"Bot {entry.name} has both bot and run: one of them says what it is.")
    if entry.run and entry.arguments:
        raise UserError(f"Bot {entry.name} has run and arguments: write all its words into run.")
    if entry.run:
        return entry, base
    name, bots = entry.bot or entry.name, all_bots(base)
    if name not in bots:
        if is_file(broken := base / name / BOT_FILE):
            load_bot_file(broken)
        raise unknown_name("bot", name, bots)
    bot, home, folder = bots[name]
    if bot.lacks and not (entry.sealed and JAVASCRIPT.programs.fullmatch(bot.run[0])):
        raise UserError(f"Bot {name} needs {bot.needs}, {bot.lacks}.")
    run = (*bot.run, *entry.arguments)
    ignore = entry.ignore or bot.ignore
    full_entry = replace(
        entry, run=run, build=bot.build, folder=folder, reads=bot.reads, ignore=ignore
    )
    return replace(full_entry, bot=None, arguments=()), home


def check_places(words: Iterable[str]) -> None:
    """Refuse a mistyped {build}; any other word in braces is the bot's own, as in awk '{print}'.

    Raises UserError.
    """
    for part in words:
        for word in _IN_BRACES.findall(part):
            near = get_close_matches(word.lower(), PLACEHOLDERS, n=1, cutoff=TYPO_SIMILARITY)
            if near and word not in PLACEHOLDERS:
                raise UserError(f"unknown placeholder {word!r}: did you mean {near[0]}?")


def fill_places(argv: Sequence[str], build: Path) -> tuple[str, ...]:
    """Return words with their placeholders filled in."""
    places = dict(zip(PLACEHOLDERS, (sys.executable, str(build)), strict=True))
    filled = tuple(argv)
    for place, value in places.items():
        filled = tuple(part.replace(place, value) for part in filled)
    return filled


def _built(name: str, argv: Sequence[str], folder: Path, build: Path) -> None:
    build.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(argv, cwd=folder, capture_output=True, timeout=BUILD_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = describe_error(error)
        # With a folder on the PATH that we may not enter, a program that is missing is "denied".
        if isinstance(error, FileNotFoundError) or (not _is_path(argv[0]) and not which(argv[0])):
            why = f"there is no program {argv[0]!r}"
        raise UserError(f"Bot {name} cannot be built: {why}.") from error
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip()
        raise UserError(f"Bot {name} cannot be built:\n{output}")


def fingerprint(
    words: Sequence[str],
    argv: Sequence[str],
    folder: Path,
    own_paths: Iterable[str],
    access: Iterable[str] = (),
    ignore: Sequence[str] = (),
) -> str:
    """Return the SHA-256 of a command's words, as written, of the bot's own files, and of the
    addresses and the names of variables that are opened to it.

    The build folder is left out: another event builds the same bot in another place.
    """
    digest = hashlib.sha256()
    # A program on the PATH, or the interpreter that runs us, belongs to the machine, not the bot.
    borrowed = not _is_path(argv[0]) or argv[0] == sys.executable
    first = 1 if borrowed and len(argv) > 1 else 0
    for word, part in zip(words[first:], argv[first:], strict=True):
        path = Path(folder, part)
        content = path.read_bytes() if is_file(path) else word.encode()
        digest.update(hashlib.sha256(content).digest())
    for path in map(Path, own_paths):
        for name, content in _content_below(path, ignore):
            digest.update(hashlib.sha256(os.fsencode(name)).digest())
            digest.update(hashlib.sha256(content).digest())
    for word in access:
        digest.update(hashlib.sha256(f"access {word}".encode()).digest())
    return digest.hexdigest()


def _is_path(word: str) -> bool:
    return PurePath(word).name != word


def pure_path(word: str) -> PurePath:
    """Return a path of any system: a report of Windows says the same on Linux."""
    windows = PureWindowsPath(word)
    return windows if windows.is_absolute() else PurePosixPath(word)


def _content_below(path: Path, ignore: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of all that a bot reads in a file or folder, in a fixed order.

    The name of an empty folder and the target of a link can tell a bot something too.
    """
    if path.is_file():
        yield path.name, path.read_bytes()
        return
    for part in sorted(_paths_below(path, ignore)):
        name = f"{part.relative_to(path)}"
        if part.is_symlink():
            yield name, os.fsencode(part.readlink())
        else:
            yield name, part.read_bytes() if part.is_file() else b""


def _visible_paths(path: Path, ignore: Sequence[str], prefix: str = "") -> list[Path]:
    """Return what the sandbox opens of a path: the parts that are not ignored, if any part is.

    Otherwise a bot could find there what no fingerprint covers. `prefix`: the path of its folder in
    the whole one, with a slash.
    """
    if path.is_symlink() or not path.is_dir():
        return [path]
    visible: list[Path] = []
    is_whole = True
    for part in sorted(path.iterdir()):
        name = f"{prefix}{part.name}"
        if part.name == BYTECODE_FOLDER and part.is_dir() and not part.is_symlink():
            continue  # The sandbox hides it, whenever it is made.
        if name != BOT_FILE and is_left_out(name, ignore):
            is_whole = False
            continue
        parts = _visible_paths(part, ignore, f"{name}/")
        is_whole = is_whole and parts == [part]
        visible += parts
    return [path] if is_whole else visible


def files_below(paths: Iterable[str]) -> Iterator[Path]:
    """Yield every file among and below the paths, in a fixed order; see `_paths_below`."""
    for path in map(Path, paths):
        if path.is_file():
            yield path
        else:
            yield from sorted(file for file in _paths_below(path) if file.is_file())


def _paths_below(folder: Path, ignore: Sequence[str] = ()) -> Iterator[Path]:
    """Yield everything below a folder that a program may read; see `is_left_out`."""
    for path in folder.rglob("*"):
        name = f"{path.relative_to(folder)}"
        if name == BOT_FILE or not is_left_out(name, ignore):
            yield path
