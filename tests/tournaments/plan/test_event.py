"""The plan of a tournament: its texts are safe to show."""

import pytest
from msgspec.structs import replace

from protocol.errors import UserError
from tests.support.planned_events import event


@pytest.mark.parametrize("evil", ["\x1b[31m", "\u202e", "\x9b"])
def test_texts_of_a_strangers_event_steer_no_terminal(evil: str) -> None:
    plan = event(2)
    with pytest.raises(UserError, match="control character"):
        replace(plan, title=evil)
    with pytest.raises(UserError, match="control character"):
        replace(plan, rules=replace(plan.rules, name=evil))
