"""Referees that leak one thing each: every measure of secrecy has one that lacks it."""

import json
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from msgspec.structs import replace

from arena import engine
from arena.engine import view
from arena.engine.state import Game
from arena.engine.view import LineWriter
from arena.match.referee import Chance, GameSetup, Referee, needs_answer
from arena.rules.variants import find_variant
from protocol.codec import Fault, encode_json
from protocol.messages import Bye, Clock, GameStarts, Keep, Option, RefereeMessage, RoundOver
from protocol.ruleset import Ruleset, derive
from tests.support.interference import Begin, Forced
from tests.support.random_rounds import Asks


class Leak(NamedTuple):
    """A referee that tells something, and where that shows."""

    what: str
    """"bytes" or "moments"."""
    begin: Begin
    rules: Ruleset = find_variant("draw")
    seats: int = 3
    forced: Forced = "ask"
    asks: Asks = needs_answer


def in_question(tell: Callable[[Game, int], dict[str, Any]]) -> Begin:
    """Return a leak in the view: fields of a question that tell what the seat may not know."""

    class Telling(LineWriter):
        def question(self, seat: int, *rest: Any, **more: Any) -> bytes:
            ask = json.loads(super().question(seat, *rest, **more))
            return encode_json(ask | tell(self._game, seat)) + b"\n"

    return partial(Referee, writer=Telling)


def instead(method: str) -> Callable[[Callable[..., None]], Begin]:
    """Return a leak in the referee: a function that is called in the place of one of its
    methods."""

    def decorated(leaking: Callable[..., None]) -> Begin:
        honest = getattr(Referee, method)

        def called(self: Referee, *words: Any, **more: Any) -> None:
            leaking(self, honest, *words, **more)

        return type(leaking.__name__, (Referee,), {method: called})

    return decorated


def after(game: Game, seat: int) -> Game:
    """Return the same game with the next seat to move."""
    other = game.copy()
    other.playing.turn = (seat + 1) % game.seats
    return other


def reordered(game: Game, seat: int) -> dict[str, Any]:
    events = [view.seen_by_others(event) for event in game.playing.events]
    heaviest = max(game.playing.hands[(seat + 1) % game.seats], default=(0, 0))
    return {"events": events[::-1] if heaviest == (6, 6) else events}


class ShowsHandsAsTheyWereDrawn(LineWriter):
    """A leak in the view of a round's end."""

    def round_over(self) -> list[bytes]:
        shown = {"hands": self._game.playing.hands}
        return [encode_json(json.loads(line) | shown) + b"\n" for line in super().round_over()]


def may_refuse(clock: Clock, options: tuple[Option, ...], *, fouled: bool) -> bool:
    return options != (Keep(),) and needs_answer(clock, options, fouled=fouled)


@instead("_ask")
def asks_only_who_may_refuse(self: Any, honest: Any, seat: int, options: Any) -> None:
    if may_refuse(self.setup.clock, options, fouled=False):
        honest(self, seat, options)
    else:
        engine.act_unchecked(self._game, options[0])
        self._go_on()


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


@instead("_send")
def pads_by_the_others_pips(self: Any, honest: Any, seat: int, line: bytes) -> None:
    if b'"type":"ask"' in line:
        others = self._game.playing.hands[seat - 1]
        line = line[:-1] + b" " * sum(chain(*others)) + b"\n"
    honest(self, seat, line)


@instead("_say")
def says_who_plays(self: Any, honest: Any, seat: int, message: RefereeMessage) -> None:
    if isinstance(message, GameStarts):
        message = replace(message, target=self.setup.seats)
    honest(self, seat, message)


@instead("_accept")
def tells_how_long_the_others_thought(
    self: Any, honest: Any, question: Any, said: Any, ms: float, *rest: Any
) -> None:
    for seat in range(self._game.seats):
        self._say(seat, Bye(why=f"Seat {question.seat} thought for {ms} ms."))
    honest(self, question, said, ms, *rest)


@instead("_accept")
def reads_notes_aloud(self: Any, honest: Any, question: Any, said: Any, *rest: Any) -> None:
    for seat in range(self._game.seats):
        self._say(seat, Bye(why=said.note))
    honest(self, question, said, *rest)


@instead("receive")
def complains_of_the_others_lines(
    self: Any, honest: Any, seat: int, line: bytes, *rest: Any, **more: Any
) -> None:
    stale = self._stale[seat]
    honest(self, seat, line, *rest, **more)
    for other in range(self._game.seats if self._stale[seat] > stale else 0):
        self._say(other, Bye(why=line.decode()))


@instead("forfeit")
def names_a_tile_in_a_foul(self: Any, honest: Any, seat: int, fault: Fault, **more: Any) -> None:
    detail = f"{fault.detail} {self._game.playing.hands[seat - 1]}"
    honest(self, seat, Fault(fault.foul, detail), **more)


@instead("forfeit")
def tells_everybody_of_a_foul(self: Any, honest: Any, seat: int, fault: Fault, **more: Any) -> None:
    for other in range(self._game.seats):
        self._say(other, Bye(why=f"{fault.detail} {more['line']!r}"))
    honest(self, seat, fault, **more)


def numbers_games_by_the_seed(setup: GameSetup, seed: bytes, chance: Chance) -> Referee:
    return Referee(replace(setup, number=int.from_bytes(seed[:3])), seed, chance)


def numbers_games_by_the_board(setup: GameSetup, seed: bytes, chance: Chance) -> Referee:
    return Referee(replace(setup, number=setup.board), seed, chance)


REFUSING = derive(find_variant("draw"), "refusing", {"refuse_doubles": 2})
GUESSING = derive(find_variant("draw"), "guessing", {"first": "odd_even", "later": "lot"})

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
        "bytes", in_question(lambda game, _: {"events": list(game.playing.phase.lots)}), GUESSING, 2
    ),
    "the order of events": Leak("bytes", in_question(reordered)),
    "a drawn tile": Leak("bytes", in_question(lambda game, _: {"events": game.playing.events})),
    "the order in which a hand was drawn": Leak(
        "bytes", partial(Referee, writer=ShowsHandsAsTheyWereDrawn)
    ),
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
    # Not the referee leaks here, but the setting.
    "an only option is not asked": Leak("moments", Referee, forced="skip"),
    "only who may refuse a deal is asked": Leak(
        "moments", asks_only_who_may_refuse, REFUSING, asks=may_refuse
    ),
}
