"""Replays in the terminal: the view of everybody, the view of a seat, and the command."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from syrupy.assertion import SnapshotAssertion

from arena.analysis.frames import frames
from arena.analysis.text import Look, draw_frame, event_sentences
from arena.analysis.timeline import walk_log
from arena.logs.gamelog import DamagedLogError, LoggedGame
from protocol.messages import Annulled, Bade, Called, Drew, Lot, Played, TurnedUp
from protocol.records import ChoiceRecord, DealRecord, FoulRecord, LogRecord, RoundRecord
from protocol.records import Result as GameResult
from tests.support.fast_run import FAST_TABLES, NAMED_TABLES, slow_except
from tests.support.games import (
    DEVIL,
    NAMES,
    ODD,
    any_of,
    bob_fouls,
    changed,
    log_game,
    short,
    write,
)
from tournaments.cli.main import main

LOOK = Look(NAMES)


def replay(*words: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "80", "FORCE_COLOR": None})
    return runner.invoke(main, ["replay", *map(str, words)])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "log.jsonl", log_game())


def check_states(game: LoggedGame) -> None:
    """Check that the log alone gives every state up to the result."""
    *_, end = walk_log(game)
    assert game.result
    assert end.game.scores == game.result.scores
    choice_steps = [step for step in walk_log(game) if isinstance(step.record, ChoiceRecord)]
    assert [step.record for step in choice_steps] == list(game.choices())
    assert all(len(step.options) > 1 for step in choice_steps)


# Slow: every named game at every table replays from its log.
@pytest.mark.parametrize(("name", "seats"), slow_except(FAST_TABLES, NAMED_TABLES))
def test_every_game_replays_from_its_log_and_is_drawn_for_everybody(name: str, seats: int) -> None:
    game = log_game(short(name), seats, any_of(name))
    check_states(game)
    for seat in (None, *range(seats)):
        assert all(texts(game, seat))


def test_odd_or_even_is_called_before_anything_is_dealt() -> None:
    deal_text, call_text = texts(log_game(ODD))[:2]
    assert re.fullmatch(r"Round 1\. \w+ is to move\.", deal_text)
    assert re.match(r"Round 1\. \w+ calls odd\. ada draws \[\d\|\d\] for the lead\.", call_text)
    assert re.search(r"options +\w+ had >odd<, even \(1\.5 ms\)$", call_text)


def test_events_are_described_in_words() -> None:
    events = (
        Annulled(1, "suit"),
        TurnedUp((6, 4)),
        Played(0, (4, 6), "left"),
        Played(0, (4, 1), "right"),
        Drew(0, (3, 2)),
        Drew(0),
        Bade(1, 5),
        Bade(0, 0),
        Called(0),
    )
    assert [*event_sentences(events, LOOK)] == [
        "The deal is annulled: bob holds too many tiles of one number.",
        "[6|4] is turned up.",
        "ada plays [6|4] on the left and [4|1] on the right.",
        "ada draws 2 tiles: [3|2].",
        "bob bids 5.",
        "ada checks.",
        "ada calls the round blocked.",
    ]


def test_a_seat_sees_its_own_options_and_notes_only() -> None:
    for frame in frames(walk_log(log_game(note="secret plan")), 0):
        record = frame.record
        assert not isinstance(record, DealRecord)
        assert not isinstance(record, ChoiceRecord) or record.seat == 0
        assert isinstance(record, ChoiceRecord) == bool(frame.options)
        assert isinstance(record, ChoiceRecord) == ("secret plan" in draw_frame(frame, LOOK).plain)


def test_another_seat_sees_that_there_was_a_foul_but_no_evidence() -> None:
    game = changed(log_game(pick=bob_fouls), FoulRecord, stderr="Traceback")
    bob_view, ada_view = ("\n".join(texts(game, seat)) for seat in (1, 0))
    assert "bob fouls: illegal." in bob_view
    assert "bob fouls: illegal." in ada_view
    assert "Choice 99 of" in bob_view
    assert "Traceback" in bob_view
    assert "Choice 99 of" not in ada_view
    assert "Traceback" not in ada_view


@pytest.mark.parametrize(
    ("name", "row"), [("auction-draw", "  chips "), ("paid-draw", "  scores "), ("draw", "")]
)
def test_a_frame_shows_scores_or_chips_where_a_round_costs_some(name: str, row: str) -> None:
    game = log_game(short(name), 2, any_of(name))
    rows = [frame for frame in frames(walk_log(game), 0) if isinstance(frame.record, ChoiceRecord)]
    assert rows
    for frame in rows:
        text = draw_frame(frame, LOOK).plain
        assert row in text if row else "  scores " not in text and "  chips " not in text


def texts(game: LoggedGame, seat: int | None = None, look: Look = LOOK) -> list[str]:
    return [draw_frame(frame, look).plain for frame in frames(walk_log(game), seat)]


def test_notes_of_bots_command_neither_the_terminal_nor_rich(tmp_path: Path) -> None:
    result = replay(write(tmp_path / "log.jsonl", log_game(note=DEVIL)))
    assert r"note      [red]hi[/red] \x1b[2J\u202e" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_seat_is_chosen_by_number_or_by_name(log: Path) -> None:
    assert replay(log, "--seat", "bob").stdout == replay(log, "--seat", 1).stdout
    assert replay(log, "--seat", "bob").stdout != replay(log).stdout
    assert "did you mean bob" in replay(log, "--seat", "bobb").stderr


def event(tmp_path: Path, games: int) -> Path:
    played_games = [log_game(board=board) for board in range(1, games + 1)]
    write(tmp_path / "games" / "1-9.ada.bob.jsonl", *played_games)
    return tmp_path


def test_a_list_of_games_ends_after_50(tmp_path: Path) -> None:
    lines = replay(event(tmp_path, 52)).stdout.splitlines()
    assert len(lines) == 51
    assert lines[0] == "1.game  ada 0 – 6 bob"
    assert lines[-1] == "... and 2 more; name one to show it."


def test_a_folder_without_games_is_the_users_error(tmp_path: Path) -> None:
    assert replay(tmp_path).exit_code == 2


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        (ChoiceRecord, {"choice": 77}, "choice 77 of 3, counted from 0"),
        (ChoiceRecord, {"seat": 0}, "seat 0 was not asked"),
        (DealRecord, {"round": 2}, "deal 1 of round 2 is dealt out of order"),
        (DealRecord, {"deal": 0}, "deal 0 of round 1 is dealt out of order"),
        (DealRecord, {"leader": 2}, "the deal is not one of these rules"),
        (DealRecord, {"hands": ()}, "the deal is not one of these rules"),
        (DealRecord, {"lots": (Lot(9, (0, 0)),)}, "the deal is not one of these rules"),
        (RoundRecord, {"points": (1, 1)}, "the round does not end so"),
        # The reader refuses these before the rules are asked; the rules refuse them too.
        (ChoiceRecord, {"seat": 3}, "it is not about 2 seats"),
        (GameResult, {"places": ()}, "a result of 2 seats has not as many scores and places"),
    ],
)
def test_a_log_that_does_not_fit_is_the_users_error(
    tmp_path: Path, kind: type[LogRecord], fields: dict[str, object], sentence: str
) -> None:
    game = changed(log_game(), kind, **fields)
    with pytest.raises(DamagedLogError):
        list(walk_log(game))
    result = replay(write(tmp_path / "log.jsonl", game))
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_a_game_is_drawn_frame_by_frame(log: Path, snapshot: SnapshotAssertion) -> None:
    assert replay(log, "--all").stdout == snapshot


def test_a_person_is_addressed_as_you() -> None:
    seat_frames = frames(walk_log(log_game()), 0)
    words = "\n".join(draw_frame(frame, Look(("you", "bob"))).plain for frame in seat_frames)
    assert "You play [" in words
    assert "bob plays [" in words
    assert "It is your turn." in words
    assert "you plays" not in words
