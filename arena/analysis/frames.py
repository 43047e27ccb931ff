"""What is seen at once by everybody, by one seat or by an onlooker, from the steps of a replay."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from arena.analysis.replay import Step
from arena.engine import game as engine
from arena.engine import view
from arena.engine.state import Hand
from protocol.messages import Ask, Drew, Event, Option, RoundOver
from protocol.records import ChoiceRecord, FoulRecord, LogRecord, Result, RoundRecord
from protocol.tiles import Tile

Spectator = Literal["nobody"]
SPECTATOR: Spectator = "nobody"
"""The seat of an onlooker, who is shown no hand before the end of the round."""
Viewer = int | Spectator | None
"""By whom a game is seen: a seat, an onlooker, or everybody together (None)."""


class Frame(Struct, frozen=True):
    """What the onlooker sees at once: nothing in it is hidden from him."""

    round: int
    """The round's number, from 1."""
    turn: int | None
    """The seat to move; None when nobody is."""
    events: tuple[Event, ...]
    """What has happened."""
    line: tuple[Tile, ...]
    """The line."""
    hands: tuple[Hand | int, ...]
    """The tiles of each seat, or how many they are."""
    pips: tuple[int, ...]
    """What the hands count, once the round is over."""
    stock: tuple[Tile, ...] | int
    """The tiles in the boneyard, or how many they are."""
    drawable: int
    """How many of them may be drawn."""
    options: tuple[Option, ...]
    """What the seat that was asked could choose from."""
    record: LogRecord | None
    """What came in, or how the round or the game ended."""
    pot: int | None = None
    """What lies in the pot; None where there is none."""
    scores: tuple[int, ...] = ()
    """Points of each seat, or side, so far."""


def frames(steps: Iterable[Step], seat: Viewer = None) -> Iterator[Frame]:
    """What everybody, one seat or an onlooker is shown; draws in a row are joined."""
    return (shown[0] for shown in frames_for(steps, (seat,)))


def frames_for(steps: Iterable[Step], seats: Sequence[Viewer]) -> Iterator[tuple[Frame, ...]]:
    """What several are shown at the same moments: those of the first."""
    waiting: tuple[Frame, ...] = ()
    for step in steps:
        shown = tuple(_frame(step, seat) for seat in seats)
        if not shown[0].events and shown[0].record is None:
            # A deal is kept, or a round not called blocked: nobody else hears of it.
            continue
        if waiting and _goes_on_drawing(waiting[0], shown[0]):
            waiting = tuple(map(_joined, waiting, shown))
            continue
        if waiting:
            yield waiting
        waiting = shown
    if waiting:
        yield waiting


def _joined(before: Frame, after: Frame) -> Frame:
    """The table is as after the last draw; who was asked, and why, is as before the first."""
    events = before.events + after.events
    return replace(after, events=events, options=before.options, record=before.record)


def _goes_on_drawing(before: Frame, after: Frame) -> bool:
    """Whether a frame only adds draws of the same seat, for which it was not asked again."""
    draws = {event.seat for event in before.events + after.events if isinstance(event, Drew)}
    only = all(isinstance(event, Drew) for event in before.events + after.events)
    both = bool(before.events and after.events)
    return both and only and len(draws) == 1 and after.record is None


def _frame(step: Step, seat: Viewer) -> Frame:
    if seat is None:
        return _open(step)
    return _public(step) if seat == SPECTATOR else _seen(step, seat)


def _open(step: Step) -> Frame:
    """Everything."""
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
    """Who is to move; that another seat may refuse the deal is hidden, for it tells of doubles."""
    state = step.game.playing
    hidden = state.aside.phase == "keep" and seat not in (None, state.turn)
    nobody = state.over or state.aside.phase == "deal" or isinstance(step.record, Result)
    return None if nobody or hidden else state.turn


def _seen(step: Step, seat: int) -> Frame:
    """What the seat is told, put together from nothing by the seat's own door."""
    told = view.question(step.game, seat, (), [], id=0, number=0, time_ms=0)
    shown = _shown(step)
    own = isinstance(step.record, ChoiceRecord | FoulRecord) and step.record.seat == seat
    return Frame(
        round=told.round,
        turn=_turn(step, seat),
        events=_heard(step, seat),
        line=told.line,
        hands=shown.hands if shown else _hands(told),
        pips=shown.pips if shown else (),
        stock=told.boneyard.tiles,
        drawable=told.boneyard.drawable,
        options=step.options if own else (),
        record=_told(step.record, seat),
        pot=told.pot if step.game.rules.stakes.pot else None,
        scores=told.scores,
    )


def _public(step: Step) -> Frame:
    """What lies open, put together from nothing by the onlooker's own door."""
    told = view.onlooker(step.game)
    shown = _shown(step)
    return Frame(
        round=told.round,
        turn=_turn(step, SPECTATOR),
        events=_heard(step, SPECTATOR),
        line=told.line,
        hands=shown.hands if shown else told.hands,
        pips=shown.pips if shown else (),
        stock=told.boneyard.tiles,
        drawable=told.boneyard.drawable,
        options=(),
        record=_told(step.record, SPECTATOR),
        pot=told.pot if step.game.rules.stakes.pot else None,
        scores=told.scores,
    )


def _shown(step: Step) -> RoundOver | None:
    """What everybody is told at the end of a round."""
    ended = isinstance(step.record, RoundRecord | Result)
    return view.round_over(step.game, 0, []) if step.game.playing.over and ended else None


def _heard(step: Step, seat: Viewer) -> tuple[Event, ...]:
    """What was added to the history of the round, as the seat saw it."""
    return tuple(
        view.seen_by_others(event) if isinstance(event, Drew) and event.seat != seat else event
        for event in step.events
    )


def _hands(told: Ask) -> tuple[Hand | int, ...]:
    """A seat's own tiles, and how many the others hold."""
    return tuple(told.hand if at == told.seat else many for at, many in enumerate(told.hands))


def _told(record: LogRecord | None, seat: Viewer) -> LogRecord | None:
    """Of the log a seat sees its own lines, who else fouled, and how things ended."""
    match record:
        case ChoiceRecord() | FoulRecord() if record.seat == seat:
            return record
        case FoulRecord():
            return FoulRecord(seat=record.seat, foul=record.foul, detail="")
        case RoundRecord() | Result():
            return record
        case _:
            return None
