"""The only door from truth to a seat: what it may know is built here from nothing."""

from typing import cast

from msgspec import Struct

from arena.engine import game as engine
from arena.engine.state import Game, Round
from protocol.codec import encode_event, encoded_events
from protocol.messages import (
    Ask,
    Clock,
    Drew,
    Event,
    GameOver,
    GameStarts,
    Option,
    RoundOver,
    Stock,
    WhyGame,
)
from protocol.tiles import Tile


class Memory:
    """What each seat has seen of a round, every event encoded once."""

    def __init__(self, seats: int) -> None:
        self._seen = [bytearray() for _ in range(seats)]
        self._known = 0
        self._round = 0

    def advance(self, state: Round) -> None:
        """Add what has happened since the last call; a new round begins with nothing."""
        if state.number != self._round:
            self._seen = [bytearray() for _ in self._seen]
            self._known, self._round = 0, state.number
        for event in state.events[self._known :]:
            shown = encode_event(seen_by_others(event))
            for seen in self._seen:
                seen += shown
            if isinstance(event, Drew):
                own = self._seen[event.seat]
                own[-len(shown) :] = encode_event(event)
        self._known = len(state.events)

    def events_for(self, seat: int) -> list[Event]:
        """The round so far as this seat saw it, encoded: a list that the codec copies unchanged."""
        return cast(list[Event], encoded_events(self._seen[seat]))


def seen_by_others(event: Event) -> Event:
    """An event as the seats see it that did not do it: a drawn tile is not named."""
    return Drew(event.seat) if isinstance(event, Drew) else event


def history(state: Round, seat: int) -> list[Event]:
    """The round so far as this seat saw it, for those who look at it in this process.

    What is sent comes from a `Memory`, which encodes each event once.
    """
    return [
        event if type(event) is not Drew or event.seat == seat else Drew(event.seat)
        for event in state.events
    ]


def starting_events(game: Game, number: int, seat: int, clock: Clock) -> GameStarts:
    """What a seat is told when a game begins."""
    return GameStarts(
        game=number,
        seat=seat,
        seats=game.seats,
        partners=game.rules.deal.partners,
        rules=game.rules,
        target=game.target,
        clock=clock,
    )


def question(
    game: Game,
    seat: int,
    options: tuple[Option, ...],
    events: list[Event],
    *,
    id: int,
    number: int,
    time_ms: int,
) -> Ask:
    """A question to the seat to move: its own hand, and of the rest what lies open."""
    state = game.playing
    line = state.line
    return Ask(
        id=id,
        game=number,
        round=state.number,
        time_ms=time_ms,
        seat=seat,
        hand=state.hands[seat],
        line=line,
        ends=(line[0][0], line[-1][1]) if line else (),
        boneyard=Stock(sum(map(len, state.stock)), state.drawable),
        hands=tuple(map(len, state.hands)),
        scores=game.scores,
        pot=game.pot,
        events=events,
        options=options,
    )


class Onlooker(Struct, frozen=True):
    """What lies open on the table: what somebody knows who sits at no seat."""

    round: int
    """The round's number in the game, from 1."""
    line: tuple[Tile, ...]
    """The line as it lies, from left to right, each tile [left, right]."""
    boneyard: Stock
    """What is left to draw."""
    hands: tuple[int, ...]
    """How many tiles each seat holds."""
    scores: tuple[int, ...]
    """Points of each seat so far."""
    pot: int
    """Points in the pot; 0 where nothing is paid."""


def onlooker(game: Game) -> Onlooker:
    """What is shown of a game that is being played to whoever does not play it."""
    state = game.playing
    return Onlooker(
        round=state.number,
        line=state.line,
        boneyard=Stock(sum(map(len, state.stock)), state.drawable),
        hands=tuple(map(len, state.hands)),
        scores=game.scores,
        pot=game.pot,
    )


def round_over(game: Game, number: int, events: list[Event]) -> RoundOver:
    """What a seat is told when a round is over: all hands are shown.

    Sorted, for the order in which tiles were dealt and drawn was never seen.
    """
    state = game.playing
    assert state.over is not None, "A round that is told of is over."
    return RoundOver(
        game=number,
        round=state.number,
        why=state.over,
        hands=tuple(tuple(sorted(hand, reverse=True)) for hand in state.hands),
        pips=engine.pips(game),
        points=game.points,
        scores=game.scores,
        events=events,
    )


def game_over(
    number: int, why: WhyGame, scores: tuple[int, ...], places: tuple[int, ...]
) -> GameOver:
    """What every seat is told when a game is over."""
    return GameOver(game=number, why=why, scores=scores, places=places)
