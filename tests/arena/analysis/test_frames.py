"""The screen of a person in a running game shows what a replay of that seat shows."""

from itertools import chain
from unittest.mock import Mock

import pytest

from arena.analysis.frames import Frame, LiveFrames, frames
from arena.analysis.timeline import Timeline, setup_of, walk_log
from protocol.codec import decode_from_referee
from protocol.messages import Ask
from tests.support.fast_run import FAST_TABLES
from tests.support.pages import pairs


def events(sequence: list[Frame]) -> list[object]:
    return [event for frame in sequence for event in frame.events]


@pytest.mark.parametrize(("name", "seats"), FAST_TABLES)
def test_a_person_sees_the_same_in_every_world_of_its_seat(name: str, seats: int) -> None:
    """A person also sees what a replay of that seat shows, with the question that was sent."""
    for seat, *worlds in pairs(name, seats, 4):
        histories = []
        for game in worlds:
            timeline, records = Timeline(game), [game.game, *game.records]
            live = LiveFrames(Mock(setup=setup_of(game), unlogged=records), seat)
            messages = [*map(decode_from_referee, map(timeline.line, timeline.questions(seat)))]
            histories.append([live.moves(ask) for ask in messages if isinstance(ask, Ask)])
            for ask, (*_, last) in zip(messages, histories[-1], strict=True):
                assert isinstance(ask, Ask)
                ask_fields = (ask.options, ask.seat, ask.hand, ask.line)
                assert (last.options, last.turn, last.hands[seat], last.line) == ask_fields
            assert events([*chain(*histories[-1])]) == events([*frames(walk_log(game), seat)])
        assert histories[0] == histories[1] != []
