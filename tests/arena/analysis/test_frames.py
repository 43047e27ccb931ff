"""What a seat sees from its messages alone is what a replay shows of that seat."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from arena.analysis.frames import Frame, LiveFrames, frames
from arena.analysis.timeline import walk_log
from arena.engine.structs import Hand
from arena.logs.gamelog import LoggedGame
from protocol.codec import decode_from_referee
from protocol.messages import Ask, GameOver, GameStarts, RoundOver, ToBot
from protocol.records import Result, RoundRecord
from tests.support.fast_run import FAST_TABLES, slow_except
from tests.support.golden import short
from tests.support.logged_games import GAMES, NAMES, any_of, heard


def game_and_messages(name: str, seats: int) -> tuple[LoggedGame, list[list[ToBot]]]:
    """Return a game of this name, and what each seat is told in it."""
    game, lines = heard(short(name), seats, any_of(name))
    return game, [[*map(decode_from_referee, own)] for own in lines]


def seen(messages: list[ToBot]) -> Iterator[Frame]:
    first, *others = messages
    assert isinstance(first, GameStarts)
    sight = LiveFrames(first, NAMES[: first.seats])
    for message in others:
        assert isinstance(message, Ask | RoundOver | GameOver)
        yield sight.frame(message)


def plain(frame: Frame) -> Frame:
    return replace(frame, events=(), record=None, turn=None, options=())


# Slow: at every table a person sees what the replay of the seat shows.
@pytest.mark.parametrize(("name", "seats"), slow_except(FAST_TABLES, GAMES))
def test_a_person_sees_what_the_replay_of_its_seat_shows(name: str, seats: int) -> None:
    game, told = game_and_messages(name, seats)
    for seat, messages in enumerate(told):
        own, replayed = list(seen(messages)), list(frames(walk_log(game), seat))
        happened = [event for frame in own for event in frame.events]
        assert happened == [event for frame in replayed for event in frame.events]
        ends = [
            [replace(plain(one), pot=None) for one in all_ if isinstance(one.record, RoundRecord)]
            for all_ in (own, replayed)
        ]
        assert ends[0] == ends[1]
        last = own[-1].record
        assert isinstance(last, Result)
        assert game.result
        assert (last.scores, last.places, last.why) == (
            game.result.scores,
            game.result.places,
            game.result.why,
        )


# Slow: at every table a question is shown as it was asked.
@pytest.mark.parametrize(("name", "seats"), slow_except(FAST_TABLES, GAMES))
def test_a_question_is_shown_as_it_was_asked(name: str, seats: int) -> None:
    for messages in game_and_messages(name, seats)[1]:
        for message, frame in zip(messages[1:], seen(messages), strict=True):
            if isinstance(message, Ask):
                assert frame.options == message.options
                assert frame.turn == message.seat
                assert frame.hands[message.seat] == message.hand
                assert frame.line == message.line


def table(frame: Frame, seat: int) -> tuple[object, ...]:
    """Return what lies on the table, whatever the order in a hand."""
    hands = [
        tuple(sorted(hand)) if at == seat and not isinstance(hand, int) else size(hand)
        for at, hand in enumerate(frame.hands)
    ]
    return frame.round, frame.line, tuple(hands), size(frame.stock), frame.drawable


def size(tiles: Hand | int) -> int:
    return tiles if isinstance(tiles, int) else len(tiles)


# Slow: at every table.
@pytest.mark.parametrize(("name", "seats"), slow_except(FAST_TABLES, GAMES))
def test_moves_lead_to_each_message_over_tables_of_the_replay(name: str, seats: int) -> None:
    game, told = game_and_messages(name, seats)
    several = 0
    for seat, (first, *messages) in enumerate(told):
        assert isinstance(first, GameStarts)
        sight = LiveFrames(first, NAMES[:seats])
        replayed = {table(frame, seat) for frame in frames(walk_log(game), seat)}
        for message, frame in zip(messages, seen(told[seat]), strict=True):
            assert isinstance(message, Ask | RoundOver | GameOver)
            *early, last = sight.moves(message)
            assert replace(last, events=frame.events) == frame
            together = [event for one in (*early, last) for event in one.events]
            assert together == [*frame.events]
            for one in early:
                assert table(one, seat) in replayed
                assert not one.options
                assert one.record is None
                assert not one.pips
                others = [hand for at, hand in enumerate(one.hands) if at != seat]
                assert all(isinstance(hand, int) for hand in others)
            several += len(early)
    assert several > 5
