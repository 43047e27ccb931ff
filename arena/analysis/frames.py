"""Frames: what everybody, one seat or a spectator sees at each moment of a replay or live game."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import chain
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena import engine
from arena.analysis.alternative_deals import position_of
from arena.analysis.timeline import Moment, Walker
from arena.engine import view
from arena.engine.state import Hand
from arena.logs.gamelog import Log
from arena.match.referee import Referee
from protocol.errors import UserError
from protocol.messages import (
    Annulled,
    Ask,
    Drew,
    Event,
    GameOver,
    Option,
    Played,
    RoundOver,
    TurnedUp,
)
from protocol.position import Position
from protocol.records import ChoiceRecord, FoulRecord, LogRecord, Result, RoundRecord
from protocol.ruleset import Ruleset, Tile, high_first, set_of_tiles

# The ends of a round's line, and what draws and passes tell of hands, as everybody saw.


def with_ends(events: Iterable[Event]) -> Iterator[tuple[Event, tuple[int, ...]]]:
    """Yield each event of a round with the ends of the line before it; none before a tile."""
    ends: tuple[int, ...] = ()
    for event in events:
        yield event, ends
        if isinstance(event, Played) and event.end != "lead":
            left = event.end == "left"
            ends = (event.tile[0], ends[1]) if left else (ends[0], event.tile[1])
        elif isinstance(event, Played | TurnedUp):
            ends = event.tile
        elif isinstance(event, Annulled):
            ends = ()


class PassesAndDraws(NamedTuple):
    """By seat, as bits: the end numbers at which it passed since its last draw; at which it drew.

    A method's `index` is a seat, or in arrays of rounds side by side the seats and the rounds.
    """

    passed: Any
    drew: Any

    def add_draw(self, index: Any, ends: Any) -> None:
        """Note that a seat drew: the new tile may fit where the seat passed."""
        self.drew[index] |= ends
        self.passed[index] = 0

    def add_pass(self, index: Any, ends: Any) -> None:
        """Note that a seat passed."""
        self.passed[index] |= ends


# --- frames ---


Spectator = Literal["nobody"]
SPECTATOR: Spectator = "nobody"
"""The viewer who sees no hand before the end of the round."""
Viewer = int | Spectator | None
"""A viewer of a game: a seat, a spectator, or everybody together (None)."""


class Frame(Struct, frozen=True):
    """One moment of a game as a viewer sees it; nothing in it is hidden from that viewer."""

    round: int
    turn: int | None
    events: tuple[Event, ...]
    line: tuple[Tile, ...]
    hands: tuple[Hand | int, ...]
    pips: tuple[int, ...]
    """The pips of each hand, once the round is over."""
    stock: tuple[Tile, ...] | int
    drawable: int
    options: tuple[Option, ...]
    record: LogRecord | None
    """The answer or foul, or the end of the round or the game."""
    pot: int | None = None
    chips: int | None = None
    """Chips with which each side began; 0 if sides pay with their scores, None without payments."""
    scores: tuple[int, ...] = ()
    position: Position | None = None
    """The question of a log, with what its seat knew; for everybody with all tiles."""


def frames(moments: Iterable[Moment], seat: Viewer) -> Iterator[Frame]:
    """Yield the frames for everybody, a seat or a spectator; draws in a row are joined."""
    return (views[0] for views in frames_for(moments, (seat,)))


def frames_for(moments: Iterable[Moment], seats: Sequence[Viewer]) -> Iterator[tuple[Frame, ...]]:
    """Yield frames of several viewers for the moments at which the first is shown something."""
    for group in join_draws(moments, seats[0]):
        views = [_frames_at(moment, seats) for moment in group]
        yield tuple(reduce(_joined, view) for view in zip(*views, strict=True))


def join_draws(moments: Iterable[Moment], seat: Viewer) -> Iterator[tuple[Moment, ...]]:
    """Yield the moments of each frame of a viewer; draws in a row are one frame."""
    waiting: tuple[Moment, ...] = ()
    for moment in moments:
        record = moment.record if seat is None else _shown_record(moment.record, seat)
        if not moment.events and record is None:
            # A seat kept the deal, or did not call a block: no other seat is told.
            continue
        group = (*waiting, moment)
        if not (waiting and record is None and _draws_only(group)):
            if waiting:
                yield waiting
            group = (moment,)
        waiting = group
    if waiting:
        yield waiting


def places_in_replay(steps: Iterable[Sequence[Moment]]) -> dict[int, int]:
    """Return the place among these frames of each answer, by the index of its record."""
    return {moment.index: n for n, step in enumerate(steps) for moment in step if moment.question}


def _joined(before: Frame, after: Frame) -> Frame:
    """Return one frame of two draws: the table after the last, the question before the first."""
    events = before.events + after.events
    question = {"options": before.options, "record": before.record, "position": before.position}
    return replace(after, events=events, **question)


def _draws_only(group: Sequence[Moment]) -> bool:
    """Tell whether these are draws of one seat only."""
    events = [event for moment in group for event in moment.events]
    seats = {event.seat if isinstance(event, Drew) else None for event in events}
    return len(seats) == 1 and None not in seats and all(moment.events for moment in group)


def _turn(moment: Moment, seat: Viewer = None) -> int | None:
    """Return the seat to move, but hide one that may refuse the deal: that reveals doubles."""
    state = moment.game.playing
    hidden = state.phase.name == "keep" and seat not in (None, state.turn)
    nobody = state.over or state.phase.name == "deal" or isinstance(moment.record, Result)
    return None if nobody or hidden else state.turn


def _full_frame(moment: Moment, bare: Frame, position: Position | None) -> Frame:
    """Return the frame with all hidden tiles in it; `bare` is a spectator's."""
    state = moment.game.playing
    return replace(
        bare,
        turn=_turn(moment),
        events=moment.events,
        hands=state.hands,
        pips=engine.pips(moment.game) if state.over else (),
        stock=tuple(chain(*state.stock)),
        options=moment.options,
        record=moment.record,
        position=position,
    )


def _open_position(moment: Moment) -> Position | None:
    if moment.question and moment.history:
        with suppress(UserError):  # A few rules have no words.
            return position_of(moment.history, moment.before)
    return None


def frame_at(moment: Moment, viewer: Viewer) -> Frame:
    """Return the frame of a viewer, built only from what the engine's view gives that viewer."""
    (frame,) = _frames_at(moment, (viewer,))
    return frame


def _frames_at(moment: Moment, viewers: Sequence[Viewer]) -> tuple[Frame, ...]:
    """Return the frames of viewers; what all see is made once."""
    bare, record = _bare_frame(moment), moment.record
    answered = record.seat if isinstance(record, ChoiceRecord | FoulRecord) else None
    needs_position = None in viewers or (answered is not None and answered in viewers)
    position = _open_position(moment) if needs_position else None

    def frame_of(viewer: Viewer) -> Frame:
        if viewer is None:
            return _full_frame(moment, bare, position)
        if viewer == SPECTATOR:
            return bare
        return _seat_frame(moment, bare, viewer, position if viewer == answered else None)

    return tuple(map(frame_of, viewers))


def _bare_frame(moment: Moment) -> Frame:
    """Return the frame of a spectator."""
    game, record, stakes = moment.game, moment.record, moment.game.rules.stakes
    table = view.onlooker(game)
    is_end = game.playing.over and isinstance(record, RoundRecord | Result)
    over = view.round_over(game, 0, []) if is_end else None
    return Frame(
        round=table.round,
        turn=_turn(moment, SPECTATOR),
        events=tuple(map(view.seen_by_others, moment.events)),
        line=table.line,
        hands=over.hands if over else table.hands,
        pips=over.pips if over else (),
        stock=_tiles_left(game.rules, over, table.line) if over else table.boneyard.tiles,
        drawable=table.boneyard.drawable,
        options=(),
        record=_shown_record(record, SPECTATOR),
        pot=table.pot if stakes.pot else None,
        chips=stakes.chips if stakes.pot or stakes.fee or stakes.ante else None,
        scores=table.scores,
    )


def _seat_frame(moment: Moment, bare: Frame, seat: int, position: Position | None) -> Frame:
    """Return the frame of a seat; `bare` is a spectator's, `position` that of its own answer."""
    record = moment.record
    is_own = isinstance(record, ChoiceRecord | FoulRecord) and record.seat == seat
    hand = moment.game.playing.hand(seat)
    return replace(
        bare,
        turn=_turn(moment, seat),
        events=tuple(
            event if isinstance(event, Drew) and event.seat == seat else seen
            for event, seen in zip(moment.events, bare.events, strict=True)
        ),
        # At the end all hands are open.
        hands=bare.hands if bare.pips else (*bare.hands[:seat], hand, *bare.hands[seat + 1 :]),
        options=moment.options if is_own else (),
        record=record if is_own else bare.record,
        position=position.as_seen() if position else None,
    )


def _tiles_left(rules: Ruleset, over: RoundOver, line: Sequence[Tile]) -> tuple[Tile, ...]:
    """Return the boneyard at a round's end: the tiles that are neither in a hand nor laid."""
    out = {*chain(*over.hands), *map(high_first, line)}
    return tuple(tile for tile in set_of_tiles(rules.deal) if tile not in out)


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
    """The frames of a running game for the screen of a seat; its log passes through here."""

    log: Log
    """The log that keeps the game."""

    def __init__(self, referee: Referee, seat: int) -> None:
        self.referee = referee
        self.seat = seat
        self._walker = Walker(referee.setup)
        self._logged: list[LogRecord] = []
        # The first record has the game's name, and no moment.
        self._record_count = 1

    def append(self, records: Sequence[LogRecord]) -> None:
        """Keep the records. Raises OSError, and then none was kept."""
        self.log.append(records)
        self._logged += records

    def frame(self, message: Ask | RoundOver | GameOver) -> Frame:
        """Return the frame at the seat's next message, with all events since the last one."""
        moves = self.moves(message)
        return replace(moves[-1], events=tuple(chain(*(move.events for move in moves))))

    def moves(self, message: Ask | RoundOver | GameOver) -> list[Frame]:
        """Return a frame for each move since the last message, the last one with the message."""
        moments = [*self._next_moments()]
        # Nobody at the table learns of a foul before the end, or of an answer except by its move.
        bare_moments = (replace(moment, question=None, record=None) for moment in moments)
        moves = [*frames(bare_moments, self.seat)]
        if any(moment.is_opening for moment in moments):
            # The person knows the position: its moves are not played to it one by one.
            moves = [replace(moves[-1], events=tuple(chain(*(move.events for move in moves))))]
        game, record = self._walker.game, None if isinstance(message, Ask) else moments[-1].record
        last = frame_at(Moment(game, game, (), None, record, 0), self.seat)
        if isinstance(message, Ask):
            last = replace(last, turn=self.seat, options=message.options)
        if moves:
            last = replace(last, events=moves.pop().events)
        return [*moves, last]

    def _next_moments(self) -> Iterator[Moment]:
        """Yield the moments up to the next message to the seat: a question, or an end."""
        for record in [*self._logged, *self.referee.unlogged][self._record_count :]:
            self._record_count += 1
            yield from self._walker.take(record, self._record_count)
            question = self._walker.question
            is_asked = question is not None and question.seat == self.seat
            if is_asked or isinstance(record, RoundRecord | Result):
                return
