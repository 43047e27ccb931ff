"""The words that a user may write about a bot, and the files that the bot can read thereby."""

import re
import shlex
import shutil
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import trio
from msgspec.structs import replace

import arena
import protocol
from arena.sandbox.command import Limits
from arena.sandbox.select import choose_sandbox
from protocol.errors import UserError
from tests.support.events import boneyard
from tournaments.event.folder import Folder
from tournaments.event.grow import open_event
from tournaments.formats.base import Entrant
from tournaments.plan.bots import BOT_FILE, parse_bots, prepare_entrant, shell_word
from tournaments.plan.event import WrittenBot
from tournaments.plan.read_plan import read_plan
from tournaments.play.sittings import check_greetings

ROOT = Path(arena.__path__[0]).parent
GREEDY = '[[bots]]\nname = "greedy"\n'
MINE = GREEDY + '[[bots]]\nname = "mine"\nrun = ["{python}", "mine.py"'


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Return a folder as authors have it: links to files and to folders."""
    real = tmp_path / "real"
    real.mkdir()
    for name in ("mine.py", "weights"):
        (real / name).write_text(name)
        (tmp_path / name).symlink_to(Path("real", name))
    (tmp_path / "linked").symlink_to("real")
    return tmp_path


def entrant(
    base: Path, *words: str, reads: tuple[str, ...] = (), program: str = sys.executable
) -> Entrant:
    return prepare_entrant(WrittenBot("mine", (program, *words), reads=reads), base, base / "build")


def readable_files(base: Path, *words: str, reads: tuple[str, ...] = ()) -> set[str]:
    """Return the files in the folder that may be read."""
    all_of_it = map(Path, entrant(base, *words, reads=reads).command.reads)
    return {f"{path.relative_to(base)}" for path in all_of_it if path.is_relative_to(base)}


def test_a_bot_may_read_what_its_command_names_by_whatever_name(base: Path) -> None:
    assert readable_files(base, "real/mine.py") == {"real/mine.py"}
    assert readable_files(base, "mine.py") == {"mine.py", "real/mine.py"}
    assert readable_files(base, "linked/mine.py") == {"linked", "real/mine.py"}
    assert readable_files(base, "real") == {"real"}
    assert readable_files(base, "linked/../mine.py") == {"linked", "mine.py", "real/mine.py"}
    assert readable_files(base, "real/../linked") == {"linked", "real"}


@pytest.mark.parametrize("word", [".", "..", "", "/", "real/.."])
def test_no_word_of_a_command_opens_its_whole_folder(base: Path, word: str) -> None:
    """The folder may hold the event's secret and other bots, as in `java -cp . Mine`."""
    assert readable_files(base, word) == set()


def entrant_in(folder: Path) -> Entrant:
    """Return a bot that may read all of its folder."""
    mine = WrittenBot(
        "mine", ("{python}", "mine.py"), folder=str(folder), ignore=("notes/*", "*.log")
    )
    return prepare_entrant(mine, folder, folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "0-1-1-2").mkdir(),
        lambda folder: (folder / "data" / "b").rename(folder / "b"),
        lambda folder: (folder / "link").symlink_to("data/../data/b"),
    ],
    ids=["an empty folder", "a file's place", "where a link leads"],
)
def test_everything_that_names_reveal_is_part_of_the_fingerprint(
    base: Path, change: Callable[[Path], None]
) -> None:
    """A deal has room in a name: once it is public, a bot that finds it there is another bot."""
    folder = base / "real"
    (folder / "data").mkdir()
    (folder / "data" / "b").write_text("b")
    before = entrant_in(folder).fingerprint
    assert entrant_in(folder).fingerprint == before
    change(folder)
    assert entrant_in(folder).fingerprint != before


def test_no_name_of_a_folder_above_keeps_files_out_of_the_fingerprint(base: Path) -> None:
    folder = base / "__pycache__" / "bot"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text("mine")
    before = entrant_in(folder).fingerprint
    (folder / "deals").write_text("known")
    assert entrant_in(folder).fingerprint != before


READS = """
import json, os, sys
for path, _, names in os.walk("."):
    if "deals" in path or any("deals" in name for name in names):
        sys.exit("I know the deals.")
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "hello", "name": "mine", "version": "1"}', flush=True)
"""


@pytest.mark.parametrize(
    "name",
    [
        "__pycache__/deals",
        ".git/deals",
        "data/.deals.swp",
        "data/.idea/deals",
        "notes/deals",
        "deals.log",
    ],
)
def test_files_outside_the_fingerprint_cannot_be_read(base: Path, name: str) -> None:
    """They come and go: so a bot that is locked in does not see them."""
    folder = base / "real"
    (folder / "mine.py").write_text(READS)
    for place in (folder / "data", folder / "notes"):
        place.mkdir()
        (place / "b").touch()
    before = entrant_in(folder).fingerprint
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("known")
    mine = entrant_in(folder)
    assert mine.fingerprint == before
    (base / "event").mkdir()
    sandbox = choose_sandbox("auto", Limits(), base / "event")
    if not sandbox.is_locked:
        pytest.skip("bots cannot be locked in here")
    trio.run(check_greetings, [mine], 10_000, sandbox)
    off = choose_sandbox("off", Limits(), base / "event")
    with pytest.raises(UserError, match=r"I know the deals\."):
        trio.run(check_greetings, [mine], 10_000, off)


ENTRY = 'run = ["{python}", "mine.py"]\n'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("greedy", ENTRY, "greedy is the name of a sample bot"),
        ("mine", ENTRY + "need = 1", "Unknown field need: did you mean needs?"),
        ("mine", ENTRY + "needs = 'node > 2'", "needs takes a program"),
        ("mine", ENTRY + "needs = 'python3 >= 99.1'", "Bot mine needs python3 >= 99.1, and here "),
        ("mine", ENTRY + "reads = ['x']", "reads all of it. Remove the line."),
        ("mint", ENTRY, "did you mean mint?"),
        ("mine", ENTRY + "[", "mine/bot.toml is not TOML"),
    ],
)
def test_a_mistake_in_a_bot_toml_is_named(base: Path, name: str, text: str, message: str) -> None:
    (base / "mine.py").unlink()
    (base / name).mkdir()
    (base / name / BOT_FILE).write_text(text)
    with pytest.raises(UserError, match=re.escape(message)):
        prepare_entrant(WrittenBot("mine"), base, base / "build")


@pytest.mark.parametrize(
    "more", ["]\nfolder = '.'", "]\nreads = ['out/games']", "]\nreads = ['..']"]
)
def test_an_event_in_what_a_bot_may_read_is_refused(tmp_path: Path, more: str) -> None:
    base = tmp_path / "cup"
    out = base / "out"
    (out / "games").mkdir(parents=True)
    (base / "mine.py").touch()
    (base / "event.toml").write_text(MINE + more)
    output = boneyard("run", str(base / "event.toml"), "--out", str(out), code=2)
    assert "Bot mine can read" in output
    assert not (out / "private/secret.key").exists()


def test_files_built_for_a_bot_are_in_the_event_and_readable(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "out")
    (tmp_path / "event.toml").write_text(
        GREEDY + '[[bots]]\nname = "mine"\nrun = ["{build}/mine"]\nbuild = ["cp", "/bin/true", '
        '"{build}/mine"]'
    )
    event = read_plan((str(tmp_path / "event.toml"),)).build(folder.build)
    open_event(folder, event, None)
    assert str(folder.build / "mine") in event.entrants[1].command.reads


def test_an_event_where_every_bot_may_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournaments.event.folder.SYSTEM", (str(tmp_path),))
    output = boneyard("run", "greedy", "first", "--out", str(tmp_path / "out"), code=2)
    assert "Every bot can read" in output


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (MINE + ', "a\\u0000b"]', "bots[1].run[2]"),
        (MINE + ']\nbuild = ["a\\u0000b"]', "bots[1].build[0]"),
        (MINE + ']\nreads = ["a\\u0000b"]', "bots[1].reads[0]"),
        (MINE + ']\nbuild = ["sh", "-c", "printf \'\\\\377\' >&2; exit 1"]', "\ufffd"),
    ],
)
def test_bytes_that_are_no_text_are_the_users_mistake(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "event.toml").write_text(text)
    output = boneyard("run", str(tmp_path / "event.toml"), "--out", str(tmp_path / "out"), code=2)
    assert part in output


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("./mien.py", "There is no file ./mien.py: did you mean mine.py?"),
        ("real/mien.py", "There is no file real/mien.py: did you mean real/mine.py?"),
        ("rte.json", "There is no file rte.json: there are "),
        ("gone/" + 300 * "x" + "/mine.py", "There is no file gone/"),
        ("./linked", "./linked is a folder: name the program in it, or write bot.toml"),
        (".", ". is a folder: name the program in it"),
        ("no-such-program mine.py", "There is no program 'no-such-program' to run"),
        ("gredy", "Unknown bot 'gredy': did you mean greedy?"),
        ("weight", "Unknown bot 'weight': there are "),
        ("runs", "Unknown bot 'runs': did you mean run-s?"),
        ("", "Unknown bot '': there are "),
    ],
)
def test_an_unknown_word_gets_a_reason_and_a_suggestion(
    base: Path, monkeypatch: pytest.MonkeyPatch, word: str, message: str
) -> None:
    (base / "run-s").touch(0o755)
    (base / "rate.json").touch(0o644)
    monkeypatch.chdir(base)
    with pytest.raises(UserError) as error:
        parse_bots((word,))
    assert str(error.value).startswith(message)
    assert "rate.json" not in str(error.value)


def test_a_program_that_is_not_executable_is_refused(base: Path) -> None:
    with pytest.raises(UserError, match=r"real/mine.py is not executable. Make it so"):
        entrant(base, program="real/mine.py")


def test_a_shell_word_is_name_file_or_command(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name in a list, its file, or its command."""
    monkeypatch.chdir(base)
    (base / "real" / BOT_FILE).write_text(ENTRY)
    build = base / "build"
    listed_bot, file, command = parse_bots(("real", "./mine.py", f"{sys.executable} mine.py 3"))
    assert shell_word(prepare_entrant(listed_bot, base, build)) == "real"
    assert shell_word(replace(prepare_entrant(listed_bot, base, build), name="real@2")) == "real"
    assert shell_word(prepare_entrant(file, base, build)) == f"{base}/real/mine.py"
    program, *more = shlex.split(shlex.split(shell_word(prepare_entrant(command, base, build)))[0])
    assert program.startswith("/")
    assert more == [f"{base}/mine.py", "3"]
    (base / "a.out").touch(0o755)
    (binary,) = parse_bots(("./a.out",))
    assert shell_word(prepare_entrant(binary, base, build)) == f"{base}/a.out"


def test_arguments_follow_a_listed_bots_words(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(base)
    plain, quick = parse_bots(("montecarlo", "montecarlo --worlds 25"))
    assert (plain.name, quick.name) == ("montecarlo", "montecarlo-2")
    usual, variant = (prepare_entrant(bot, base, base / "build") for bot in (plain, quick))
    assert variant.command.argv == (*usual.command.argv, "--worlds", "25")
    assert variant.fingerprint != usual.fingerprint
    bots = parse_bots(shlex.split(shell_word(variant)))
    argv = prepare_entrant(bots[0], base, base / "build").command.argv
    assert [Path(word).name for word in argv] == [Path(word).name for word in variant.command.argv]
    with pytest.raises(UserError, match="has run and arguments"):
        prepare_entrant(WrittenBot("mine", ("python",), arguments=("3",)), base, base / "build")


@pytest.mark.parametrize(
    ("word", "hint"),
    [("{buidl}/bot", "{build}"), ("-o{BUILD}", "{build}"), ("{pyhton}", "{python}")],
)
@pytest.mark.parametrize("field", ["run", "build", "reads"])
def test_a_mistyped_placeholder_is_named(base: Path, field: str, word: str, hint: str) -> None:
    odd = replace(WrittenBot("odd", ("true",)), **{field: ("true", word)})
    with pytest.raises(UserError, match=f"Bot odd: .*did you mean {hint}"):
        prepare_entrant(odd, base, base / "build")


def test_a_python_brings_our_packages_and_another_program_does_not(tmp_path: Path) -> None:
    """The packages of a checkout lie beside the installation that a bot may read."""
    (tmp_path / "mine.py").write_text("")
    packages = {str(Path(package.__path__[0])) for package in (arena, protocol)}
    assert packages <= {*entrant(tmp_path, "mine.py").command.reads}
    shell = prepare_entrant(WrittenBot("other", ("sh", "mine.py")), tmp_path, tmp_path / "build")
    assert not packages & {*shell.command.reads}


POLICY = """
import sys
from arena.training.policy import play
assert sys.argv[1:] == ["ARG"], sys.argv
play(lambda question: 0)
"""


@pytest.fixture
def other_environment(tmp_path: Path) -> Path:
    """Return a virtual environment beside ours, in which this checkout is installed too; its
    Python."""
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    (packages,) = place.glob("lib/python3.*/site-packages")
    (packages / "_boneyard_arena.pth").write_text(f"{ROOT}")
    # Python takes what an earlier install left here for namespace packages.
    (packages / "arena" / "__pycache__").mkdir(parents=True)
    shutil.copytree(Path(msgspec.__path__[0]), packages / "msgspec")
    return place / "bin" / "python"


# Slow: a policy finds its library whichever Python its author names.
@pytest.mark.slow
@pytest.mark.parametrize("python", ["{python}", "our own", "another"])
def test_a_policy_plays_by_whatever_name_its_python_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_environment: Path, python: str
) -> None:
    """A command as a newcomer types it, with an argument, from an editable install, in the sandbox.

    A bot may read our packages, but not list the checkout, where an event may lie.
    """
    names = {"our own": sys.executable, "another": str(other_environment)}
    (tmp_path / "mine.py").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    word = f"{names.get(python, python)} mine.py ARG"
    words = ("--boards", "1", "--set", "target=10", "--out", str(tmp_path / "out"))
    done = boneyard("run", word, "first", *words)
    assert "2 of 2 games" in done
    assert " mine " in done
