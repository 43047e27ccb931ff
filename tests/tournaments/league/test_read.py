"""Tests of `tournaments.league.state`: a league's state from its files."""

from pathlib import Path

import pytest

from protocol.codec import encode_json
from protocol.errors import UserError
from tests.support.planned_events import event, plan_of, result
from tournaments.event.book import Ledger
from tournaments.event.folder import Folder
from tournaments.event.grow import open_event
from tournaments.formats.tables import Matches
from tournaments.league.settings import CLOSED_FILE, PLAN
from tournaments.league.state import (
    Admitted,
    AnyEntry,
    ChosenTable,
    EarlyEnd,
    Refused,
    RoundPlan,
    Withdrawn,
    active_versions,
    bot_histories,
    read_league,
    read_round,
)

NOW = "2026-11-22T20:00:00Z"
NOTHING = "0" * 64


def test_settings_name_file_place_and_nearest_name(tmp_path: Path) -> None:
    """A mistyped setting is refused with its file, its place and the nearest name."""
    (tmp_path / "league.toml").write_text('[[divisions]]\nname = "d"\nrules = "drow"\n')
    with pytest.raises(UserError, match=r"league\.toml: division d: .*draw"):
        read_league(tmp_path)


def test_register_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    """A line that a kill cut short is left out."""
    (tmp_path / "league.toml").write_text("")
    entry = Admitted(time=NOW, bot="mine", version="mine", fingerprint=NOTHING)
    (tmp_path / "register.jsonl").write_bytes(encode_json(entry) + b'\n{"type":"adm')
    league = read_league(tmp_path)
    assert league.register == [entry]
    assert league.active("draw") == ["mine"]


def test_present_version_of_each_bot_is_active() -> None:
    """Withdrawn bots and earlier versions do not play; a bot plays only in its divisions."""
    register: list[AnyEntry] = [
        Admitted(time=NOW, bot="greedy", version="greedy", fingerprint=NOTHING, house=True),
        Admitted(time=NOW, bot="suit", version="suit", fingerprint=NOTHING, house=True),
        Admitted(time=NOW, bot="mine", version="mine", fingerprint=NOTHING),
        Admitted(time=NOW, bot="mine", version="mine@2", fingerprint=NOTHING),
        Refused(time=NOW, bot="mine", fingerprint=NOTHING, why="no bot.toml"),
        Admitted(time=NOW, bot="gone", version="gone", fingerprint=NOTHING),
        Withdrawn(time=NOW, bot="gone", version="gone"),
        Admitted(time=NOW, bot="other", version="other", fingerprint=NOTHING, divisions=("dutch",)),
    ]
    assert active_versions(bot_histories(register), ("greedy",), "draw") == ["greedy", "mine@2"]
    assert active_versions(bot_histories(register), ("greedy",), "dutch") == [
        "greedy",
        "mine@2",
        "other",
    ]


def test_of_a_closed_round_only_whole_boards_count(tmp_path: Path) -> None:
    """A round that cannot be finished is over; a board without its other rotation is left out."""
    table = ("bot0", "bot1")
    plan = RoundPlan(
        method="any", number=1, division="draw", time=NOW, active=table, held={}, boards=3,
        most_tables=1, until=None, register="0" * 64, anchor="bot0",
        tables=(ChosenTable(table, "new", 1.0),),
    )  # fmt: skip
    folder = Folder(tmp_path)
    book, _ = open_event(folder, event(2, form=Matches((table,))), 1)
    contest = book.event
    (tmp_path / PLAN).write_bytes(encode_json(plan))
    ledger = Ledger(book)
    games = [(part, n) for part in plan_of(contest) for n in range(len(part.games))]
    for part, n in games[:5]:
        ledger.add(result(contest, part, n, (1, 2)))
    assert not read_round(tmp_path, 0).is_over
    assert len(read_round(tmp_path, 0).results) == 5
    (tmp_path / CLOSED_FILE).write_bytes(encode_json(EarlyEnd(time=NOW, why="gone")))
    closed = read_round(tmp_path, 0)
    assert closed.is_over
    assert len(closed.results) == 4
    assert closed.closed == EarlyEnd(time=NOW, why="gone")
