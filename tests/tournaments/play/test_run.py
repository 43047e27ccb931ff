"""Whole events between real processes: the same bytes however they are played, and verified."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from arena.match import bot_pool
from arena.sandbox.command import LOCKED, OFF, Limits
from arena.sandbox.process import Sandbox, SandboxedProcess
from protocol.errors import UserError
from tests.support.events import (
    BONEYARD,
    BOTS,
    PLAIN,
    SMALL,
    boneyard,
    outputs,
    run,
    start_run,
    wait_for_games,
    wait_for_ledger,
)
from tournaments.cli.run import BY_SEED
from tournaments.event.folder import Folder, digest, load_event, secret_of
from tournaments.plan.bots import prepare_entrant
from tournaments.plan.event import WrittenBot
from tournaments.play.sittings import check_greetings, sandbox_hint

LONG = (*BOTS, "--boards", "4")
"""An event that lasts until it is stopped."""


@pytest.fixture(scope="module")
def long_event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("long")
    run(folder, *LONG)
    return folder


def test_another_event_in_the_same_folder_is_refused(event: Path) -> None:
    output = run(event, "first", "greedy", *SMALL[3:], code=2)
    assert "another folder" in output


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_the_command_goes_on(long_event: Path, tmp_path: Path) -> None:
    process = start_run(tmp_path)
    wait_for_ledger(tmp_path)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=120) == 130
    assert 0 < json.loads((tmp_path / "results.json").read_text())["played"] < 24
    run(tmp_path, *LONG)
    assert outputs(tmp_path) == outputs(long_event)


def test_before_the_first_game_there_are_commitments_and_no_report(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "event")
    words = (*BONEYARD, "run", "sleep 60", "first", "--sandbox", "off", "--out", f"{folder.path}")
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        line = process.stderr.readline()
        assert line.startswith("Commitments to the deals")
        assert digest(folder) in line
        while not process.stderr.readline().startswith("Sandbox"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        output = process.stderr.read()
    assert process.returncode == 130
    assert output.startswith("Stopped; run the same command again")
    assert not {folder.results, folder.report, folder.page} & {*folder.parts()}
    assert "no game can be replayed yet" in boneyard("verify", f"{folder.path}")


def test_a_secret_that_a_kill_cut_short_is_never_used(tmp_path: Path) -> None:
    secret = Folder(tmp_path).secret
    secret.parent.mkdir()
    secret.touch()
    run(tmp_path, "first", "greedy", "--boards", "1", "--set", "target=1")
    assert len(secret.read_bytes()) == 32
    secret.write_bytes(b"")
    assert "damaged" in run(
        tmp_path, "first", "greedy", "--boards", "1", "--set", "target=1", code=2
    )


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    process = start_run(tmp_path)
    wait_for_games(tmp_path, 1)
    output = run(tmp_path, *LONG, code=2)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=120)
    assert "another boneyard" in output


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("greedy", "randm"), "random"),
        (("greedy", "random", "--rules", "dutsh"), "dutch"),
        (("greedy", "random", "--set", "draw_limt=1"), "draw_limit"),
        (("greedy", "random", "--set", "hand=15"), "highest_pip"),
        (("greedy",), "2 bots"),
        (("greedy", "first", "--seats", "3"), "3 bots"),
        (("no-such-event.toml",), "no-such-event.toml"),
    ],
)
def test_a_wrong_word_gets_one_sentence(tmp_path: Path, words: tuple[str, ...], part: str) -> None:
    output = run(tmp_path, *words, code=2)
    assert part in output
    assert len(output.strip().splitlines()) == 1
    assert "Traceback" not in output


def test_an_event_file_may_fix_its_deals(tmp_path: Path) -> None:
    event = tmp_path / "event.toml"
    rules = 'rules = { base = "draw", target = 1 }'
    event.write_text(f'{rules}\nseed = 7\nboards = 1\nbots = ["greedy", "first"]\nluck = true\n')
    output = boneyard("run", str(event), "--sandbox", "off", "--out", str(tmp_path / "file"))
    assert BY_SEED in output
    assert "report --luck" not in output  # The run has just done that.
    words = ("greedy", "first", "--boards", "1", "--set", "target=1", "--seed", "7")
    boneyard("run", *words, "--sandbox", "off", "--out", str(tmp_path / "option"))
    plans = [load_event(Folder(tmp_path / out)) for out in ("file", "option")]
    assert [plan.predictable for plan in plans] == [True, True]
    assert secret_of(Folder(tmp_path / "file")) == secret_of(Folder(tmp_path / "option"))


def test_the_folder_of_a_league_is_shown_by_its_own_command(tmp_path: Path) -> None:
    (tmp_path / "league.toml").touch()
    for command in ("show", "report"):
        output = boneyard(command, str(tmp_path), code=2)
        assert f"`boneyard league {tmp_path} status` shows the league" in output


def test_a_build_by_a_program_that_is_missing_names_it(tmp_path: Path) -> None:
    bot = WrittenBot("x", ("{build}/x",), build=("no-such-cc", "x.c"))
    with pytest.raises(UserError, match="cannot be built: there is no program 'no-such-cc'"):
        prepare_entrant(bot, tmp_path, tmp_path / "build")


def test_a_report_that_cannot_be_written_stops_the_run_in_a_sentence(tmp_path: Path) -> None:
    """The sentence names the folder in its place, or the limit of `ulimit -f`; games fit."""
    (tmp_path / "report.md").mkdir()
    words = ("greedy", "first", "--boards", "1", *SMALL[5:])
    output = run(tmp_path, *words, code=1)
    assert f"The run stopped: {tmp_path / 'report.md'}: Is a directory.\n" in output
    limit = ("sh", "-c", 'ulimit -f 100; exec "$@"', "sh", *BONEYARD)
    small = (*limit, "run", *words, *PLAIN, "--out", f"{tmp_path / 'small'}")
    done = subprocess.run(small, capture_output=True, text=True, timeout=120)
    assert (done.returncode, "report.html: File too large" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "silent", "hints"),
    [
        ("", True, True),
        ("KeyError: 'name'", False, False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'x'", True, True),
        ("PermissionError: [Errno 13] Permission denied: 'x'", False, True),
        ("Error: Cannot find module './x.mjs'", True, True),
    ],
)
def test_the_sandbox_is_named_as_a_possible_reason(words: str, silent: bool, hints: bool) -> None:
    assert ("A locked bot can read" in sandbox_hint(LookingLocked(), words, silent=silent)) is hints
    assert sandbox_hint(Sandbox(OFF, Limits()), words, silent=silent) == ""


class LookingLocked(Sandbox):
    """Says that it is locked, and locks nothing in."""

    def __init__(self) -> None:
        super().__init__(OFF, Limits())
        self.confinement = LOCKED

    def new_slot(self) -> SandboxedProcess:
        return Sandbox(OFF, self.limits).new_slot()


async def test_a_run_says_for_which_bot_it_waits_and_how_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_pool, "FIRST_PAUSE_S", 0.001)
    excuse = """echo '{"type":"unavailable","why":"503"}'"""
    bot = prepare_entrant(WrittenBot("api", ("sh", "-c", excuse)), tmp_path, tmp_path)
    notes: list[str] = []
    with pytest.raises(UserError, match=r"^Bot api sends no hello: "):
        await check_greetings([bot], 60_000, LookingLocked(), say=notes.append)
    why = "Bot api: It said that it is unavailable: 503. It is started again in 0 s."
    assert notes == [why] * 3


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("boards = 0", ": boards must be a whole number from 1 to 1000000, not 0."),
        ("bord = 3", ": Unknown field bord: did you mean boards?"),
        (
            'name = "a b"',
            ": name must be 1 to 40 letters a to z, digits, _ or -, and no - in front, ",
        ),
        ("[clock]\nmove = 3", ": Unknown field clock.move: did you mean move_ms?"),
        ('[fouls]\nlose = "match"', "of fouls.lose 'match': there are game, sitting."),
        ('[format]\ntype = "swis"', "of format.type 'swis': did you mean swiss?"),
        ('sandbox = "yes"', "of sandbox 'yes': there are auto, off, require."),
        ('format = "swiss"', ': format must be a table, as format = { type = "swiss" }, not'),
        ("seats = 9", ": seats must be a whole number from 2 to 8, not 9."),
        ('bots = [{ run = ["./x"] }]', ": bots[0].name is missing."),
        ('bots = [{ name = "x", run = "./x" }]', 'list of words, as run = ["./x"], not "./x".'),
        ("boards = [", "is not TOML: "),
        ("seats = 0", "seats"),
        ('name = "cup\\n"', "name"),
        ('bots = ["a b"]', "bots[0].name"),
        ('bots = "greedy"', "bots"),
    ],
)
def test_a_mistake_in_an_event_file_is_located(tmp_path: Path, text: str, part: str) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(text if "bots" in text else "bots = []\n" + text)
    output = run(tmp_path / "out", str(path), code=2)
    assert "cup.toml" in output
    assert part in output


def test_another_seed_or_another_plan_is_refused_and_named(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(out, "first", "greedy", "--boards", "2", *SMALL[5:])
    cup = tmp_path / "cup.toml"
    rules = 'rules = { base = "draw", target = 12 }'
    cup.write_text(f'name = "run"\n{rules}\nbots = ["first", "greedy"]\n')
    assert "(boards)" in run(out, str(cup), "--boards", "1", code=2)
    words = ("run", "first", "greedy", "--boards", "2", *SMALL[5:], "--sandbox", "off")
    assert "another --seed" in boneyard(*words, "--seed", "2", "--out", f"{out}", code=2)
