"""Whole events in which something goes wrong: what is void, what is lost, what stops the run."""

import errno
import json
import pkgutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.match.poller import Poller
from protocol.records import FoulRecord
from tests.support.events import boneyard, copied, games_of, ledger, outputs, run_file, untouched
from tests.support.fast_run import slow_except
from tests.support.tables import LaggingPoller, children
from tournaments.event.folder import Folder

HEAD = """
import json, os, sys, time
FOLDER = os.path.dirname(os.path.abspath(__file__))
def said(name, what):
    with open(os.path.join(FOLDER, name), "a") as file:
        print(what, file=file)
said("starts", os.getpid())
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "hello", "name": "odd", "version": "1"}', flush=True)
    elif message["type"] == "game":
        asked = 0
    elif message["type"] == "ask":
        asked += 1
        HOW
        print(json.dumps({"type": "choose", "id": message["id"], "choice": 0}), flush=True)
"""
WRONG = 'if asked == 2: print("oops", flush=True)'


def event(folder: Path, action: str, *, boards: int = 2, seats: int = 2, more: str = "") -> Path:
    """Return an event file with an odd bot in it, and honest ones."""
    folder.mkdir(exist_ok=True)
    (folder / "odd.py").write_text(HEAD.replace("HOW", action))
    honest = "".join(f'[[bots]]\nname = "{name}"\n' for name in ("first", "greedy")[: seats - 1])
    path = folder / "cup.toml"
    path.write_text(
        f'name = "cup"\nboards = {boards}\nrules = {{ base = "dutch", target = 40 }}\n'
        f"seats = {seats}\n{more}\n{honest}"
        '[[bots]]\nname = "odd"\nrun = ["{python}", "-I", "-S", "odd.py"]\n'
    )
    return path


def test_lag_is_reported_for_each_bot_and_no_game_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournaments.play.runner.Poller", partial(LaggingPoller, 50.0))
    out = tmp_path / "out"
    run_file(event(tmp_path / "bots", "pass"), out)
    assert len(games_of(out)) == len(ledger(out)) == 4
    times = json.loads((out / "times.json").read_text())
    for row in times["entrants"]:
        assert row["given_back_ms"] >= 50 * row["questions"]
        assert f"{row['given_back_ms']:.0f}" in (out / "report.html").read_text()
    assert times["worst_lag_ms"] >= 50
    assert "and no bot was charged for it" in (out / "report.html").read_text()
    assert "OK: " in boneyard("verify", str(out))


FOUL = """if asked == 2 and len(sys.argv) == 1:
            print("bad", file=sys.stderr, flush=True)
            print("oops", flush=True)
"""


# Slow: the same with several tables, and after a foul.
@pytest.mark.parametrize(
    ("tables", "seats", "foul"), slow_except([(1, 2, "")], [(1, 2, ""), (4, 2, ""), (1, 3, FOUL)])
)
def test_a_game_that_a_lag_cut_off_goes_on_where_it_stood(
    tables: int, seats: int, foul: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that is behind could else stop the run, and play the same deal again."""
    action = 'said("asked", f"{sys.argv[1:]}{message[\'id\']}")\n        ' + foul
    path, out = event(tmp_path / "bots", action, seats=seats), tmp_path / "out"
    bot = tmp_path / "bots" / "odd.py"
    bot.write_text(bot.read_text().replace('"version"', f'"tables": {tables}, "version"'))
    twin = 'name = "twin"\nrun = ["{python}", "-I", "-S", "odd.py", "twin"]'
    path.write_text(path.read_text().replace('name = "first"', twin))
    with monkeypatch.context() as patch:
        poller = partial(LaggingPoller, 20_000.0, after=16)
        patch.setattr("tournaments.play.runner.Poller", poller)
        assert "this machine cannot keep time" in run_file(path, out, code=1)
    left = [game for game in games_of(out) if not game.result]
    cut = [game for game in left if any(game.choices())]
    assert cut
    run_file(path, out)
    over = {game.game.game: game for game in games_of(out) if game.result}
    for game in cut:
        # The charged times too, and the evidence of fouls: nobody was asked again.
        assert over[game.game.game].records[: len(game.records)] == game.records
    records = [record for game in cut for record in game.records]
    assert any(isinstance(record, FoulRecord) for record in records) == bool(foul)
    questions = (tmp_path / "bots" / "asked").read_text().split()
    assert len(questions) - len(set(questions)) <= len(left)
    assert "OK: " in boneyard("verify", str(out))


SITTING = '[fouls]\nlose = "sitting"\nafter = 2\n'


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield an event in which a bot loses the rest of each sitting after two fouls."""
    folder = tmp_path_factory.mktemp("lost")
    run_file(event(folder / "bots", WRONG, boards=4, more=SITTING), folder / "out")
    with untouched(folder):
        yield folder


@pytest.fixture
def copy(source: Path, tmp_path: Path) -> Path:
    """Return such an event for one test; its bot logs each start beside itself."""
    return copied(source, tmp_path / "lost")


def test_enough_fouls_lose_the_rest_of_the_sitting(copy: Path) -> None:
    out = copy / "out"
    results = ledger(out)
    assert len(results) == 8
    for result in results:
        odd = result.seats.index("odd")
        (foul,) = result.fouls
        assert foul.seat == odd
        assert foul.foul == ("malformed" if result.board <= 2 else "forfeit")
        assert (result.why, result.places[odd], result.places[1 - odd]) == ("foul", 2, 1)
        assert (result.rounds == 0) == (result.board > 2)
    # The roll, and two games in each of two sittings.
    assert len((copy / "bots" / "starts").read_text().splitlines()) == 1 + 2 * 2
    assert "OK: " in boneyard("verify", str(out))
    entrants = json.loads((out / "results.json").read_text())["ratings"]["pools"][0]["entrants"]
    assert {bot["name"]: bot["fouls"] for bot in entrants} == {"first": 0, "odd": 4}
    report = (out / "report.md").read_text()
    assert "| odd | forfeit | 4 |" in report
    assert "2 fouls lose the rest of the sitting" in report


@pytest.mark.parametrize("count", slow_except([0, 3], range(4)))
def test_forfeits_follow_from_the_logs_after_a_kill(source: Path, copy: Path, count: int) -> None:
    """The log has `count` games of the first sitting, and the ledger has none."""
    out = copy / "out"
    (out / "ledger.jsonl").unlink()
    # The report of that moment told of no game.
    (out / "results.json").unlink()
    first, second = sorted((out / "games").iterdir())
    second.unlink()
    lines = first.read_bytes().splitlines(keepends=True)
    ends = [index + 1 for index, line in enumerate(lines) if b'"type":"result"' in line]
    # The next game had begun.
    first.write_bytes(b"".join(lines[: (ends[count - 1] if count else 1) + 2]))
    run_file(copy / "bots" / "cup.toml", out)
    assert outputs(out) == outputs(source / "out")
    assert "OK: " in boneyard("verify", str(out))


def test_a_forfeit_that_no_foul_caused_is_named(copy: Path) -> None:
    out = copy / "out"
    plan = out / "event.json"
    plan.write_text(plan.read_text().replace('"after": 2', '"after": 3'))
    output = boneyard("verify", str(out), code=1)
    assert "the forfeits of 3.first.odd do not follow from the fouls before it" in output
    assert "the cost of a foul differ from the event's" in output


@pytest.mark.parametrize(
    ("policy", "why"),
    slow_except([("play_on", "target")], [("play_on", "target"), ("stop", "foul")]),
)
def test_the_policy_decides_whether_others_play_on(tmp_path: Path, policy: str, why: str) -> None:
    out = tmp_path / "out"
    more = SITTING.replace("after = 2", f'after = 1\nothers = "{policy}"')
    run_file(event(tmp_path / "bots", WRONG, boards=3, seats=3, more=more), out)
    # Board 2 is seated the other way round, in a sitting of its own.
    results = ledger(out)
    seatings = {result.seats for result in results}
    fouls = [[r.fouls[0].foul for r in results if r.seats == seating] for seating in seatings]
    assert sorted(map(sorted, fouls)) == 3 * [["forfeit", "malformed"]] + 3 * [["malformed"]]
    assert {result.why for result in results} == {why}
    for result in results:
        odd = result.seats.index("odd")
        assert result.places[odd] == 3
        others_left = [place for seat, place in enumerate(result.places) if seat != odd]
        assert sorted(others_left) == ([1, 2] if why == "target" else [1, 1])
    assert len((tmp_path / "bots" / "starts").read_text().splitlines()) == 1 + 3 * 2
    assert "OK: " in boneyard("verify", str(out))
    forfeit = next(result.game for result in results if result.fouls[0].foul == "forfeit")
    assert "Lost by earlier fouls" in boneyard("replay", str(out), forfeit)


SHORTAGES = [
    ("arena.sandbox.process.subprocess.Popen", errno.EAGAIN, False),
    ("arena.match.bot_process.streams_of", errno.EMFILE, True),
    ("arena.sandbox.process.subprocess.Popen", errno.ENOMEM, True),
]


# Slow: whatever the machine lacks, at roll call or in a game, costs nobody a game.
@pytest.mark.parametrize(("name", "code", "stays"), slow_except(SHORTAGES[:2], SHORTAGES))
@pytest.mark.parametrize("after", slow_except([2], [0, 2]), ids=["roll", "game"])
def test_a_shortage_of_the_machine_costs_no_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int, stays: bool, after: int
) -> None:
    """Two bots are started for the roll; then the games begin."""
    real, calls = pkgutil.resolve_name(name), [0]

    def short(*words: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] > after and (stays or calls[0] <= after + 2):
            raise OSError(code, f"short of {code}")
        return real(*words, **options)

    path, out = event(tmp_path / "bots", "pass"), tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(name, short)
        patch.setattr("tournaments.play.sittings.START_PAUSE_S", 0)
        output = run_file(path, out, code=1 if stays else 0)
    if stays:
        assert f"short of {code}" in output
        assert "after 3 tries" in output
        assert "run the same command again" in output
        assert not ledger(out)
        assert not children()
        run_file(path, out)
    assert [result.why for result in ledger(out)] == ["target"] * 4


# Slow: the disk is full in one place beside it.
@pytest.mark.parametrize(
    "target",
    slow_except(
        ["arena.logs.gamelog.GameLog.append"],
        [
            "arena.logs.checksummed.append_atomic",
            "arena.logs.gamelog.sync_data",
            "arena.logs.gamelog.GameLog.append",
            "tournaments.report.report.replace_files",
        ],
    ),
)
def test_a_full_disk_anywhere_stops_the_run_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left")

    path, out = event(tmp_path / "bots", "pass"), tmp_path / "out"
    if target.endswith("replace_files"):
        # The plan is there already; it is the report that finds no room.
        run_file(path, out)
        (out / "report.html").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(target, full)
        output = run_file(path, out, code=1)
    assert "No space left" in output
    assert "Traceback" not in output
    assert "again" in output
    run_file(path, out)
    assert len(ledger(out)) == 4
    assert not children()


def broken(*_: object) -> None:
    raise ZeroDivisionError("ours")


class BrokenPoller(Poller):
    def _slice(self) -> bool:
        raise ZeroDivisionError("ours")


# Slow: a bug in one place is kept beside it.
@pytest.mark.parametrize(
    ("target", "substitute"),
    slow_except(
        [("tournaments.play.runner.Poller", BrokenPoller)],
        [
            ("tournaments.play.runner.Poller", BrokenPoller),
            ("arena.match.bot_pool.BotPool.monitor", broken),
            ("tournaments.event.book.Ledger.add", broken),
        ],
    ),
)
def test_our_own_bug_anywhere_stops_the_run_and_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, substitute: object
) -> None:
    path, out = event(tmp_path / "bots", "pass"), tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(target, substitute)
        output = run_file(path, out, code=1)
    assert "Boneyard itself failed" in output
    assert "ZeroDivisionError: ours" in Folder(out).crash.read_text()
    assert "Traceback" not in output
    assert not ledger(out)
    assert not children()
    run_file(path, out)
    assert len(ledger(out)) == 4
