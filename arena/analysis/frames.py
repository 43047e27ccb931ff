"""Frames: what everybody, one seat or a spectator sees at each moment of a replay."""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from arena import engine
from arena.analysis.replay import Step
from arena.engine import view
from arena.engine.structs import Hand, Onlooker
from protocol.messages import Ask, Drew, Event, Option, RoundOver
from protocol.records import ChoiceRecord, FoulRecord, LogRecord, Result, RoundRecord
from protocol.tiles import Tile

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
    """The line."""
    hands: tuple[Hand | int, ...]
    """The tiles of each seat, or their number."""
    pips: tuple[int, ...]
    """The pips of each hand, once the round is over."""
    stock: tuple[Tile, ...] | int
    """The tiles in the boneyard, or their number."""
    drawable: int
    """The number of tiles that may still be drawn."""
    options: tuple[Option, ...]
    """The options of the seat that was asked."""
    record: LogRecord | None
    """The answer or foul, or the end of the round or the game."""
    pot: int | None = None
    """The content of the pot; None if there is no pot."""
    scores: tuple[int, ...] = ()
    """The points of each seat, or side, so far."""


def frames(steps: Iterable[Step], seat: Viewer) -> Iterator[Frame]:
    """Yield the frames for everybody, a seat or a spectator; draws in a row are joined."""
    return (shown[0] for shown in frames_for(steps, (seat,)))


def frames_for(steps: Iterable[Step], seats: Sequence[Viewer]) -> Iterator[tuple[Frame, ...]]:
    """Yield the frames of several viewers at the moments of the first."""
    for moment in moments(steps, seats[0]):
        yield tuple(reduce(_joined, (_frame(step, seat) for step in moment)) for seat in seats)


def moments(steps: Iterable[Step], seat: Viewer) -> Iterator[tuple[Step, ...]]:
    """Yield the steps of each moment that a viewer is shown; draws in a row are one moment."""
    waiting: tuple[Step, ...] = ()
    for step in steps:
        record = step.record if seat is None else _told(step.record, seat)
        if not step.events and record is None:
            # A seat kept the deal, or did not call a block: no other seat is told.
            continue
        if waiting and record is None and _goes_on_drawing((*waiting, step)):
            waiting = (*waiting, step)
            continue
        if waiting:
            yield waiting
        waiting = (step,)
    if waiting:
        yield waiting


def _joined(before: Frame, after: Frame) -> Frame:
    """Return one frame of two draws: the table after the last, the question before the first."""
    events = before.events + after.events
    return replace(after, events=events, options=before.options, record=before.record)


def _goes_on_drawing(moment: Sequence[Step]) -> bool:
    """Tell whether all steps are draws of one seat, so that the last only adds to the others."""
    events = [event for step in moment for event in step.events]
    seats = {event.seat if isinstance(event, Drew) else None for event in events}
    return len(seats) == 1 and None not in seats and all(step.events for step in moment)


def _frame(step: Step, seat: Viewer) -> Frame:
    if seat is None:
        return _open(step)
    return _public(step) if seat == SPECTATOR else _seen(step, seat)


def _open(step: Step) -> Frame:
    """Return the frame with everything in it."""
    state = step.game.playing
    over = state.over is not None
    return Frame(
        round=state.number,
        turn=_turn(step),
        events=step.events,
        line=state.line,
        hands=state.hands,
        pips=engine.pips(step.game) if over else (),
        stock=tuple(tile for row in state.stock for tile in row),
        drawable=state.drawable,
        options=step.options,
        record=step.record,
        pot=step.game.pot if step.game.rules.stakes.pot else None,
        scores=step.game.scores,
    )


def _turn(step: Step, seat: Viewer = None) -> int | None:
    """Return the seat to move, but hide one that may refuse the deal: that reveals doubles."""
    state = step.game.playing
    hidden = state.aside.phase == "keep" and seat not in (None, state.turn)
    nobody = state.over or state.aside.phase == "deal" or isinstance(step.record, Result)
    return None if nobody or hidden else state.turn


def _seen(step: Step, seat: int) -> Frame:
    """Return the frame of a seat, built only from what the engine's view gives that seat."""
    told = view.question(step.game, seat, (), [], id=0, number=0, time_ms=0)
    own = isinstance(step.record, ChoiceRecord | FoulRecord) and step.record.seat == seat
    return _viewed(step, seat, told, _hands(told), step.options if own else ())


def _public(step: Step) -> Frame:
    """Return the frame of a spectator, built only from what is public."""
    told = view.onlooker(step.game)
    return _viewed(step, SPECTATOR, told, told.hands, ())


def _viewed(
    step: Step,
    viewer: int | Spectator,
    told: Ask | Onlooker,
    hands: tuple[Hand | int, ...],
    options: tuple[Option, ...],
) -> Frame:
    """Return a frame of what a viewer is told; `hands` before the end of the round."""
    shown = _shown(step)
    return Frame(
        round=told.round,
        turn=_turn(step, viewer),
        events=_heard(step, viewer),
        line=told.line,
        hands=shown.hands if shown else hands,
        pips=shown.pips if shown else (),
        stock=told.boneyard.tiles,
        drawable=told.boneyard.drawable,
        options=options,
        record=_told(step.record, viewer),
        pot=told.pot if step.game.rules.stakes.pot else None,
        scores=told.scores,
    )


def _shown(step: Step) -> RoundOver | None:
    """Return the message to everybody at the end of a round, if this step ends one."""
    ended = isinstance(step.record, RoundRecord | Result)
    return view.round_over(step.game, 0, []) if step.game.playing.over and ended else None


def _heard(step: Step, seat: Viewer) -> tuple[Event, ...]:
    """Return the new events of the round as the viewer saw them."""
    return tuple(
        view.seen_by_others(event) if isinstance(event, Drew) and event.seat != seat else event
        for event in step.events
    )


def _hands(told: Ask) -> tuple[Hand | int, ...]:
    """Return a seat's own tiles, and the number of tiles of each other seat."""
    return tuple(told.hand if at == told.seat else many for at, many in enumerate(told.hands))


def _told(record: LogRecord | None, seat: Viewer) -> LogRecord | None:
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
