"""The view of an onlooker of a running game: it shows no hand, whatever the hands are."""

from collections.abc import Iterator

import msgspec

from arena.analysis import frames
from arena.analysis.frames import SPECTATOR
from arena.analysis.text import Look, frame_sentences
from arena.analysis.timeline import walk_log
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import find_variant
from tests.support.fast_run import NAMED_TABLES
from tests.support.games import any_of, bob_fouls, log_game
from tests.support.pages import pairs
from tournaments.site.view import spectator_view


def view_bytes(game: LoggedGame) -> bytes:
    """Return the bytes of a table, as a viewer is sent them."""
    return msgspec.json.encode(spectator_view("sitting", game, "", everything=False))


def differences(tries: int) -> Iterator[str]:
    """Yield the games in which an onlooker could tell two worlds apart."""
    for name, seats in NAMED_TABLES:
        for _, world, other_world in pairs(name, seats, tries):
            if view_bytes(world) != view_bytes(other_world):
                yield f"{name} at {seats}"


def test_an_onlooker_is_sent_the_same_bytes_in_every_world() -> None:
    assert not list(differences(1))


def test_a_foul_is_shown_without_its_evidence() -> None:
    game = log_game(find_variant("draw"), 3, bob_fouls)
    cut = msgspec.structs.replace(game, records=game.records[:-4], result=None)
    assert b"bob fouls: illegal." in b"".join(map(_words, frames.frames(walk_log(cut), SPECTATOR)))
    assert b"Choice 99" not in view_bytes(cut)
    view = spectator_view("sitting", game, "", everything=False)
    assert view
    assert view.over


def _words(frame: frames.Frame) -> bytes:
    return " ".join(frame_sentences(frame, Look(("ada", "bob", "cyd", "dan")))).encode()


def test_hands_are_open_if_everything_is_asked_for() -> None:
    game = log_game(find_variant("draw"), 2, any_of(1))
    cut = msgspec.structs.replace(game, records=game.records[:9], result=None)
    for everything in (False, True):
        playing = spectator_view("sitting", cut, "", everything=everything)
        assert playing
        assert not playing.over
        is_closed = all(isinstance(hand, int) for hand in playing.scene.hands)
        assert is_closed is not everything
