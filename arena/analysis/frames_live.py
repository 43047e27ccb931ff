"""Frames of a running game for one seat, from the messages to that seat alone. Pure."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from arena.analysis.frames import Frame
from arena.engine.structs import Hand
from protocol.messages import (
    Ask,
    Drew,
    Event,
    GameOver,
    GameStarts,
    Passed,
    Played,
    RoundOver,
    TurnedUp,
)
from protocol.records import Result, RoundRecord
from protocol.ruleset import set_of_tiles
from protocol.tiles import Tile, high_first


class LiveFrames:
    """A converter from the messages of one game to frames, in their order."""

    def __init__(self, starts: GameStarts, names: Sequence[str]) -> None:
        """Begin a game; `names` are the entrants by seat."""
        self._starts = starts
        self._names = tuple(names)
        self._round = self._known = 0
        self._drawable = 0
        self._last: Frame | None = None

    def moves(self, told: Ask | RoundOver | GameOver) -> list[Frame]:
        """Return a frame for each move since the last message; the last is the one of `frame`."""
        scores = self._last.scores if self._last else ()
        frame = self.frame(told)
        *before, last = _turns(frame.events) or [()]
        shown = [replace(frame, events=last)]
        for events in reversed(before):
            shown.insert(0, replace(_undone(shown[0]), events=events))
        # What a round's end shows and scores is not known before it.
        early = [_closed(one, self._starts.seat, scores or one.scores) for one in shown[:-1]]
        return [*early, shown[-1]]

    def frame(self, told: Ask | RoundOver | GameOver) -> Frame:
        """Return the frame after this message."""
        match told:
            case Ask():
                self._last = self._asked(told)
            case RoundOver():
                self._last = self._round_over(told)
            case GameOver():
                self._last = self._game_over(told)
        return self._last

    def _new(self, number: int, events: Sequence[Event]) -> tuple[Event, ...]:
        """Return the events since the last message."""
        if number != self._round:
            self._round, self._known = number, 0
        new = tuple(events[self._known :])
        self._known = len(events)
        return new

    def _asked(self, told: Ask) -> Frame:
        self._drawable = told.boneyard.drawable
        return Frame(
            round=told.round,
            turn=told.seat,
            events=self._new(told.round, told.events),
            line=told.line,
            hands=tuple(told.hand if at == told.seat else n for at, n in enumerate(told.hands)),
            pips=(),
            stock=told.boneyard.tiles,
            drawable=told.boneyard.drawable,
            options=told.options,
            record=None,
            pot=told.pot if self._starts.rules.stakes.pot else None,
            scores=told.scores,
        )

    def _round_over(self, told: RoundOver) -> Frame:
        """Return the frame of a round's end; its line and boneyard follow from the events."""
        fresh = told.round != self._round
        new = self._new(told.round, told.events)
        line = tiles_of_line(told.events)
        tiles = len(set_of_tiles(self._starts.rules.deal)) - len(line) - sum(map(len, told.hands))
        drawn = sum(isinstance(event, Drew) for event in new)
        reserve = self._starts.rules.boneyard.reserve
        drawable = tiles - reserve if fresh else self._drawable - drawn
        return Frame(
            round=told.round,
            turn=None,
            events=new,
            line=line,
            hands=told.hands,
            pips=told.pips,
            stock=tiles,
            drawable=max(0, drawable),
            options=(),
            record=RoundRecord(
                round=told.round, why=told.why, points=told.points, scores=told.scores
            ),
            scores=told.scores,
        )

    def _game_over(self, told: GameOver) -> Frame:
        """Return the frame of the game's end, with the table as it was."""
        last = self._last
        return Frame(
            round=last.round if last else 0,
            turn=None,
            events=(),
            line=last.line if last else (),
            hands=last.hands if last else (0,) * self._starts.seats,
            pips=last.pips if last else (),
            stock=last.stock if last else 0,
            drawable=last.drawable if last else 0,
            options=(),
            record=Result(
                game="",
                board=0,
                seats=self._names,
                scores=told.scores,
                places=told.places,
                rounds=self._round,
                why=told.why,
            ),
            scores=told.scores,
        )


def tiles_of_line(events: Iterable[Event]) -> tuple[Tile, ...]:
    """Return the line after all events of a round."""
    line: tuple[Tile, ...] = ()
    for event in events:
        if isinstance(event, Played | TurnedUp):
            left = isinstance(event, Played) and event.end == "left"
            line = (event.tile, *line) if left else (*line, event.tile)
    return line


def _turns(events: Sequence[Event]) -> list[tuple[Event, ...]]:
    """Return the events of each move; those before the first move, as of a deal, belong to it."""
    moves = [isinstance(event, Played | Drew | Passed) for event in events]
    begin = len(moves) - moves[::-1].index(False) if False in moves else 0
    groups = groupby(events[begin:], lambda event: (type(event), getattr(event, "seat", None)))
    turns = [tuple(together) for _, together in groups]
    if not turns:
        return [tuple(events)] if events else []
    return [(*events[:begin], *turns[0]), *turns[1:]]


def _undone(frame: Frame) -> Frame:
    """Return the table as it was before the moves of a frame."""
    for event in reversed(frame.events):
        if isinstance(event, Played):
            line = frame.line[1:] if event.end == "left" else frame.line[:-1]
            hands = _with(frame.hands, event.seat, high_first(event.tile), 1)
            frame = replace(frame, line=line, hands=hands, turn=event.seat)
        elif isinstance(event, Drew):
            hands = _with(frame.hands, event.seat, event.tile, -1)
            stock = frame.stock if isinstance(frame.stock, int) else len(frame.stock)
            drawable = frame.drawable + 1
            frame = replace(frame, hands=hands, stock=stock + 1, drawable=drawable, turn=event.seat)
        elif isinstance(event, Passed):
            frame = replace(frame, turn=event.seat)
    return frame


def _with(
    hands: tuple[Hand | int, ...], seat: int, tile: Tile | None, more: int
) -> tuple[Hand | int, ...]:
    """Return the hands with one tile more or less in one of them."""
    hand = hands[seat]
    if isinstance(hand, int):
        changed: Hand | int = hand + more
    elif more > 0:
        changed = tuple(sorted((*hand, *([tile] if tile else [])), reverse=True))
    else:
        changed = tuple(one for one in hand if one != tile) if tile else hand[:-1]
    return (*hands[:seat], changed, *hands[seat + 1 :])


def _closed(frame: Frame, own: int, scores: tuple[int, ...]) -> Frame:
    """Return a frame before the end of the round: no other hand is open, and nothing is asked."""
    hands = tuple(
        hand if at == own or isinstance(hand, int) else len(hand)
        for at, hand in enumerate(frame.hands)
    )
    return replace(frame, hands=hands, pips=(), options=(), record=None, scores=scores)
