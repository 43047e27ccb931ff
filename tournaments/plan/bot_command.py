"""Turn a bot as its user writes it into an entrant: find, build and fingerprint its command."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from shutil import which

from msgspec import UNSET
from msgspec.structs import replace

import arena
import protocol
from arena.analysis.find import EVENT
from arena.files import describe_error
from arena.sandbox.command import COMPILED, Command
from arena.sandbox.dependencies import (
    is_file,
    is_folder,
    linked_paths,
    named_paths,
    program_paths,
    real_path,
    resolve_links,
)
from arena.sealed.module import MISSING, is_module, wasmtime_folder
from protocol.errors import UserError, suggestion, unknown_name
from tournaments.formats.base import Entrant, plain_name
from tournaments.formats.own_clock import split_clock
from tournaments.plan.bot_catalog import BOT_FILE, all_bots, load_bot_file
from tournaments.plan.bot_files import check_files, check_folder
from tournaments.plan.event import SUFFIX, WrittenBot
from tournaments.plan.ignored import is_left_out
from tournaments.plan.names import slug, unique_name

PYTHON = "{python}"
"""Placeholder for the interpreter that runs us."""
PLACES = (PYTHON, "{build}")
"""Placeholders in commands: the interpreter that runs us, and the folder for what is built."""
ALIKE = 0.75
"""Similarity from which a word in braces counts as a mistyped placeholder."""
_IN_BRACES = re.compile(r"\{\w+\}")
LOOKED_AT = 1000
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


def parse_bots(words: Sequence[str]) -> tuple[WrittenBot, ...]:
    """Read bots from the command line: each word is a listed bot, a file, the folder of a
    bot.toml, or a command.

    Arguments may follow a listed bot's name: `"montecarlo --worlds 25"`; a clock of its own may
    follow any of them: `mine@200ms`. Raises UserError.
    """
    bots: list[WrittenBot] = []
    for word in words:
        bot = _understood(word)
        taken = {one.name for one in bots if one.clock == bot.clock}
        bots.append(replace(bot, name=unique_name(bot.name, taken)))
    return tuple(bots)


def _understood(word: str) -> WrittenBot:
    listed = all_bots(Path.cwd())
    path = Path(word)
    bot, clock = split_clock(word)
    if clock and word not in listed and not is_file(path):
        if split_clock(bot)[1]:
            raise UserError(f"{word} has two clocks. Give it one, as in {bot}.")
        return replace(_understood(bot), clock=clock)
    if word not in listed and is_file(path):
        return WrittenBot(slug(path.stem), (*_interpreter(path), str(path.resolve())))
    if word not in listed and is_file(path / BOT_FILE):
        home, file = path.resolve(), load_bot_file(path / BOT_FILE)
        written = WrittenBot(slug(home.name), file.run, file.build, str(home), file.reads)
        return replace(written, ignore=file.ignore)
    try:
        argv = shlex.split(word)
    except ValueError as error:
        raise UserError(f"The command {word!r} cannot be read: {error}.") from error
    if argv and argv[0] in listed:
        return WrittenBot(argv[0], bot=argv[0], arguments=tuple(argv[1:]))
    if len(argv) > 1 and (argv[0] == PYTHON or shutil.which(argv[0])):
        scripts = [Path(part) for part in argv[1:] if is_file(Path(part))]
        return WrittenBot(slug((scripts or [Path(argv[0])])[0].stem), tuple(argv))
    if argv and is_file(program := Path(argv[0])):
        first = (*_interpreter(program), str(program.resolve()))
        return WrittenBot(slug(program.stem), (*first, *argv[1:]))
    raise _no_bot(word, argv, listed)


def _no_bot(word: str, argv: Sequence[str], listed: Iterable[str]) -> UserError:
    """Return the error for a word that is neither a listed bot nor a file nor a command."""
    path = Path(word)
    if is_file(path / EVENT):
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
    near = islice(path.parent.glob("*"), LOOKED_AT) if is_folder(path.parent) else ()
    known = [*listed, *sorted(f"{one}" for one in near if is_file(one) and _runs(one))]
    if "/" in word or path.suffix:
        return UserError(f"There is no file {word}: {suggestion(word, known)}")
    return unknown_name("bot", word, known)


def _runs(path: Path) -> bool:
    return path.suffix in INTERPRETERS or is_module((path.name,)) or os.access(path, os.X_OK)


def _interpreter(path: Path) -> tuple[str, ...]:
    if _runs(path):
        return INTERPRETERS.get(path.suffix, ())
    if path.suffix == SUFFIX:
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
    written, base = resolve_command(bot, base)
    try:
        check_places((*written.run, *written.build, *written.reads))
    except UserError as error:
        raise UserError(f"Bot {written.name}: {error}") from None
    check_folder(written, base)
    folder = (base / (written.folder or ".")).resolve()
    if written.build:
        _built(written.name, fill_places(written.build, build), folder, build)
    bot = replace(
        written,
        run=fill_places(written.run, build),
        reads=fill_places(written.reads, build),
        build=(),
    )
    # Only now, because a build can make links too.
    check_files(bot, base, build)
    program = find_program(bot.name, bot.run[0], folder)
    sealed = is_module((f"{program}",))
    if sealed and wasmtime_folder() is None:
        raise UserError(f"Bot {bot.name}: {MISSING}")
    added = [folder / part for part in bot.reads] + ([folder] if bot.folder else [])
    own = [
        *named_paths(bot.run[1:], folder),
        *(one for path in added for one in linked_paths(path)),
    ]
    installed = [f"{program}"] if sealed else program_paths(program, None if bot.folder else folder)
    visible = [f"{part}" for path in own for part in _visible_paths(Path(path), bot.ignore)]
    readable = dict.fromkeys((*installed, *our_packages(program), *visible))
    argv = str(program), *bot.run[1:]
    command = Command(
        *(argv, str(folder), tuple(readable), tuple(dict.fromkeys(own))),
        *(bot.network, bot.environment),
    )
    try:
        access = (*bot.network, *bot.environment)
        digest = fingerprint(written.run, bot.run, folder, own, access, bot.ignore)
        return Entrant(bot.name, command, digest, clock=bot.clock or UNSET)
    except OSError as error:
        text = f"{error.filename} cannot be read: {error.strerror}"
        raise UserError(f"Bot {bot.name}: {text}.") from error


def prepare_word(word: str, build: Path) -> Entrant:
    """Find, build and fingerprint a bot from the command line: see `parse_bots`.

    Raises UserError.
    """
    (bot,) = parse_bots((word,))
    return prepare_entrant(bot, Path.cwd(), build)


def find_program(name: str, word: str, folder: Path) -> Path:
    """Return the program's file; a shim of pyenv or rustup is asked for the program it starts.

    Raises UserError.
    """
    local = folder / word
    if is_file(local) and is_module((word,)):
        return resolve_links(local)
    if is_file(local) and not os.access(local, os.X_OK):
        raise UserError(
            f"Bot {name}: {word} is not executable. Make it so (chmod +x), or name its interpreter "
            f'first, as in ["{PYTHON}", "main.py"].'
        )
    found = local if is_file(local) else shutil.which(word)
    if found is None:
        raise UserError(f"Bot {name}: there is no program {word!r}.")
    program = resolve_links(Path(found))
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
    if _is_listed(name, command):
        return name
    folder = Path(command.folder)
    words = [f"{folder / one}" if is_file(folder / one) else one for one in command.argv]
    (by,) = INTERPRETERS.get(Path(words[-1]).suffix, ("",))
    found = shutil.which(by)
    if len(words) == 2 and found and words[0] == f"{resolve_links(Path(found))}":
        words = words[1:]
    return shlex.quote(words[0] if len(words) == 1 else shlex.join(words))


def _is_listed(name: str, command: Command) -> bool:
    """Tell whether the lists here give this name to this very program, not to another one."""
    try:
        listed = all_bots(Path.cwd()).get(name)
    except UserError:
        return False
    if listed is None:
        return False
    home = (listed.home / (listed.folder or ".")).resolve()
    return home == Path(command.folder) and listed.bot.run[1:] == command.argv[1:]


def resolve_command(written: WrittenBot, base: Path) -> tuple[WrittenBot, Path]:
    """Return a listed bot's entry written out, and the folder where its paths start.

    Raises UserError if no list has the bot, or this machine lacks a program that it needs.
    """
    if written.run and written.bot:
        raise UserError(f"Bot {written.name} has both bot and run: one of them says what it is.")
    if written.run and written.arguments:
        raise UserError(f"Bot {written.name} has run and arguments: write all its words into run.")
    if written.run:
        return written, base
    name, bots = written.bot or written.name, all_bots(base)
    if name not in bots:
        if is_file(broken := base / name / BOT_FILE):
            load_bot_file(broken)
        raise unknown_name("bot", name, bots)
    bot, home, folder = bots[name]
    if bot.lacks:
        raise UserError(f"Bot {name} needs {bot.needs}, {bot.lacks}.")
    run = (*bot.run, *written.arguments)
    ignore = written.ignore or bot.ignore
    listed = replace(
        written, run=run, build=bot.build, folder=folder, reads=bot.reads, ignore=ignore
    )
    return replace(listed, bot=None, arguments=()), home


def check_places(words: Iterable[str]) -> None:
    """Refuse a mistyped {build}; any other word in braces is the bot's own, as in awk '{print}'.

    Raises UserError.
    """
    for part in words:
        for word in _IN_BRACES.findall(part):
            near = get_close_matches(word.lower(), PLACES, n=1, cutoff=ALIKE)
            if near and word not in PLACES:
                raise UserError(f"unknown placeholder {word!r}: did you mean {near[0]}?")


def fill_places(argv: Sequence[str], build: Path) -> tuple[str, ...]:
    """Return words with their placeholders filled in."""
    places = dict(zip(PLACES, (sys.executable, str(build)), strict=True))
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
        if isinstance(error, FileNotFoundError) or ("/" not in argv[0] and not which(argv[0])):
            why = f"there is no program {argv[0]!r}"
        raise UserError(f"Bot {name} cannot be built: {why}.") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise UserError(f"Bot {name} cannot be built:\n{said}")


def fingerprint(
    written: Sequence[str],
    argv: Sequence[str],
    folder: Path,
    own: Iterable[str],
    access: Iterable[str] = (),
    ignore: Sequence[str] = (),
) -> str:
    """Return the SHA-256 of a command's words, as written, of the bot's own files, and of the
    addresses and the names of variables that are opened to it.

    The build folder is left out: another event builds the same bot in another place.
    """
    digest = hashlib.sha256()
    # A program on the PATH, or the interpreter that runs us, belongs to the machine, not the bot.
    borrowed = "/" not in argv[0] or argv[0] == sys.executable
    first = 1 if borrowed and len(argv) > 1 else 0
    for word, part in zip(written[first:], argv[first:], strict=True):
        path = Path(folder, part)
        content = path.read_bytes() if is_file(path) else word.encode()
        digest.update(hashlib.sha256(content).digest())
    for path in map(Path, own):
        for name, content in _content_below(path, ignore):
            digest.update(hashlib.sha256(os.fsencode(name)).digest())
            digest.update(hashlib.sha256(content).digest())
    for word in access:
        digest.update(hashlib.sha256(f"access {word}".encode()).digest())
    return digest.hexdigest()


def _content_below(path: Path, ignore: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of all that a bot reads in a file or folder, in a fixed order.

    The name of an empty folder and the target of a link can tell a bot something too.
    """
    if path.is_file():
        yield path.name, path.read_bytes()
        return
    for one in sorted(_below(path, ignore)):
        name = f"{one.relative_to(path)}"
        if one.is_symlink():
            yield name, os.fsencode(one.readlink())
        else:
            yield name, one.read_bytes() if one.is_file() else b""


def _visible_paths(path: Path, ignore: Sequence[str], above: str = "") -> list[Path]:
    """Return what the sandbox opens of a path: the parts that are not ignored, if any part is.

    Otherwise a bot could find there what no fingerprint covers. `above`: the path of its folder in
    the whole one, with a slash.
    """
    if path.is_symlink() or not path.is_dir():
        return [path]
    visible: list[Path] = []
    is_whole = True
    for part in sorted(path.iterdir()):
        name = f"{above}{part.name}"
        if part.name == COMPILED and part.is_dir() and not part.is_symlink():
            continue  # The sandbox covers it, whenever it comes.
        if name != BOT_FILE and is_left_out(name, ignore):
            is_whole = False
            continue
        parts = _visible_paths(part, ignore, f"{name}/")
        is_whole = is_whole and parts == [part]
        visible += parts
    return [path] if is_whole else visible


def files_below(paths: Iterable[str]) -> Iterator[Path]:
    """Yield every file among and below the paths, in a fixed order; see `_below`."""
    for path in map(Path, paths):
        if path.is_file():
            yield path
        else:
            yield from sorted(one for one in _below(path) if one.is_file())


def _below(folder: Path, ignore: Sequence[str] = ()) -> Iterator[Path]:
    """Yield everything below a folder that a program may read; see `tournaments.plan.ignored`."""
    for path in folder.rglob("*"):
        name = f"{path.relative_to(folder)}"
        if name == BOT_FILE or not is_left_out(name, ignore):
            yield path
