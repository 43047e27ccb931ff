"""What a seat is sent, and when, does not depend on what is hidden from it.

All that is hidden is dealt anew, the same public game is played, and the byte stream to the seat
from the game's beginning and the moments of its questions must be the same. Every measure has its
leak below: a referee without the measure, which must be caught.
"""

import random
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from arena import referee as rulings
from arena.bots import Bot
from arena.engine import game as engine
from arena.engine import view
from arena.engine.state import Game
from arena.referee import Referee, Seating
from arena.variants import VARIANTS, named
from protocol.messages import Ask, Bye, GameStarts, Keep, RoundOver, Said
from protocol.rules import Ruleset, tables, varied
from tests.arena.interference import Difference, Forced, differences
from tests.arena.tables import misbehaving, play, sample
from tests.rulesets import seated

Patch = Callable[[pytest.MonkeyPatch], None]

lucks = st.randoms(use_true_random=False)
numbers = st.integers(0, 2**32)


@settings(max_examples=40)
@given(seated(), numbers, lucks)
def test_neither_bytes_nor_moments_tell_what_is_hidden(
    table: tuple[Ruleset, int], number: int, luck: random.Random
) -> None:
    """Every turn is a question here."""
    assert not list(differences(*table, number, luck))


@settings(max_examples=40)
@given(seated(), numbers, lucks)
def test_no_byte_tells_what_is_hidden_where_only_options_are_not_asked(
    table: tuple[Ruleset, int], number: int, luck: random.Random
) -> None:
    """The moments tell it: see the leak "an only option is not asked"."""
    found = differences(*table, number, luck, forced="skip")
    assert not [one for one in found if one.what == "bytes"]


@pytest.mark.parametrize("name", VARIANTS)
def test_no_named_game_tells_what_is_hidden(name: str) -> None:
    for seats in tables(named(name)):
        assert not list(differences(named(name), seats, seats, random.Random(name)))


@pytest.mark.slow
@settings(max_examples=120)
@given(seated(), numbers, lucks)
def test_many_more_rulesets_tell_nothing(
    table: tuple[Ruleset, int], number: int, luck: random.Random
) -> None:
    assert not list(differences(*table, number, luck))


# --- referees that leak ---


class Leak(NamedTuple):
    """A referee that tells something, and where that shows."""

    what: str
    """"bytes" or "moments"."""
    patch: Patch
    rules: Ruleset = named("draw")
    seats: int = 3
    forced: Forced = "ask"


def in_question(tell: Callable[[Game, int], dict[str, Any]]) -> Patch:
    """A leak in the view: fields of a question that tell what the seat may not know."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        honest = view.question

        def leaking(game: Game, seat: int, *rest: Any, **more: Any) -> Ask:
            return replace(honest(game, seat, *rest, **more), **tell(game, seat))

        monkeypatch.setattr(view, "question", leaking)

    return patch


def instead(method: str) -> Callable[[Callable[..., None]], Patch]:
    """A leak in the referee: a function that is called in the place of one of its methods."""

    def decorated(leaking: Callable[..., None]) -> Patch:
        def patch(monkeypatch: pytest.MonkeyPatch) -> None:
            honest = getattr(Referee, method)

            def called(self: Referee, *words: Any, **more: Any) -> None:
                leaking(self, honest, *words, **more)

            monkeypatch.setattr(Referee, method, called)

        return patch

    return decorated


def after(game: Game, seat: int) -> Game:
    """The same game with the next seat to move."""
    return replace(game, round=replace(game.playing, turn=(seat + 1) % game.seats))


def reordered(game: Game, seat: int) -> dict[str, Any]:
    events = [view.seen_by_others(event) for event in game.playing.events]
    heaviest = max(game.playing.hands[(seat + 1) % game.seats], default=(0, 0))
    return {"events": events[::-1] if heaviest == (6, 6) else events}


def names_drawn_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "seen_by_others", lambda event: event)


def shows_hands_as_they_were_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = view.round_over

    def leaking(game: Game, *rest: Any) -> RoundOver:
        return replace(honest(game, *rest), hands=game.playing.hands)

    monkeypatch.setattr(view, "round_over", leaking)


def asks_only_who_may_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = rulings.asks
    monkeypatch.setattr(
        rulings,
        "asks",
        lambda clock, options, fouled: (
            options != (Keep(),) and honest(clock, options, fouled=fouled)
        ),
    )


@instead("_ask")
def shows_a_round_too_early(self: Any, honest: Any, seat: int, options: Any) -> None:
    state = self._game.playing
    nothing = (0,) * self._game.seats
    self._say(
        seat,
        RoundOver(
            game=1, round=state.number, why="blocked", hands=state.hands,
            pips=nothing, points=nothing, scores=nothing, events=[],
        ),
    )  # fmt: skip
    honest(self, seat, options)


@instead("_ask")
def numbers_all_questions_alike(self: Any, honest: Any, seat: int, options: Any) -> None:
    self._asked = [max(self._asked)] * len(self._asked)
    honest(self, seat, options)


@instead("_ask")
def shares_one_bank(self: Any, honest: Any, seat: int, options: Any) -> None:
    self._bank_ms = [min(self._bank_ms)] * len(self._bank_ms)
    honest(self, seat, options)


@instead("_say")
def pads_by_the_others_pips(self: Any, honest: Any, seat: int, message: Said) -> None:
    honest(self, seat, message)
    if isinstance(message, Ask):
        _, line = self._outgoing.pop()
        others = self._game.playing.hands[seat - 1]
        self._outgoing.append((seat, line[:-1] + b" " * sum(chain(*others)) + b"\n"))


@instead("_say")
def says_who_plays(self: Any, honest: Any, seat: int, message: Said) -> None:
    if isinstance(message, GameStarts):
        message = replace(message, target=self._seating.seats)
    honest(self, seat, message)


@instead("_accept")
def tells_how_long_the_others_thought(
    self: Any, honest: Any, question: Any, said: Any, ms: float
) -> None:
    for seat in range(self._game.seats):
        self._say(seat, Bye(why=f"Seat {question.seat} thought for {ms} ms."))
    honest(self, question, said, ms)


@instead("_accept")
def reads_notes_aloud(self: Any, honest: Any, question: Any, said: Any, ms: float) -> None:
    for seat in range(self._game.seats):
        self._say(seat, Bye(why=said.note))
    honest(self, question, said, ms)


@instead("_ignore")
def complains_of_the_others_lines(
    self: Any, honest: Any, seat: int, ms: float, line: bytes
) -> None:
    for other in range(self._game.seats):
        self._say(other, Bye(why=line.decode()))
    honest(self, seat, ms, line)


@instead("lost")
def names_a_tile_in_a_foul(
    self: Any, honest: Any, seat: int, foul: Any, detail: str, **more: Any
) -> None:
    honest(self, seat, foul, f"{detail} {self._game.playing.hands[seat - 1]}", **more)


@instead("lost")
def tells_everybody_of_a_foul(
    self: Any, honest: Any, seat: int, foul: Any, detail: str, **more: Any
) -> None:
    for other in range(self._game.seats):
        self._say(other, Bye(why=f"{detail} {more['line']!r}"))
    honest(self, seat, foul, detail, **more)


@instead("__init__")
def numbers_games_by_the_seed(self: Any, honest: Any, seating: Seating, seed: bytes) -> None:
    honest(self, replace(seating, number=int.from_bytes(seed[:3])), seed)


@instead("__init__")
def numbers_games_by_the_board(self: Any, honest: Any, seating: Seating, seed: bytes) -> None:
    honest(self, replace(seating, number=seating.board), seed)


def nothing(_: pytest.MonkeyPatch) -> None:
    """Not the referee leaks here, but the setting."""


REFUSING = varied(named("draw"), "refusing", {"refuse_doubles": 2})
GUESSING = varied(named("draw"), "guessing", {"first": "odd_even", "later": "again"})

LEAKS: dict[str, Leak] = {
    "another seat's hand": Leak(
        "bytes", in_question(lambda game, _: {"hands": game.playing.hands})
    ),
    "the boneyard's next tile": Leak(
        "bytes", in_question(lambda game, _: {"pot": game.playing.stock[0][:1]})
    ),
    "the boneyard's order": Leak(
        "bytes",
        in_question(lambda game, _: {"pot": game.playing.stock[0] > game.playing.stock[0][::-1]}),
    ),
    "what the next seat could do": Leak(
        "bytes", in_question(lambda game, seat: {"pot": len(engine.legal(after(game, seat)))})
    ),
    "lots that are not shown": Leak(
        "bytes",
        in_question(lambda game, _: {"events": list(game.playing.aside.lots)}),
        GUESSING,
        2,
    ),
    "the order of events": Leak("bytes", in_question(reordered)),
    "a drawn tile": Leak("bytes", names_drawn_tiles),
    "the order in which a hand was drawn": Leak("bytes", shows_hands_as_they_were_drawn),
    "a round before its end": Leak("bytes", shows_a_round_too_early),
    "question numbers across seats": Leak("bytes", numbers_all_questions_alike, forced="skip"),
    "another seat's bank": Leak("bytes", shares_one_bank),
    "another seat's thinking time": Leak("bytes", tells_how_long_the_others_thought),
    "another seat's note": Leak("bytes", reads_notes_aloud),
    "another seat's stray line": Leak("bytes", complains_of_the_others_lines),
    "another seat's foul": Leak("bytes", tells_everybody_of_a_foul),
    "another's name": Leak("bytes", says_who_plays),
    "the length of a line": Leak("bytes", pads_by_the_others_pips),
    "a tile in an error text": Leak("bytes", names_a_tile_in_a_foul),
    "the seed in an id": Leak("bytes", numbers_games_by_the_seed),
    "the board in an id": Leak("bytes", numbers_games_by_the_board),
    "an only option is not asked": Leak("moments", nothing, forced="skip"),
    "only who may refuse a deal is asked": Leak("moments", asks_only_who_may_refuse, REFUSING),
}
GAMES = 40
"""Games in which a leak must show; most show in the first."""


def found(leak: Leak, games: int = GAMES) -> Iterator[Difference]:
    for number in range(games):
        luck = random.Random(number)
        yield from differences(leak.rules, leak.seats, number, luck, forced=leak.forced)


@pytest.mark.parametrize("what", LEAKS)
def test_a_leak_is_caught(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leak = LEAKS[what]
    leak.patch(monkeypatch)
    caught = next(found(leak), None)
    assert caught is not None, "Nothing was seen of it."
    assert caught.what == leak.what


@pytest.mark.parametrize(
    ("rules", "seats"), sorted({(leak.rules.name, leak.seats) for leak in LEAKS.values()})
)
def test_an_honest_referee_is_not_caught_at_the_same_tables(rules: str, seats: int) -> None:
    """So it is the leak that is caught, not the test."""
    chosen = {leak.rules.name: leak.rules for leak in LEAKS.values()}[rules]
    assert not list(found(Leak("bytes", nothing, chosen, seats), GAMES // 4))


# --- real processes ---


async def test_last_words_reach_no_other_seat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a bot writes to stderr stands in the log, and is said to nobody."""
    told: dict[Bot, bytes] = {}
    honest = Bot.say

    def noting(self: Bot, line: bytes) -> None:
        told[self] = told.get(self, b"") + line
        honest(self, line)

    monkeypatch.setattr(Bot, "say", noting)
    log = tmp_path / "log.jsonl"
    await play([sample(), misbehaving("gone"), sample()], log)
    assert b"my last words" in log.read_bytes()
    assert len(told) == 3
    assert all(b'"type":"bye"' in lines for lines in told.values())
    assert not [lines for lines in told.values() if b"last words" in lines]
