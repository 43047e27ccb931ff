"""Every hostile behaviour costs its own game and nothing else: the battery, and what it shows."""

import importlib
import inspect
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import get_args

import pytest

from arena.analysis.timeline import mismatches
from arena.engine.shuffle import board_seed
from arena.logs.gamelog import LoggedGame, read_games
from arena.match.referee import GameSetup, Referee
from arena.rules.variants import derive, find_variant
from arena.sandbox.command import OFF, Command, Limits
from protocol.messages import MAX_LINE
from protocol.records import FoulClass, FoulRecord, Result
from tests.bots.hostile import lines
from tests.bots.hostile.__main__ import TURN
from tests.support.bots import (
    ACTS,
    HOSTILE,
    PATIENT,
    ROWS,
    Cost,
    Place,
    places,
    proved,
    slower,
    unproven,
)
from tests.support.tables import (
    alive,
    children,
    descriptors,
    forget_peak,
    hostile,
    peak_memory,
    play,
    sample,
    vanished,
)

HONEST, FOULER = 0, 1
TRIES = 3
"""How often a machine is given more time before it is too slow for these tests."""
GROWTH = 24 * 2**20
"""Bytes by which no hostile bot makes our own memory grow; a flood writes much more."""
LONGEST_LOG = 400_000
"""Bytes of the longest log of two games: every answer with the longest note."""


@pytest.fixture(autouse=True)
def cleanup(open_folder: Path) -> Iterator[None]:
    """End everything that a failed test leaves, so that it spoils no other."""
    yield
    end_all(str(open_folder))


@pytest.fixture
def row(act: str, place: Place) -> Cost:
    """Return the behaviour's row, if it may be tried there."""
    if reason := unproven(ROWS[act], place):
        pytest.skip(reason)
    return ROWS[act].cost_at(place)


def test_the_table_has_every_behaviour_and_every_foul() -> None:
    for group, rows in ACTS.items():
        module = importlib.import_module(f"tests.bots.hostile.{group}")
        acts = [
            name
            for name, act in inspect.getmembers(module, inspect.isfunction)
            if [part.annotation for part in inspect.signature(act).parameters.values()] == ["Bot"]
        ]
        assert acts == sorted(rows), group
    assert {row.foul for row in ROWS.values()} == {None, *get_args(FoulClass)} - {"forfeit"}, (
        "what earlier fouls cost is no behaviour"
    )
    assert len(ROWS) > 70


def one_of_each() -> set[tuple[str, Place]]:
    """Choose one behaviour for each foul, and one of each group."""
    fates: dict[str | None, tuple[str, Place]] = {}
    for act, row in ROWS.items():
        if not row.needs:
            for place in places(act):
                cost = row.best or row if place == "best" else row
                for fate in (cost.foul, act.partition("/")[0]):
                    fates.setdefault(fate, (act, place))
    return {*fates.values()}


FAST = one_of_each()
ANSWERS = {
    f"lines/{name}"
    for name, (line, _) in lines.LINES.items()
    if len(line) < MAX_LINE // 2 and b"\n" not in line and not name.startswith("hello")
}
"""Behaviours that are one answer, which any pipe brings in one piece: the referee alone judges it,
and a process is tried with those of the fast run."""


@pytest.mark.parametrize("act", sorted(ANSWERS))
def test_a_hostile_answer_costs_only_its_own_game(act: str) -> None:
    setup = GameSetup("1.test", 1, 1, ("honest", "hostile"), find_variant("dutch"), PATIENT)
    referee, turns = Referee(setup, board_seed(b"test", "test", 1)), count(1)
    while question := referee.awaiting:
        line = lines.ANSWER
        if question.seat == FOULER and next(turns) == TURN:
            line, _ = lines.LINES[act.partition("/")[2]]
        referee.receive(question.seat, lines.numbered(line, question.id), 1.0)
    result = referee.result
    assert result
    assert [(foul.seat, foul.foul) for foul in result.fouls] == [
        (FOULER, foul) for foul in (ROWS[act].foul,) if foul
    ]
    assert (result.why, result.places[HONEST]) == ("foul", 1) or result.why == "target"


# Slow: every behaviour of the table, in both places, costs its own game and nothing else.
@pytest.mark.parametrize(
    ("act", "place"),
    [
        pytest.param(act, place, marks=[] if (act, place) in FAST else [pytest.mark.slow])
        for act in ROWS
        for place in places(act)
        if act not in ANSWERS or (act, place) in FAST
    ],
)
async def test_a_hostile_bot_costs_only_its_own_game(
    act: str, row: Cost, place: Place, open_folder: Path, tmp_path: Path
) -> None:
    forget_peak()
    before, peak = descriptors(), peak_memory()
    results = await play_games(row, place, hostile_bot(act, open_folder), tmp_path)
    check_results(row, results)
    check_log(row, tmp_path / "log.jsonl", results)
    await check_leftovers(row, place, str(open_folder))
    assert descriptors() == before
    assert peak_memory() - peak < GROWTH


def hostile_bot(act: str, folder: Path) -> Command:
    """Return a copy of a bot, which it may spoil; the folder's name is its processes' tag."""
    copy = folder / "bot"
    shutil.copytree(HOSTILE, copy)
    (copy / "a-copy").touch()
    return hostile(act, str(folder), copy)


async def play_games(row: Cost, place: Place, bot: Command, folder: Path) -> list[Result]:
    """Play the hostile game and the next one in the same seats, with slower clocks on a busy
    machine."""
    clock, limits = row.clock, Limits(memory_mib=row.memory_mib)
    confinement = OFF if place == "off" else proved().confinement
    rules = [derive(find_variant("dutch"), "dutch", {"target": 30})]
    for _ in range(TRIES):
        log = folder / "log.jsonl"
        log.unlink(missing_ok=True)
        results = await play(
            [sample(), bot], log, clock, 2, confinement, limits, [sample(), sample()], rules
        )
        first, second = results
        harm = [foul.foul for foul in first.fouls if foul.seat == HONEST]
        harm += [foul.foul for foul in second.fouls]
        if not harm or set(harm) - {"late", "no_hello"}:
            break
        clock = slower(clock)
    return results


def check_results(row: Cost, results: list[Result]) -> None:
    """Check that the fouler lost, the honest bot did not, and the next game was played."""
    first, second = results
    if row.foul:
        assert [foul.seat for foul in first.fouls] == [FOULER]
        assert first.fouls[0].foul == row.foul
        assert (first.why, first.places) == ("foul", (1, 2))
    else:
        assert (first.why, first.fouls) == ("target", ())
    assert (second.why, second.fouls) == ("target", ())


def check_log(row: Cost, log: Path, results: list[Result]) -> None:
    """Check that the log is complete, follows from the input, and is safe to print."""
    games = list(read_games(log))
    assert [game.result for game in games] == results
    for number, game in enumerate(games, 1):
        assert list(mismatches(game, board_seed(b"test", "test", number))) == []
    assert log.stat().st_size < LONGEST_LOG
    for record in fouls_of(games[0]):
        assert row.detail in record.detail
        assert all(text.isprintable() for text in (record.detail, record.line, record.stderr))


def fouls_of(game: LoggedGame) -> list[FoulRecord]:
    """Return the fouls in a game."""
    return [record for record in game.records if isinstance(record, FoulRecord)]


async def check_leftovers(row: Cost, place: Place, tag: str) -> None:
    """Check that no process is left, and end those that `off` is known to leave."""
    if row.survives and place == "off":
        assert alive(tag), "The table says that something outlives this bot."
        end_all(tag)
    await vanished(tag)
    assert not children()


def end_all(tag: str) -> None:
    """End every process that has the tag."""
    for pid in alive(tag):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def test_a_bot_that_deletes_itself_cannot_greet_again(
    open_folder: Path, tmp_path: Path
) -> None:
    """That is its own fault, not the machine's: the interpreter starts, the bot does not."""
    bot = hostile_bot("processes/deletes_itself_and_is_gone", open_folder)
    keeps_its_folder = Command(bot.argv, str(open_folder))
    results = await play([sample(), keeps_its_folder], tmp_path / "log.jsonl", games=2)
    assert [[foul.foul for foul in result.fouls] for result in results] == [["gone"], ["gone"]]


async def test_a_flood_while_another_thinks_is_not_kept(tmp_path: Path) -> None:
    """Nobody asks the bot for a third of a second; then all that was read is a foul."""
    forget_peak()
    peak = peak_memory()
    bots = [hostile("timing/thinks_three_times"), hostile("plumbing/unasked_old_answers")]
    (result,) = await play(bots, tmp_path / "log.jsonl")
    assert [(foul.seat, foul.foul) for foul in result.fouls] == [(FOULER, "flooding")]
    assert peak_memory() - peak < GROWTH


async def test_last_words_are_kept_and_harmless(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    await play([sample(), hostile("plumbing/stderr_terminal_codes")], log)
    (game,) = read_games(log)
    (record,) = fouls_of(game)
    codes = r"\x1b[2J\x1b]0;owned\x07\xff\xfe\x9b31m\u202e<script>\x00\n"
    assert record.stderr.endswith(r"much ado\n" + codes)
    assert len(record.stderr) < 3_000, "Of 9 KB the last 2 KiB, and their escapes."
