"""The view of a game from one seat: the only place where messages are built from the whole truth.

Each message is built from nothing, field by field, so that a seat learns only what it may know.
"""

from collections.abc import Sequence
from functools import cache

from msgspec import UNSET, UnsetType

from arena.engine import scoring
from arena.engine.state import Game, Onlooker, Round
from arena.engine.tables import Bit, TileTable
from protocol.codec import QuestionForm, encode_event, encode_json, encode_round_over
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


class LineWriter:
    """The writer of one game's questions and round ends: it encodes once what many lines repeat.

    A question is the form of its seat, which stays for most of a round, filled with what changes;
    each event is encoded once and then stands in a buffer for each seat.
    """

    def __init__(self, game: Game, number: int) -> None:
        """Write for the seats of this game, which has this number on their pipes."""
        self._game = game
        self._number = number
        self._tiles = encoded_tiles(game.settings.table)
        self._forms: list[QuestionForm | None] = [None] * game.seats
        self._buffers = [bytearray() for _ in range(game.seats)]
        self._event_count = 0
        self._round = 0

    def question(self, seat: int, options: tuple[Option, ...], id: int, time_ms: int) -> bytes:
        """Return the line of `question` with the round so far as this seat saw it."""
        game = self._game
        state = game.round
        assert state is not None, "A seat is to move."
        if len(state.history) != self._event_count or state.number != self._round:
            self._advance(state)
        form = self._forms[seat]
        if form is None or not form.fits(time_ms, game.scores, game.pot):
            form = self._forms[seat] = QuestionForm(
                seat, self._number, state.number, time_ms, game.scores, game.pot
            )
        layout, ends = state.layout, state.ends
        return form.fill(
            id,
            map(self._tiles.__getitem__, state.hand_bits[seat]),
            layout,
            (ends.left, ends.right) if layout else (),
            state.stock_size,
            state.drawable,
            state.sizes,
            self._buffers[seat],
            options,
        )

    def round_over(self) -> list[bytes]:
        """Return for each seat the line of `round_over`, with the whole round as it saw it."""
        self._advance(self._game.playing)
        return encode_round_over(round_over(self._game, self._number, []), self._buffers)

    def _advance(self, state: Round) -> None:
        """Add the events since the last call; a new round begins with an empty history."""
        if state.number != self._round:
            self._buffers = [bytearray() for _ in self._buffers]
            self._forms = [None] * len(self._forms)
            self._event_count, self._round = 0, state.number
        for event in state.history[self._event_count :]:
            data = encode_event(seen_by_others(event))
            for buffer in self._buffers:
                buffer += data
            if type(event) is Drew:
                buffer = self._buffers[event.seat]
                buffer[-len(data) :] = encode_event(event)
        if not self._event_count:
            # Before the first event stands no comma.
            for buffer in self._buffers:
                del buffer[:1]
        self._event_count = len(state.history)


@cache
def encoded_tiles(table: TileTable) -> dict[Bit, bytes]:
    """Return each tile of a set as it stands in a hand."""
    return {bit: encode_json(tile) for bit, tile in table.tile.items()}


def seen_by_others(event: Event) -> Event:
    """Return an event as the other seats see it: a drawn tile is not named."""
    return Drew(event.seat) if type(event) is Drew else event


def history(state: Round, seat: int) -> list[Event]:
    """Return the round so far as this seat saw it, for callers in this process.

    The events that are sent come from a `LineWriter`, which encodes each event once.
    """
    return [
        event if type(event) is not Drew or event.seat == seat else seen_by_others(event)
        for event in state.history
    ]


def starting_events(
    game: Game, number: int, seat: int, clock: Clock, chances: Sequence[str] | UnsetType = UNSET
) -> GameStarts:
    """Return the message to a seat when a game begins; `chances`: sealed bots' seeds."""
    return GameStarts(
        game=number,
        seat=seat,
        seats=game.seats,
        partners=game.rules.deal.partners,
        rules=game.rules,
        target=game.target,
        clock=clock,
        seed=chances[seat] if clock.effort and chances else UNSET,
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
    """Return a question to the seat to move, with its own hand and what lies open."""
    state = game.playing
    ends = state.ends
    return Ask(
        id=id,
        game=number,
        round=state.number,
        time_ms=time_ms,
        seat=seat,
        hand=state.hand(seat),
        line=state.line,
        ends=(ends.left, ends.right) if state.layout else (),
        boneyard=Stock(state.stock_size, state.drawable),
        hands=state.sizes,
        scores=game.scores,
        pot=game.pot,
        events=events,
        options=options,
    )


def onlooker(game: Game) -> Onlooker:
    """Return the open table of a game in play, for somebody who does not play it."""
    state = game.playing
    return Onlooker(
        round=state.number,
        line=state.line,
        boneyard=Stock(state.stock_size, state.drawable),
        hands=state.sizes,
        scores=game.scores,
        pot=game.pot,
    )


def round_over(game: Game, number: int, events: list[Event]) -> RoundOver:
    """Return the message to a seat when a round is over: it shows all hands.

    They are sorted, because no seat saw the order in which others were dealt and drew tiles.
    """
    state = game.playing
    assert state.over is not None, "A round that is told of is over."
    return RoundOver(
        game=number,
        round=state.number,
        why=state.over,
        hands=tuple(tuple(sorted(hand, reverse=True)) for hand in state.hands),
        pips=scoring.pips_held(game, state),
        points=game.points,
        scores=game.scores,
        events=events,
    )


def game_over(
    number: int, why: WhyGame, scores: tuple[int, ...], places: tuple[int, ...]
) -> GameOver:
    """Return the message to every seat when a game is over."""
    return GameOver(game=number, why=why, scores=scores, places=places)
