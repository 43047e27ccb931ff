"""Entrants that came when deals were public: their notes, and boards that nobody has seen."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.logs import checksummed
from protocol.records import Result
from tests.support.events import boneyard, run
from tests.support.planned_events import event
from tournaments.event.book import Before, Book, board_spans, latecomers, read_ledger
from tournaments.event.folder import Folder, load_event
from tournaments.event.grow import newcomers, resolve_versions
from tournaments.formats.base import Entrant
from tournaments.formats.versus import Versus
from tournaments.plan.schedule import sittings
from tournaments.rating.sprt import Sprt

SHORT = ("--set", "target=1", "--sandbox", "off")
TWO = ("first", "greedy", *SHORT)


def results(folder: Path) -> list[Result]:
    return list(read_ledger(folder / "ledger.jsonl"))


def boards(folder: Path, name: str) -> set[int]:
    return {result.board for result in results(folder) if name in result.seats}


def fits(folder: Path) -> bool:
    return "OK: " in boneyard("verify", str(folder))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return a finished event of two bots."""
    run(tmp_path / "out", *TWO, "--boards", "3")
    return tmp_path / "out"


def entrants(folder: Path) -> tuple[Entrant, ...]:
    return load_event(Folder(folder)).entrants


# Slow: newcomers meet the field on boards that nobody has seen.
@pytest.mark.slow
def test_newcomers_meet_the_field_on_boards_that_nobody_has_seen(out: Path) -> None:
    before = {line.game: line for line in results(out)}
    output = run(out, *TWO, "random", "--boards", "3", "--fresh-boards", "--jobs", "2")
    assert "could have known" not in output
    assert boards(out, "random") == {4, 5, 6}
    # Who was there plays no more than it had.
    assert {line.game: line for line in results(out) if "random" not in line.seats} == before
    assert len(results(out)) == 6 + 12
    assert json.loads((out / "results.json").read_text())["latecomers"] == []
    assert fits(out)
    # Whoever goes on need not say it again; the next one has boards of its own.
    run(out, *TWO, "random", "--boards", "3")
    assert len(results(out)) == 6 + 12
    run(out, *TWO, "random", "suit", "--boards", "4", "--fresh-boards")
    assert boards(out, "suit") == {7, 8, 9, 10}
    assert boards(out, "random") == {4, 5, 6, 7, 8, 9, 10}
    old_boards = {line.board for line in results(out) if line.seats == ("first", "greedy")}
    assert old_boards == {1, 2, 3, 4}
    assert fits(out)


def test_a_bot_that_changes_before_its_first_game_is_late_too() -> None:
    """It keeps its name, and may know what the others have played."""
    old = event(3)
    first, *rest = old.entrants
    new = replace(old, entrants=(replace(first, fingerprint="other"), *rest))
    assert newcomers(old, resolve_versions(old, new, ())) == {first.name}
    before = Before(5, "0" * 64, ((1, 2),), {bot.name: bot.fingerprint for bot in old.entrants})
    met = Result(
        game="2.x", board=2, seats=(first.name, rest[0].name), scores=(1, 0), places=(1, 2),
        rounds=1, why="target",
    )  # fmt: skip
    (late,) = latecomers([before], new.entrants, [met])
    assert (late.entrant, late.public, late.games) == (first.name, 1, 1)
    assert latecomers([before], old.entrants, [met]) == ()


def test_a_deal_is_public_as_soon_as_a_log_shows_it(out: Path) -> None:
    """Long before its seed is: a run may be stopped in the middle of its first game."""
    folder = Folder(out)
    log = folder.logs()[0]
    checksummed.decompress(log)
    lines = log.read_bytes().splitlines(keepends=True)
    for path in (folder.ledger, folder.seeds, *folder.logs()[1:]):
        checksummed.actual_path(path).unlink()
    log.write_bytes(b"".join(lines[:3]))
    (board,) = Book(folder).shown_boards
    assert f'"board":{board},'.encode() in lines[1]
    log.write_bytes(lines[0])
    assert Book(folder).shown_boards == set()


def test_spans_join_consecutive_boards() -> None:
    assert board_spans([]) == ()
    assert board_spans([7, 1, 2, 3, 5]) == ((1, 3), (5, 5), (7, 7))


def test_versus_begins_with_the_first_board_of_whoever_came_last() -> None:
    plan = event(2, 2, 4, 2, form=Versus(Sprt(min_boards=2, max_boards=4)))
    first, second = plan.entrants
    plan = replace(plan, entrants=(first, replace(second, first_board=5)))
    assert plan.all_boards == 8
    assert [plan.boards for plan in sittings(plan, {})] == [(5, 6), (5, 6)]
