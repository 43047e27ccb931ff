"""Scenes for web pages: frames as plain JSON, with the facts that a page shows beside them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from arena.analysis import text
from arena.analysis.frames import Frame, Viewer
from arena.logs.gamelog import LoggedGame
from arena.match.clock import bank_left_ms
from protocol.codec import printable
from protocol.messages import MAX_NOTE, Bid, Clock, Option, Play, Played, PlayTwo, TurnedUp
from protocol.records import ChoiceRecord, FoulRecord, Result, RoundRecord
from protocol.ruleset import Ruleset, target
from protocol.tiles import Tile

DIGITS = "0123456789abcdefghi"
"""The digit of each number of pips."""
DIGITS_OF = {(a, b): DIGITS[a] + DIGITS[b] for a in range(19) for b in range(19)}
"""The two digits of each tile, either way round."""
SIGNS = {"left": "<", "right": ">", "lead": "="}
"""The sign after a tile for the end that it is played on."""

Fields = dict[str, Any]
"""Fields of a scene, by name."""
Tiles = str
"""Tiles joined into one string, two digits each: "6453" is 6-4 and 5-3."""


class GameInfo(Struct, frozen=True):
    """Facts that do not change during a game."""

    game: str
    names: tuple[str, ...]
    sides: tuple[str, ...]
    """The sides that win or lose: the seats, or the two partnerships; scores are in this order."""
    rules: str
    goal: str
    highest: int
    doubles: bool
    seat: int | None = None
    """The seat whose view this is; None: everybody's."""
    remarks: tuple[str, ...] = ()


class Prompt(Struct, frozen=True):
    """A question and its answer, if there is one yet."""

    seat: int
    options: tuple[str, ...]
    """The options. A tile and its end: `64<` left, `64>` right, `64=` for the first
    tile, `64<53>` two at once; anything else is words."""
    id: int | None = None
    chosen: int | None = None
    """The index of the chosen option, from 0; None: not answered yet, or a foul."""
    ms: float | None = None
    """The time charged, in ms."""
    note: str = ""


class Foul(Struct, frozen=True):
    """A foul with its evidence; no other seat is shown the evidence."""

    seat: int
    foul: str
    detail: str
    line: str
    stderr: str
    clock: str
    """The figures of a late answer, in words."""


class Time(Struct, frozen=True):
    """The time that a seat has used."""

    used: float
    """Time charged in this game, in ms."""
    bank: float
    """Time left in the bank, in ms."""


class Scene(Struct, frozen=True):
    """One moment of a game as a viewer sees it; nothing in it is hidden from that viewer."""

    round: int
    turn: int | None
    """The seat to move; None if there is none."""
    words: str
    line: Tiles
    """The line from left to right, each tile [left, right]."""
    lead: int
    """The number of tiles to the left of the one that was led."""
    laid: tuple[int, int]
    """The number of new tiles at the left and at the right of the line."""
    hands: tuple[Tiles | int, ...]
    """The tiles of each seat, or their number."""
    pips: tuple[int, ...]
    stock: Tiles | int
    """The tiles in the boneyard, or their number."""
    drawable: int
    pot: int | None
    scores: tuple[int, ...]
    points: tuple[int, ...]
    """The points of the round that has just ended, for each seat or side."""
    places: tuple[int, ...]
    """The final places, 1 is best, if the game has just ended."""
    times: tuple[Time | None, ...]
    """The time that each seat has used; None if the viewer is not told."""
    asked: Prompt | None
    """The question that is open or has just been answered."""
    foul: Foul | None


def about(logged: LoggedGame, seat: int | None = None) -> GameInfo:
    """Return the facts about a logged game that a page shows to every viewer."""
    sitting = logged.sitting
    info = game_info(logged.game.game, sitting.seats, sitting.rules)
    look = text.Look(sitting.seats, partners=sitting.rules.deal.partners)
    return replace(info, seat=seat, remarks=tuple(_remarks(logged, look)))


def game_info(game: str, names: Sequence[str], rules: Ruleset) -> GameInfo:
    """Return the facts about a game of these entrants with these rules."""
    look = text.Look(tuple(names), partners=rules.deal.partners)
    points = f"{target(rules, len(names))} points"
    return GameInfo(
        game=printable(game),
        names=tuple(map(look.name, range(len(names)))),
        sides=tuple(look.parties()),
        rules=printable(rules.name),
        goal=f"{rules.game.rounds} rounds" if rules.game.rounds else points,
        highest=rules.deal.highest_pip,
        doubles=rules.deal.doubles,
    )


def _remarks(logged: LoggedGame, look: text.Look) -> Iterator[str]:
    if forfeits := text.forfeits_text(logged, look):
        yield forfeits
    if logged.result is None:
        yield "The game is unfinished and does not count."


class SceneBuilder:
    """A builder of scenes from the frames of one game, in their order, for one viewer."""

    def __init__(
        self, names: Sequence[str], clocks: Sequence[Clock], *, partners: bool, seat: Viewer = None
    ) -> None:
        """Start before the first frame; each seat has its clock.

        `seat` is the viewer: it is shown only its own times; None is shown all times.
        """
        self._look = text.Look(tuple(names), partners=partners)
        self._clocks = clocks
        self._times = [
            Time(0, clock.bank_ms) if seat in (None, at) else None
            for at, clock in enumerate(clocks)
        ]
        self._round = self._lead = 0

    def scene(self, frame: Frame) -> Scene:
        """Return the scene of the next frame."""
        left, right = self._laid(frame)
        record = frame.record
        if isinstance(record, ChoiceRecord | FoulRecord):
            self._spend(record.seat, record.ms)
        return Scene(
            round=frame.round,
            turn=frame.turn,
            words=self._words(frame),
            line=tiles(frame.line),
            lead=self._lead,
            laid=(left, right),
            hands=tuple(_shown(hand) for hand in frame.hands),
            pips=frame.pips,
            stock=_shown(frame.stock),
            drawable=frame.drawable,
            pot=frame.pot,
            scores=record.scores if isinstance(record, Result) else frame.scores,
            points=record.points if isinstance(record, RoundRecord) else (),
            places=record.places if isinstance(record, Result) else (),
            times=tuple(self._times),
            asked=_asked(frame),
            foul=_foul(record) if isinstance(record, FoulRecord) else None,
        )

    def differences(self, frame: Frame, other: Frame, scene: Fields) -> Fields:
        """Return what differs in the next frame from the scene that another viewer's frame made.

        Only what one viewer sees and another does not can differ: the rest is made once.
        """
        record = frame.record
        if isinstance(record, ChoiceRecord | FoulRecord):
            self._spend(record.seat, record.ms)
        fields = {
            "turn": frame.turn,
            "words": scene["words"] if frame.events == other.events else self._words(frame),
            "hands": tuple(map(_shown, frame.hands)),
            "pips": frame.pips,
            "stock": _shown(frame.stock),
            "times": tuple(self._times),
            "asked": _asked(frame),
            "foul": _foul(record) if isinstance(record, FoulRecord) else None,
        }
        return {key: value for key, value in fields.items() if value != scene[key]}

    def _words(self, frame: Frame) -> str:
        return " ".join(text.frame_sentences(frame, self._look))

    def _laid(self, frame: Frame) -> tuple[int, int]:
        if frame.round != self._round:
            self._round, self._lead = frame.round, 0
        laid = [event for event in frame.events if isinstance(event, Played | TurnedUp)]
        left = sum(isinstance(event, Played) and event.end == "left" for event in laid)
        self._lead += left
        return left, len(laid) - left

    def _spend(self, seat: int, ms: float) -> None:
        if time := self._times[seat]:
            bank = bank_left_ms(time.bank, self._clocks[seat].move_ms, ms)
            self._times[seat] = Time(round(time.used + ms, 1), round(bank, 1))


def tiles(some: Sequence[Tile]) -> Tiles:
    """Return tiles in the notation of scenes."""
    return "".join(map(DIGITS_OF.__getitem__, some))


@lru_cache(maxsize=4096)
def option(one: Option) -> str:
    """Return an option in the notation of scenes; see `Prompt.options`."""
    match one:
        case Play():
            return tiles([one.tile]) + SIGNS[one.end]
        case PlayTwo():
            return f"{tiles([one.left])}<{tiles([one.right])}>"
        case _:
            return text.option_words(one)


def _shown(hidden: Sequence[Tile] | int) -> Tiles | int:
    return hidden if isinstance(hidden, int) else tiles(hidden)


def _asked(frame: Frame) -> Prompt | None:
    record = frame.record
    if record is None and frame.options and frame.turn is not None:
        return Prompt(frame.turn, tuple(map(option, frame.options)))
    if not isinstance(record, ChoiceRecord | FoulRecord) or not frame.options:
        return None
    if isinstance(record, FoulRecord):
        return Prompt(record.seat, _listed(frame.options, None)[0], ms=record.ms)
    options, chosen = _listed(frame.options, record.choice)
    note = printable(record.note, MAX_NOTE) if record.note else ""
    return Prompt(record.seat, options, id=record.id, chosen=chosen, ms=record.ms, note=note)


def _listed(options: Sequence[Option], chosen: int | None) -> tuple[tuple[str, ...], int | None]:
    if not isinstance(options[-1], Bid):
        return tuple(map(option, options)), chosen
    words, marks = zip(*text.options_text(options, chosen), strict=True)
    return words, None if chosen is None else marks.index(True)


def _foul(record: FoulRecord) -> Foul:
    evidence = text.EVIDENCE
    return Foul(
        seat=record.seat,
        foul=record.foul,
        detail=printable(record.detail, evidence),
        line=printable(record.line, evidence),
        stderr=printable(record.stderr, evidence),
        clock=text.foul_clock(record) if record.limit_ms else "",
    )
