"""What a page draws: scenes, which are frames as plain JSON with everything that stands beside."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from arena.analysis import text as render
from arena.analysis.frames import Frame, Viewer
from arena.logs.gamelog import LoggedGame
from protocol.codec import printable
from protocol.messages import MAX_NOTE, Bid, Clock, Option, Play, Played, PlayTwo, TurnedUp
from protocol.records import ChoiceRecord, FoulRecord, Result, RoundRecord
from protocol.ruleset import Ruleset, target
from protocol.tiles import Tile

DIGITS = "0123456789abcdefghi"
"""A pip is one of these."""
DIGITS_OF = {(a, b): DIGITS[a] + DIGITS[b] for a in range(19) for b in range(19)}
"""A tile, either way round."""
SIGNS = {"left": "<", "right": ">", "lead": "="}
"""The end that a tile goes to, behind it."""

Tiles = str
"""Tiles one after another, two digits each: "6453" is 6-4 and 5-3."""


class GameInfo(Struct, frozen=True):
    """What does not change during a game."""

    game: str
    """The game's name."""
    names: tuple[str, ...]
    """The entrant in each seat."""
    sides: tuple[str, ...]
    """Who wins or loses: the seats, or the two sides; scores are in this order."""
    rules: str
    """The ruleset's name."""
    goal: str
    """What ends the game."""
    highest: int
    """The highest pip of the set."""
    doubles: bool
    """Whether the set has doubles."""
    seat: int | None = None
    """Whose view this is alone; None: everybody's."""
    remarks: tuple[str, ...] = ()
    """What else must be known, in sentences."""


class Prompt(Struct, frozen=True):
    """A question and, once it is there, its answer."""

    seat: int
    """Who was asked."""
    options: tuple[str, ...]
    """What there is to choose from. A tile and where it goes, `64<` left, `64>` right, `64=` when
    it is the first, `64<53>` two at once; anything else is words."""
    id: int | None = None
    """The question's number on the bot's pipe."""
    chosen: int | None = None
    """Which of the options was chosen, from 0; None: none yet, or a foul."""
    ms: float | None = None
    """The time charged, in ms."""
    note: str = ""
    """What the bot noted."""


class Foul(Struct, frozen=True):
    """A foul with its evidence, none of which another seat is shown."""

    seat: int
    """Who."""
    foul: str
    """Its class."""
    detail: str
    """A sentence for the bot's author."""
    line: str
    """The offending line."""
    stderr: str
    """The bot's last words."""
    clock: str
    """The figures of a lateness, in words."""


class Time(Struct, frozen=True):
    """What a seat has used of its clock."""

    used: float
    """What it was charged in this game, in ms."""
    bank: float
    """What is left in its bank, in ms."""


class Scene(Struct, frozen=True):
    """What an onlooker sees at once; nothing in it is hidden from him."""

    round: int
    """The round's number, from 1."""
    turn: int | None
    """The seat to move; None when nobody is."""
    words: str
    """What has happened, in sentences."""
    line: Tiles
    """The line from left to right, each tile [left, right]."""
    lead: int
    """How many tiles of it lie to the left of the one that was laid first."""
    laid: tuple[int, int]
    """How many tiles at its left and at its right are new."""
    hands: tuple[Tiles | int, ...]
    """The tiles of each seat, or how many they are."""
    pips: tuple[int, ...]
    """What the hands count, once the round is over."""
    stock: Tiles | int
    """The tiles in the boneyard, or how many they are."""
    drawable: int
    """How many of them may be drawn."""
    pot: int | None
    """What lies in the pot; None where there is none."""
    scores: tuple[int, ...]
    """Points of each seat, or side, so far."""
    points: tuple[int, ...]
    """Points that the round brought them, when it has just ended."""
    places: tuple[int, ...]
    """Their places, 1 is best, when the game has just ended."""
    times: tuple[Time | None, ...]
    """What each seat has used of time; None where the onlooker is not told."""
    asked: Prompt | None
    """The question that was answered, or that is open."""
    foul: Foul | None
    """The foul that was committed."""


def about(logged: LoggedGame, seat: int | None = None) -> GameInfo:
    """What a page says of a logged game, whoever looks at it."""
    sitting = logged.sitting
    told = game_info(logged.game.game, sitting.seats, sitting.rules)
    look = render.Look(sitting.seats, partners=sitting.rules.deal.partners)
    return replace(told, seat=seat, remarks=tuple(_remarks(logged, look)))


def game_info(game: str, names: Sequence[str], rules: Ruleset) -> GameInfo:
    """What a page says of a game that these play by these rules."""
    look = render.Look(tuple(names), partners=rules.deal.partners)
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


def _remarks(logged: LoggedGame, look: render.Look) -> Iterator[str]:
    lost = " and ".join(look.name(seat) for seat in logged.game.forfeited)
    if lost:
        yield f"Lost beforehand, by fouls in the games before: {lost}."
    if logged.result is None:
        yield "The game was cut off and does not count."


class SceneBuilder:
    """Makes scenes of the frames of one game, in their order, for one onlooker."""

    def __init__(
        self, names: Sequence[str], clock: Clock, *, partners: bool, seat: Viewer = None
    ) -> None:
        """Nothing has happened yet.

        `seat` is whose frames they are: it is told its own times only; None is told all.
        """
        self._look = render.Look(tuple(names), ascii=True, partners=partners)
        self._move_ms = clock.move_ms
        shown = [seat in (None, at) for at in range(len(names))]
        self._times = [Time(0, clock.bank_ms) if one else None for one in shown]
        self._round = self._lead = 0

    def scene(self, frame: Frame) -> Scene:
        """The scene of the next frame."""
        left, right = self._laid(frame)
        record = frame.record
        if isinstance(record, ChoiceRecord | FoulRecord):
            self._spend(record.seat, record.ms)
        return Scene(
            round=frame.round,
            turn=frame.turn,
            words=" ".join(render.option_label(frame, self._look)),
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

    def _laid(self, frame: Frame) -> tuple[int, int]:
        """How many tiles were laid on the left and on the right."""
        if frame.round != self._round:
            self._round, self._lead = frame.round, 0
        laid = [event for event in frame.events if isinstance(event, Played | TurnedUp)]
        left = sum(isinstance(event, Played) and event.end == "left" for event in laid)
        self._lead += left
        return left, len(laid) - left

    def _spend(self, seat: int, ms: float) -> None:
        time = self._times[seat]
        if time:
            bank = max(0.0, time.bank - max(0.0, ms - self._move_ms))
            self._times[seat] = Time(round(time.used + ms, 1), round(bank, 1))


def tiles(some: Sequence[Tile]) -> Tiles:
    """Tiles as a scene has them."""
    return "".join(map(DIGITS_OF.__getitem__, some))


@lru_cache(maxsize=4096)
def option(one: Option) -> str:
    """An option as a scene has it; see `Asked.options`."""
    match one:
        case Play():
            return tiles([one.tile]) + SIGNS[one.end]
        case PlayTwo():
            return f"{tiles([one.left])}<{tiles([one.right])}>"
        case _:
            return render.option_words(one)


def _shown(hidden: Sequence[Tile] | int) -> Tiles | int:
    return hidden if isinstance(hidden, int) else tiles(hidden)


def _asked(frame: Frame) -> Prompt | None:
    """Who is asked; or who was, and what came of it: then bids that nobody made are joined."""
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
    """The options, bids that nobody made being joined, and where the chosen one is then."""
    if not isinstance(options[-1], Bid):
        return tuple(map(option, options)), chosen
    words, marks = zip(*render.options_text(options, chosen), strict=True)
    return words, None if chosen is None else marks.index(True)


def _foul(record: FoulRecord) -> Foul:
    evidence = render.EVIDENCE
    return Foul(
        seat=record.seat,
        foul=record.foul,
        detail=printable(record.detail, evidence),
        line=printable(record.line, evidence),
        stderr=printable(record.stderr, evidence),
        clock=render.foul_clock(record) if record.limit_ms else "",
    )
