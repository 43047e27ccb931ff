"""The plan of a tournament: its heading for readers."""

import pytest
from msgspec.structs import replace

from protocol.errors import UserError
from tests.support.planned_events import event


@pytest.mark.parametrize(
    ("name", "title", "bots", "heading"),
    [
        ("cup", "Cup of 10b", 2, "Cup of 10b"),
        ("cup", "", 2, "cup"),
        ("run", "", 3, "bot0, bot1 and bot2: draw"),
        ("event", "", 5, "5 bots: draw"),
    ],
)
def test_a_heading_is_the_title_the_name_or_who_plays(
    name: str, title: str, bots: int, heading: str
) -> None:
    assert replace(event(bots), name=name, title=title).heading == heading


@pytest.mark.parametrize("evil", ["\x1b[31m", "\u202e", "\x9b"])
def test_texts_of_a_strangers_event_steer_no_terminal(evil: str) -> None:
    one = event(2)
    with pytest.raises(UserError, match="control character"):
        replace(one, title=evil)
    with pytest.raises(UserError, match="control character"):
        replace(one, rules=replace(one.rules, name=evil))
