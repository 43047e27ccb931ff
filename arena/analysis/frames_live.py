"""Frames of a running game for one seat, from the messages to that seat alone. Pure."""

from collections.abc import Iterable, Sequence

from arena.analysis.frames import Frame
from protocol.messages import Ask, Drew, Event, GameOver, GameStarts, Played, RoundOver, TurnedUp
from protocol.records import Result, RoundRecord
from protocol.ruleset import set_of_tiles
from protocol.tiles import Tile


class LiveFrames:
    """A converter from the messages of one game to frames, in their order."""

    def __init__(self, starts: GameStarts, names: Sequence[str]) -> None:
        """Begin a game; `names` are the entrants by seat."""
        self._starts = starts
        self._names = tuple(names)
        self._round = self._known = 0
        self._drawable = 0
        self._last: Frame | None = None

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
