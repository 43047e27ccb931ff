"""A round that cannot be finished ends all the same, and nothing that was played is lost."""

import errno
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from arena.rules.variants import derive, find_variant
from arena.sandbox.command import OFF, Limits
from arena.sandbox.process import Sandbox
from tests.support.made_up import round_plan
from tests.support.planned_events import event
from tournaments.commands.run import Ending
from tournaments.formats.tables import Matches
from tournaments.league.loop import MOST_TRIES, begin_round, play_round
from tournaments.league.settings import LeagueFolder
from tournaments.league.state import ChosenTable, read_round
from tournaments.plan.bots import prepare_word
from tournaments.play.sittings import RunStoppedError

UNLOCKED = Sandbox(OFF, Limits())
TABLE = ("first", "greedy")


def begin(place: Path, broken: str = "") -> Path:
    """Begin a round of two sample bots, of which one may lack its program."""
    entrants = [prepare_word(name, place) for name in TABLE]
    if broken:
        command = replace(entrants[1].command, argv=(broken,), reads=())
        entrants[1] = replace(entrants[1], command=command)
    plan = round_plan(TABLE, boards=2, tables=(ChosenTable(TABLE, "new", 1.0),))
    rules = derive(find_variant("draw"), "draw", {"target": 10})
    contest = replace(
        event(2, form=Matches((("bot0", "bot1"),))),
        rules=rules,
        boards=2,
        entrants=tuple(entrants),
        format=Matches((TABLE,)),
    )
    return begin_round(LeagueFolder(place), plan, contest)


def do_nothing() -> None:
    """Show nothing."""


def test_a_round_is_played_once_and_its_reports_are_written(tmp_path: Path) -> None:
    """It is over then, and playing it again plays nothing; its snapshots were asked for."""
    path = begin(tmp_path)
    snapshots: list[int] = []
    assert read_round(path, 0).is_tried is False
    assert play_round(path, UNLOCKED, 1, lambda: snapshots.append(1)) is None
    over = read_round(path, 0)
    assert over.is_over
    assert len(over.results) == 4
    assert (path / "report.md").exists()
    assert not read_round(path, 0).is_tried
    assert snapshots
    ledger = (path / "ledger.jsonl").read_bytes()
    assert play_round(path, UNLOCKED, 1, do_nothing) is None
    assert (path / "ledger.jsonl").read_bytes() == ledger


def test_a_round_whose_bot_is_gone_is_closed_after_some_tries(tmp_path: Path) -> None:
    """Nothing of it counts, and the league can go on."""
    path = begin(tmp_path, broken="/nowhere/bot")
    failures = [play_round(path, UNLOCKED, 1, do_nothing) for _ in range(MOST_TRIES)]
    are_last = [bool(failure and failure.is_last) for failure in failures]
    assert are_last == [False] * (MOST_TRIES - 1) + [True]
    last = failures[-1]
    assert last
    assert "/nowhere/bot" in last.why
    assert read_round(path, 0).is_tried


def test_a_round_in_which_this_program_dies_is_closed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug that ends the whole process leaves no other trace than the count of its tries."""
    path = begin(tmp_path)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trio, "run", die)
        for _ in range(MOST_TRIES):
            with pytest.raises(KeyboardInterrupt):
                play_round(path, UNLOCKED, 1, do_nothing)
    failure = play_round(path, UNLOCKED, 1, do_nothing)
    assert failure
    assert failure.is_last


def test_a_full_disk_costs_no_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is met, the round is played to its end when there is room again."""
    path = begin(tmp_path)
    full = OSError(errno.ENOSPC, "No space left on device")

    async def fail(*_: object) -> Ending:
        return Ending(ExceptionGroup("all", [RunStoppedError("stopped"), full]), interrupted=False)

    with monkeypatch.context() as patch:
        patch.setattr("tournaments.league.loop.play_to_end", fail)
        for _ in range(MOST_TRIES + 1):
            with pytest.raises(OSError, match="No space"):
                play_round(path, UNLOCKED, 1, do_nothing)
            assert read_round(path, 0).is_tried
    assert play_round(path, UNLOCKED, 1, do_nothing) is None
    assert read_round(path, 0).closed is None
