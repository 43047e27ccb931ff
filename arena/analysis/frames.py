"""Frames: what everybody, one seat or a spectator sees at each moment of a replay or live game."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, groupby
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from arena import engine
from arena.analysis.timeline import Moment
from arena.engine import boneyard, view
from arena.engine.structs import Hand, Onlooker
from protocol.messages import (
    Ask,
    Drew,
    Event,
    GameOver,
    GameStarts,
    Option,
    Passed,
    Played,
    RoundOver,
    Stock,
    TurnedUp,
)
from protocol.records import ChoiceRecord, FoulRecord, LogRecord, Result, RoundRecord
from protocol.ruleset import Ruleset, count_sides, set_of_tiles
from protocol.tiles import Tile, high_first

Spectator = Literal["nobody"]
SPECTATOR: Spectator = "nobody"
"""The viewer who sees no hand before the end of the round."""
Viewer = int | Spectator | None
"""A viewer of a game: a seat, a spectator, or everybody together (None)."""


class Frame(Struct, frozen=True):
    """One moment of a game as a viewer sees it; nothing in it is hidden from that viewer."""

    round: int
    """The round's number, from 1."""
    turn: int | None
    """The seat to move; None if there is none."""
    events: tuple[Event, ...]
    """The events since the last frame."""
    line: tuple[Tile, ...]
    hands: tuple[Hand | int, ...]
    """The tiles of each seat, or their number."""
    pips: tuple[int, ...]
    """The pips of each hand, once the round is over."""
    stock: tuple[Tile, ...] | int
    """The tiles in the boneyard, or their number."""
    drawable: int
    options: tuple[Option, ...]
    """The options of the seat that was asked."""
    record: LogRecord | None
    """The answer or foul, or the end of the round or the game."""
    pot: int | None = None
    scores: tuple[int, ...] = ()
    """The points of each seat, or side, so far."""


def frames(moments: Iterable[Moment], seat: Viewer) -> Iterator[Frame]:
    """Yield the frames for everybody, a seat or a spectator; draws in a row are joined."""
    return (shown[0] for shown in frames_for(moments, (seat,)))


def frames_for(moments: Iterable[Moment], seats: Sequence[Viewer]) -> Iterator[tuple[Frame, ...]]:
    """Yield the frames of several viewers, those at which the first is shown something."""
    for together in join_draws(moments, seats[0]):
        yield tuple(reduce(_joined, (_frame(one, seat) for one in together)) for seat in seats)


def join_draws(moments: Iterable[Moment], seat: Viewer) -> Iterator[tuple[Moment, ...]]:
    """Yield the moments of each frame of a viewer; draws in a row are one frame."""
    waiting: tuple[Moment, ...] = ()
    for moment in moments:
        record = moment.record if seat is None else _shown_record(moment.record, seat)
        if not moment.events and record is None:
            # A seat kept the deal, or did not call a block: no other seat is told.
            continue
        if waiting and record is None and _goes_on_drawing((*waiting, moment)):
            waiting = (*waiting, moment)
            continue
        if waiting:
            yield waiting
        waiting = (moment,)
    if waiting:
        yield waiting


def places_in_replay(shown: Iterable[Sequence[Moment]]) -> dict[int, int]:
    """Return the place among these frames of each answer, by the index of its record."""
    return {one.index: at for at, some in enumerate(shown) for one in some if one.question}


def _joined(before: Frame, after: Frame) -> Frame:
    """Return one frame of two draws: the table after the last, the question before the first."""
    events = before.events + after.events
    return replace(after, events=events, options=before.options, record=before.record)


def _goes_on_drawing(together: Sequence[Moment]) -> bool:
    events = [event for moment in together for event in moment.events]
    seats = {event.seat if isinstance(event, Drew) else None for event in events}
    return len(seats) == 1 and None not in seats and all(moment.events for moment in together)


def _frame(moment: Moment, seat: Viewer) -> Frame:
    if seat is None:
        return _open(moment)
    return _public(moment) if seat == SPECTATOR else _seen(moment, seat)


def _open(moment: Moment) -> Frame:
    """Return the frame with everything in it."""
    state = moment.game.playing
    over = state.over is not None
    return Frame(
        round=state.number,
        turn=_turn(moment),
        events=moment.events,
        line=state.line,
        hands=state.hands,
        pips=engine.pips(moment.game) if over else (),
        stock=tuple(tile for row in state.stock for tile in row),
        drawable=state.drawable,
        options=moment.options,
        record=moment.record,
        pot=moment.game.pot if moment.game.rules.stakes.pot else None,
        scores=moment.game.scores,
    )


def _turn(moment: Moment, seat: Viewer = None) -> int | None:
    """Return the seat to move, but hide one that may refuse the deal: that reveals doubles."""
    state = moment.game.playing
    hidden = state.phase.name == "keep" and seat not in (None, state.turn)
    nobody = state.over or state.phase.name == "deal" or isinstance(moment.record, Result)
    return None if nobody or hidden else state.turn


def _seen(moment: Moment, seat: int) -> Frame:
    """Return the frame of a seat, built only from what the engine's view gives that seat."""
    table = view.question(moment.game, seat, (), [], id=0, number=0, time_ms=0)
    own = isinstance(moment.record, ChoiceRecord | FoulRecord) and moment.record.seat == seat
    return _viewed(moment, seat, table, _hands(table), moment.options if own else ())


def _public(moment: Moment) -> Frame:
    """Return the frame of a spectator, built only from what is public."""
    table = view.onlooker(moment.game)
    return _viewed(moment, SPECTATOR, table, table.hands, ())


def _viewed(
    moment: Moment,
    viewer: int | Spectator,
    table: Ask | Onlooker,
    hands: tuple[Hand | int, ...],
    options: tuple[Option, ...],
) -> Frame:
    """Return a frame of what a viewer is told; `hands` before the end of the round."""
    over = _round_over(moment)
    return Frame(
        round=table.round,
        turn=_turn(moment, viewer),
        events=_heard(moment, viewer),
        line=table.line,
        hands=over.hands if over else hands,
        pips=over.pips if over else (),
        stock=_tiles_left(moment.game.rules, over, table.line) if over else table.boneyard.tiles,
        drawable=table.boneyard.drawable,
        options=options,
        record=_shown_record(moment.record, viewer),
        pot=table.pot if moment.game.rules.stakes.pot else None,
        scores=table.scores,
    )


def _tiles_left(rules: Ruleset, over: RoundOver, line: Sequence[Tile]) -> tuple[Tile, ...]:
    """Return the boneyard at a round's end: the tiles that are neither in a hand nor laid."""
    out = {*chain(*over.hands), *map(high_first, line)}
    return tuple(tile for tile in set_of_tiles(rules.deal) if tile not in out)


def _round_over(moment: Moment) -> RoundOver | None:
    """Return the message to everybody at the end of a round, if this moment ends one."""
    ended = isinstance(moment.record, RoundRecord | Result)
    return view.round_over(moment.game, 0, []) if moment.game.playing.over and ended else None


def _heard(moment: Moment, seat: Viewer) -> tuple[Event, ...]:
    """Return the new events of the round as the viewer saw them."""
    return tuple(
        view.seen_by_others(event) if isinstance(event, Drew) and event.seat != seat else event
        for event in moment.events
    )


def _hands(table: Ask) -> tuple[Hand | int, ...]:
    """Return a seat's own tiles, and the number of tiles of each other seat."""
    return tuple(table.hand if at == table.seat else many for at, many in enumerate(table.hands))


def _shown_record(record: LogRecord | None, seat: Viewer) -> LogRecord | None:
    """Return a log record as a seat may see it: its own lines, others' fouls, and the ends."""
    match record:
        case ChoiceRecord() | FoulRecord() if record.seat == seat:
            return record
        case FoulRecord():
            return FoulRecord(seat=record.seat, foul=record.foul, detail="")
        case RoundRecord() | Result():
            return record
        case _:
            return None


# --- a running game ---


class LiveFrames:
    """A converter from the messages of one game to frames for the seat to which they were sent.

    All that a frame shows follows from the messages.
    """

    def __init__(self, starts: GameStarts, names: Sequence[str]) -> None:
        """Begin a game; `names` are the entrants by seat."""
        self._starts = starts
        self._names = tuple(names)
        self._known = 0
        sizes, scores = (0,) * starts.seats, (0,) * count_sides(starts.partners, starts.seats)
        self._last = Frame(0, None, (), (), sizes, (), 0, 0, (), None, None, scores)

    def frame(self, told: Ask | RoundOver | GameOver) -> Frame:
        """Return the frame after this message, with all events since the last."""
        moves = self.moves(told)
        return replace(moves[-1], events=tuple(chain(*(move.events for move in moves))))

    def moves(self, told: Ask | RoundOver | GameOver) -> list[Frame]:
        """Return a frame for each move since the last message."""
        if isinstance(told, GameOver):
            shown = [self._game_over(told)]
        else:
            end = self._known if told.round == self._last.round else 0
            self._known = len(told.events)
            shown = []
            for events in _turns(told.events[end:]):
                end += len(events)
                shown.append(self._frame(told, events, told.events[end:]))
        self._last = shown[-1]
        return shown

    def _game_over(self, told: GameOver) -> Frame:
        """Return the frame of the game's end, with the table as it was."""
        result = Result(
            game="",
            board=0,
            seats=self._names,
            scores=told.scores,
            places=told.places,
            rounds=self._last.round,
            why=told.why,
        )
        last = replace(self._last, turn=None, events=(), options=())
        return replace(last, record=result, scores=told.scores)

    def _frame(
        self, told: Ask | RoundOver, events: tuple[Event, ...], later: Sequence[Event]
    ) -> Frame:
        """Return the frame after these events; those before a message's `later` moves.

        What a round's end shows and scores is not known before it.
        """
        line = tiles_of_line(told.events[: len(told.events) - len(later)])
        stock = told.boneyard if isinstance(told, Ask) else self._stock_left(told)
        drawn = sum(isinstance(event, Drew) for event in later)
        asked = told if isinstance(told, Ask) and not later else None
        over = told if isinstance(told, RoundOver) and not later else None
        seats = range(self._starts.seats)
        return Frame(
            round=told.round,
            turn=asked.seat if asked else _mover(later),
            events=events,
            line=line,
            hands=over.hands if over else tuple(self._hand(told, at, later) for at in seats),
            pips=over.pips if over else (),
            stock=_tiles_left(self._starts.rules, over, line) if over else stock.tiles + drawn,
            drawable=stock.drawable + drawn,
            options=asked.options if asked else (),
            record=RoundRecord(over.round, over.why, over.points, over.scores) if over else None,
            pot=told.pot if isinstance(told, Ask) and self._starts.rules.stakes.pot else None,
            scores=told.scores if not later else self._last.scores,
        )

    def _stock_left(self, told: RoundOver) -> Stock:
        rules = self._starts.rules
        tiles = len(_tiles_left(rules, told, tiles_of_line(told.events)))
        return Stock(tiles, boneyard.drawable(rules.boneyard, rules.turn, tiles))

    def _hand(self, told: Ask | RoundOver, seat: int, later: Sequence[Event]) -> Hand | int:
        """Return what the seat is shown of a hand before the `later` moves."""
        own = [event for event in later if _mover([event]) == seat]
        played = {high_first(event.tile) for event in own if isinstance(event, Played)}
        drawn = [event.tile for event in own if isinstance(event, Drew)]
        hand = told.hands[seat]
        if seat != self._starts.seat:
            return (hand if isinstance(hand, int) else len(hand)) + len(played) - len(drawn)
        tiles = told.hand if isinstance(told, Ask) else told.hands[seat]
        changed = ({*tiles} | played).difference(drawn)
        return tuple(sorted(changed, reverse=True)) if own else tiles


def tiles_of_line(events: Iterable[Event]) -> tuple[Tile, ...]:
    """Return the line after all events of a round."""
    line: tuple[Tile, ...] = ()
    for event in events:
        if isinstance(event, Played | TurnedUp):
            left = isinstance(event, Played) and event.end == "left"
            line = (event.tile, *line) if left else (*line, event.tile)
    return line


def _mover(moves: Sequence[Event]) -> int | None:
    """Return the seat of the first of these moves; None if there is none."""
    return getattr(moves[0], "seat", None) if moves else None


def _turns(events: Sequence[Event]) -> list[tuple[Event, ...]]:
    """Return the events of each move; those before the first move, as of a deal, belong to it."""
    moves = [isinstance(event, Played | Drew | Passed) for event in events]
    begin = len(moves) - moves[::-1].index(False) if False in moves else 0
    groups = groupby(events[begin:], lambda event: (type(event), _mover([event])))
    first, *others = [tuple(together) for _, together in groups] or [()]
    return [(*events[:begin], *first), *others]
