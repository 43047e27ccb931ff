"""The screen of a person in a running game shows what a replay of that seat shows."""

from itertools import repeat
from typing import NamedTuple
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from arena.analysis.frames import Frame, LiveFrames, frames
from arena.analysis.replay import setup_of
from arena.analysis.timeline import Timeline, walk_log
from arena.engine.shuffle import board_seed
from arena.engine.structs import Hand
from arena.logs.gamelog import LoggedGame
from arena.match.game_setup import GameSetup
from arena.match.referee import Referee
from protocol.codec import decode_from_referee, encode_line
from protocol.messages import Ask, Choose, Clock, GameOver, RoundOver
from tests.support.fast_run import FAST_TABLES
from tests.support.logged_games import NAMES, any_of, overhear
from tests.support.replay_pages import pairs
from tests.support.short_games import short

Message = Ask | RoundOver | GameOver


class Shown(NamedTuple):
    """A message to a seat, and the frames that its screen showed with it."""

    message: Message
    moves: list[Frame]


def screens(name: str, seats: int) -> tuple[LoggedGame, list[list[Shown]]]:
    """Return a game, and what each seat's screen showed of it while it was played."""
    setup = GameSetup("1.game", 1, 1, NAMES[:seats], short(name), Clock())
    referee, pick = Referee(setup, board_seed(b"render", "event", 1)), any_of(name)
    lives = [LiveFrames(referee, seat) for seat in range(seats)]
    shown: list[list[Shown]] = [[] for _ in lives]
    for live in lives:
        live.log = Mock()
    while True:
        lines = referee.take_outgoing()
        # A table logs several records at a time, and a screen is shown those that wait, too.
        records = referee.take_records() if len(lines) % 2 else []
        for live in lives:
            live.append(records)
        for seat, line in lines:
            message = decode_from_referee(line)
            if isinstance(message, Ask | RoundOver | GameOver):
                shown[seat].append(Shown(message, lives[seat].moves(message)))
        if (question := referee.awaiting) is None:
            break
        answer = encode_line(Choose(id=question.id, choice=pick(question)))[:-1]
        referee.receive(question.seat, answer, 1.5)
    played = overhear(setup, board_seed(b"render", "event", 1), any_of(name), repeat(1.5)).logged
    return played, shown


def events(some: list[Frame]) -> list[object]:
    return [event for frame in some for event in frame.events]


def table(frame: Frame, seat: int) -> tuple[object, ...]:
    """Return what lies on the table, whatever the order in a hand."""
    hands = [
        tuple(sorted(hand)) if at == seat and not isinstance(hand, int) else size(hand)
        for at, hand in enumerate(frame.hands)
    ]
    return frame.round, frame.line, tuple(hands), size(frame.stock), frame.drawable


def size(tiles: Hand | int) -> int:
    return tiles if isinstance(tiles, int) else len(tiles)


@pytest.mark.parametrize(("name", "seats"), FAST_TABLES)
def test_a_person_sees_what_the_replay_of_its_seat_shows(name: str, seats: int) -> None:
    game, shown = screens(name, seats)
    several = 0
    for seat, own in enumerate(shown):
        replayed = list(frames(walk_log(game), seat))
        assert events([frame for one in own for frame in one.moves]) == events(replayed)
        tables = {table(frame, seat) for frame in replayed}
        for message, (*early, last) in own:
            for one in early:
                assert table(one, seat) in tables
                assert (one.options, one.record, one.pips) == ((), None, ())
                assert all(isinstance(hand, int) for at, hand in enumerate(one.hands) if at != seat)
            several += len(early)
            if isinstance(message, Ask):
                told = (message.options, message.seat, message.hand, message.line)
                assert (last.options, last.turn, last.hands[seat], last.line) == told
            else:
                same = [one for one in replayed if one.record == last.record]
                assert [replace(last, events=())] == [replace(one, events=()) for one in same]
    assert several > 5


@pytest.mark.parametrize(("name", "seats"), FAST_TABLES)
def test_a_person_sees_the_same_in_every_world_of_its_seat(name: str, seats: int) -> None:
    for seat, *worlds in pairs(name, seats, 4):
        seen = []
        for game in worlds:
            timeline, known = Timeline(game), [game.game, *game.records]
            live = LiveFrames(Mock(setup=setup_of(game), unlogged=known), seat)
            asked = [decode_from_referee(timeline.line(one)) for one in timeline.questions(seat)]
            seen.append([live.moves(one) for one in asked if isinstance(one, Ask)])
        assert seen[0] == seen[1] != []
