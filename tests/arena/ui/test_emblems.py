"""Emblems of entrants, which stand for them on every page."""

from arena.ui.html import emblem_numbers


def test_an_emblem_is_a_place_among_the_events_entrants() -> None:
    assert emblem_numbers(["ada", "bob", "\x1b"], ("bob", "eve", "\x1b")) == {"bob": 1, "\\x1b": 2}
    assert emblem_numbers(["ada", "bob", "eve"], ("bob",)) == {"bob": 1}
