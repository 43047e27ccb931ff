"""Replays: a page that replays a game, with all hands or as one seat saw them, and its data.

A game is packed: its scenes as differences from one another in JSON, deflated, in base 64. The
scenes of the first viewer are stored as changes since the scene before; those of every other
viewer as differences from the first viewer's scene at the same moment. A page for one seat is
made from the frames of that seat alone.
"""

import base64
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import groupby, islice
from operator import attrgetter
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import asdict, replace

from arena.analysis import text
from arena.analysis.frames import Frame, Viewer, frames_for, join_draws, places_in_replay
from arena.analysis.text import group_options
from arena.analysis.timeline import Moment, Timeline, walk_log
from arena.files import read_file, write_atomic
from arena.logs.catalog import REPLAY_ENDING, REPLAYS
from arena.logs.checksummed import status_of
from arena.logs.gamelog import DamagedLogError, LoggedGame, read_games
from arena.match.clock import bank_left_ms
from arena.ui.html import TABLE_SCRIPTS, generator, page
from arena.valuation.terms import LuckTerms, ReviewedDecision
from protocol.codec import encode_json, printable
from protocol.errors import UserError
from protocol.messages import MAX_NOTE, Bid, Clock, Drew, Option, Play, Played, PlayTwo, TurnedUp
from protocol.position import tile_digits, write_deals, write_position
from protocol.records import ChoiceRecord, FoulRecord, Result, RoundRecord, Sitting
from protocol.ruleset import Ruleset, Tile, count_sides, high_first, target

if TYPE_CHECKING:
    from arena.valuation.luck import DrawLuck


# Scenes for web pages: frames as plain JSON, with the facts that a page shows beside them.


END_SIGNS = {"left": "<", "right": ">", "lead": "="}
"""The sign after a tile for the end that it is played on."""

Fields = dict[str, Any]
"""Fields of a scene, by name."""
TileText = str
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
    fee: int = 0
    """The price of a tile from the boneyard, in chips, or in points without chips."""
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
    info: dict[str, float] | UnsetType = UNSET
    """The bot's own numbers; left out if it sent none."""
    position: tuple[int, str] = (0, "")
    """The question as one line, with what the seat knew: the number of characters that it shares
    with the line of the seat's question before, and the others. Whole lines take twice as long."""


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
    line: TileText
    """The line from left to right, each tile [left, right]."""
    lead: int
    """The number of tiles to the left of the one that was led."""
    laid: tuple[int, int]
    """The number of new tiles at the left and at the right of the line."""
    hands: tuple[TileText | int, ...]
    """The tiles of each seat, or their number."""
    pips: tuple[int, ...]
    stock: TileText | int
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
    dealt: TileText
    """For everybody, the field of all tiles in the line of the question; empty if there is none."""


def logged_game_info(logged: LoggedGame, seat: int | None = None) -> GameInfo:
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
        fee=rules.stakes.fee,
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
            Time(0, clock.bank_ms) if seat in (None, owner) else None
            for owner, clock in enumerate(clocks)
        ]
        self._round = self._lead = 0
        self._lines: dict[int, str] = {}

    def scene(self, frame: Frame) -> Scene:
        """Return the scene of the next frame."""
        left, right = self._count_new_tiles(frame)
        record = frame.record
        if isinstance(record, ChoiceRecord | FoulRecord):
            self._spend(record.seat, record.ms)
        return Scene(
            round=frame.round,
            turn=frame.turn,
            words=self._words(frame),
            line=tile_digits(frame.line),
            lead=self._lead,
            laid=(left, right),
            hands=tuple(_tiles_or_count(hand) for hand in frame.hands),
            pips=frame.pips,
            stock=_tiles_or_count(frame.stock),
            drawable=frame.drawable,
            pot=frame.pot,
            scores=record.scores if isinstance(record, Result) else frame.scores,
            points=record.points if isinstance(record, RoundRecord) else (),
            places=record.places if isinstance(record, Result) else (),
            times=tuple(self._times),
            asked=self._prompt(frame),
            foul=_foul(record) if isinstance(record, FoulRecord) else None,
            dealt=_dealt(frame),
        )

    def differences(self, frame: Frame, other: Frame, scene: Fields) -> Fields:
        """Return what differs in the next frame from the scene that another viewer's frame made.

        Only what one viewer sees and another does not can differ: the rest is made once.
        """
        record = frame.record
        if isinstance(record, ChoiceRecord | FoulRecord):
            self._spend(record.seat, record.ms)
        is_same_answer = bool(frame.options) and record is other.record
        fields = {
            "turn": frame.turn,
            "words": scene["words"] if frame.events == other.events else self._words(frame),
            "hands": tuple(map(_tiles_or_count, frame.hands)),
            "pips": frame.pips,
            "stock": _tiles_or_count(frame.stock),
            "times": tuple(self._times),
            "asked": scene["asked"] if is_same_answer else self._prompt(frame),
            "foul": _foul(record) if isinstance(record, FoulRecord) else None,
            "dealt": _dealt(frame),
        }
        return {key: value for key, value in fields.items() if value != scene[key]}

    def _prompt(self, frame: Frame) -> Prompt | None:
        record = frame.record
        if record is None and frame.options and frame.turn is not None:
            options = tuple(map(option_notation, frame.options))
            return Prompt(frame.turn, options, position=self._position(frame))
        if not isinstance(record, ChoiceRecord | FoulRecord) or not frame.options:
            return None
        if isinstance(record, FoulRecord):
            options = _options(frame.options, None)[0]
            return Prompt(record.seat, options, ms=record.ms, position=self._position(frame))
        options, choice = _options(frame.options, record.choice)
        note = printable(record.note, MAX_NOTE) if record.note else ""
        return Prompt(
            record.seat,
            options,
            id=record.id,
            chosen=choice,
            ms=record.ms,
            note=note,
            info=record.info,
            position=self._position(frame),
        )

    def _position(self, frame: Frame) -> tuple[int, str]:
        if frame.position is None:
            return 0, ""
        seat, line = frame.position.seat, write_position(frame.position.as_seen())
        # Of characters, not of paths.
        shared = len(commonprefix([self._lines.get(seat, ""), line]))  # noqa: RUF071
        self._lines[seat] = line
        return shared, line[shared:]

    def _words(self, frame: Frame) -> str:
        return " ".join(text.frame_sentences(frame, self._look))

    def _count_new_tiles(self, frame: Frame) -> tuple[int, int]:
        if frame.round != self._round:
            self._round, self._lead = frame.round, 0
        plays = [event for event in frame.events if isinstance(event, Played | TurnedUp)]
        left = sum(isinstance(event, Played) and event.end == "left" for event in plays)
        self._lead += left
        return left, len(plays) - left

    def _spend(self, seat: int, ms: float) -> None:
        if time := self._times[seat]:
            bank = bank_left_ms(time.bank, self._clocks[seat].move_ms, ms)
            self._times[seat] = Time(round(time.used + ms, 1), round(bank, 1))


@lru_cache(maxsize=4096)
def option_notation(move: Option) -> str:
    """Return an option in the notation of scenes; see `Prompt.options`."""
    match move:
        case Play():
            return tile_digits([move.tile]) + END_SIGNS[move.end]
        case PlayTwo():
            return f"{tile_digits([move.left])}<{tile_digits([move.right])}>"
        case _:
            return text.option_words(move)


def _tiles_or_count(hidden: Sequence[Tile] | int) -> TileText | int:
    return hidden if isinstance(hidden, int) else tile_digits(hidden)


def _dealt(frame: Frame) -> TileText:
    position = frame.position
    return write_deals(position.deals) if position and position.is_open else ""


def _options(options: Sequence[Option], choice: int | None) -> tuple[tuple[str, ...], int | None]:
    if not isinstance(options[-1], Bid):
        return tuple(map(option_notation, options)), choice
    words, marks = zip(*text.options_text(options, choice), strict=True)
    return words, None if choice is None else marks.index(True)


def _foul(record: FoulRecord) -> Foul:
    evidence = text.EVIDENCE
    return Foul(
        seat=record.seat,
        foul=record.foul,
        detail=printable(record.detail, evidence),
        line=printable(record.line, evidence),
        stderr=printable(record.stderr, evidence),
        clock=text.lateness_text(record) if record.limit_ms else "",
    )


# The review of a game on its replay page: chances, luck, and the options' values.


GRADES = (0.15, 0.35, 0.7)
"""Gaps from which a decision is an inaccuracy, a mistake and a blunder, as parts of what a round
changes: see `mean_swing`.

In `draw` a round changes 14 points; a mistake costs 5, about a tile, and a blunder two tiles. Parts
of the target called every eighth choice a blunder in games to 30 points, and none in those to 500.
"""
CLEAR_GAP = 2
"""Standard errors that a gap must exceed to get a grade: others may be noise of the worlds."""

Reviewed = Mapping[int, Sequence[ReviewedDecision]]  # By seat.


class MarkedDraw(Struct, frozen=True, array_like=True):
    """The luck of the tiles that a seat drew at one moment, or of a deal, which has no tiles."""

    index: int
    """The moment of the replay, from 0."""
    seat: int
    tiles: TileText
    leads: tuple[float, ...]
    """The luck of each side in points of lead."""
    share: float
    """The luck of the seat's side in percent of the game."""


class MarkedDecision(Struct, frozen=True, array_like=True):
    """A decision, and what each option was worth to the seat that was asked."""

    index: int
    seat: int
    gap: float
    """The value of the best option less that of the chosen one, in points of lead."""
    error: float
    grade: int
    """The number of GRADES that it reaches."""
    leads: tuple[float, ...]
    """The value of each option that the page shows, in points of lead."""
    errors: tuple[float, ...]
    """The standard errors of the values; empty if they are exact."""
    percent: float
    """The percent of the game that the best option has beyond the chosen one."""
    loss: float
    """The loss to use in sums over decisions, in points of lead: sums of gaps are too large."""


class GameReview(Struct, frozen=True):
    """The review of a game."""

    chances: tuple[tuple[float, ...], ...]
    """At each moment, for each side but the last, the percent of the other sides that it may expect
    to end above. The last follows: all sides' percents add up to 50 times their number."""
    leads: tuple[tuple[float, ...], ...]
    """At each moment the lead that each side but the last can still expect in this round."""
    draws: tuple[MarkedDraw, ...]
    decisions: tuple[MarkedDecision, ...]
    grades: tuple[float, ...]


def review_game(
    timeline: Timeline, terms: LuckTerms, reviews: Reviewed | None = None
) -> GameReview:
    """Review a game for those who may see all hands.

    `terms`: those of its luck. `reviews`: decisions reviewed before, by seat. Raises UserError.

    No seat's own page may have any of it. Chances and luck need all hands; and the worlds behind
    the values of options are drawn in a chain from the real one, so values would reveal that.
    """
    from arena.valuation.luck import luck_of_games, replay_chances
    from arena.valuation.win_chance import Law, mean_swing

    logged, groups = timeline.logged, [*join_draws(timeline.moments, None)]
    seats = range(len(logged.sitting.seats))
    swing = mean_swing(Law(logged.sitting.rules, len(seats)))
    grades = tuple(part * swing for part in GRADES)
    expected = replay_chances(timeline)
    places = places_in_replay(groups)
    marks = [mark for seat in seats for mark in _decisions(timeline, places, seat, grades, reviews)]
    (luck,) = luck_of_games([timeline], terms)
    return GameReview(
        tuple(_rounded(100 * share for share in chance.shares[:-1]) for chance in expected),
        tuple(_rounded(chance.leads[:-1]) for chance in expected),
        tuple(_draws(logged, groups, luck.draws)),
        tuple(sorted(marks, key=lambda mark: mark.index)),
        grades,
    )


def _rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple(round(number, 1) for number in numbers)


def _draws(
    logged: LoggedGame, groups: Sequence[Sequence[Moment]], draws: Sequence["DrawLuck"]
) -> Iterator[MarkedDraw]:
    """Yield the luck of deals and draws, the draws of a seat at one moment together."""
    luck = {(draw.round, draw.tile): draw for draw in draws if draw.tile}
    deals = {draw.round: draw for draw in draws if not draw.tile}
    for index, group in enumerate(groups):
        if deal := deals.pop(group[0].game.playing.number, None):
            yield from (_marked(logged, index, seat, [deal]) for seat, _ in enumerate(deal.share))
        came = [
            (moment.game.playing.number, high_first(event.tile))
            for moment in group
            for event in moment.events
            if isinstance(event, Drew | TurnedUp) and event.tile
        ]
        drawn = sorted((luck[key] for key in came if key in luck), key=attrgetter("seat"))
        for seat, seat_draws in groupby(drawn, attrgetter("seat")):
            yield _marked(logged, index, seat, [*seat_draws])


def _marked(logged: LoggedGame, index: int, seat: int, draws: Sequence["DrawLuck"]) -> MarkedDraw:
    """Return a draw's luck: a side's points less the mean of the other sides'."""
    sides = range(count_sides(logged.sitting.rules.deal.partners, len(logged.sitting.seats)))
    points = [sum(draw.points[side] for draw in draws) for side in sides]
    leads = (value - (sum(points) - value) / (len(points) - 1) for value in points)
    share = sum(draw.share[seat] for draw in draws)
    drawn = tile_digits([draw.tile for draw in draws if draw.tile])
    return MarkedDraw(index, seat, drawn, tuple(round(x, 2) for x in leads), round(100 * share, 1))


def _decisions(
    timeline: Timeline,
    places: Mapping[int, int],
    seat: int,
    grades: Sequence[float],
    reviews: Reviewed | None,
) -> Iterator[MarkedDecision]:
    from arena.valuation.decision_loss import review_seat

    questions = timeline.questions(seat)
    for decision in (reviews or {}).get(seat) or review_seat(timeline, seat):
        question = questions[decision.number - 1]
        # Of bids that the page joins it shows the best.
        rest = zip(decision.values, decision.errors, strict=True)
        joined = group_options(question.options, decision.choice)
        values = [max(islice(rest, len(group))) for group, _ in joined]
        leads, errors = map(_rounded, zip(*values, strict=True))
        gap, error, percent = _rounded((decision.gap, decision.error, decision.percent_gap))
        args = places[question.index], seat, gap, error, _grade(decision, grades)
        yield MarkedDecision(*args, leads, () if decision.exact else errors, percent, decision.loss)


def _grade(decision: ReviewedDecision, grades: Sequence[float]) -> int:
    is_clear = decision.gap > CLEAR_GAP * decision.error
    return sum(decision.gap >= least for least in grades) if is_clear else 0


# --- the page ---


GAME_SCRIPT = "// {made_by}\nglobalThis.packedGame = {game};\n"
"""A script, because a page that is opened as a file may load scripts, and no other data."""


class PackedGame(Struct, frozen=True):
    """A game as a page shows it."""

    game: str
    told: str
    data: str
    """The game for the page's script."""
    reviewed: bool = False


class Playback(Struct, frozen=True):
    """All that a page shows of a game."""

    about: GameInfo
    seats: tuple[int | None, ...]
    """The viewers; None is everybody."""
    moments: tuple[tuple[Fields, ...], ...]
    """For each moment, what changed for the first viewer and how the others differ from it."""
    review: GameReview | None = None


def pack_game(
    logged: LoggedGame,
    seat: int | None = None,
    *,
    terms: LuckTerms | None = None,
    reviews: Reviewed | None = None,
) -> PackedGame:
    """Return a game, packed, for everybody, with its review if wished, or as one seat saw it.

    `terms`: those of its luck; None: it is not reviewed. Raises DamagedLogError.
    """
    # Only a review looks up questions: to list them takes a third of the time of a replay.
    timeline = Timeline(logged) if terms and seat is None else None
    play = play_back(logged, timeline.moments if timeline else walk_log(logged), seat)
    if terms and timeline:
        with suppress(UserError):  # Few rules have no values.
            play = replace(play, review=review_game(timeline, terms, reviews))
    outcome = (
        text.outcome_line(logged)
        if seat is None
        else f"Seen by seat {seat} only, {printable(logged.sitting.seats[seat])}"
    )
    return PackedGame(play.about.game, outcome, _pack(play), play.review is not None)


def replay_page(
    title: str,
    game: PackedGame | None = None,
    links: Sequence[tuple[str, str]] = (),
    emblems: Mapping[str, int] = {},
) -> str:
    """Return the HTML of a page that replays a game; see `page` for `links`.

    Without a game it loads that of its address from the folder of replays beside it. `emblems` has
    the number of each bot's emblem in its event; without, the seats are counted.
    """
    return page(
        "replay.html.j2",
        "replay",
        title,
        styles=("table.css", "game.css", "replay.css"),
        scripts=(*TABLE_SCRIPTS, "chart.js", "review.js", "numbers.js", "panels.js", "replay.js"),
        data={"game": game, "source": REPLAYS, "emblems": emblems},
        loads_scripts=game is None,
        links=links,
    )


def event_replay_page(emblems: Mapping[str, int], links: Sequence[tuple[str, str]]) -> str:
    """Return the HTML of the page that replays every game of an event, or of its site."""
    return replay_page("Replay", None, links, emblems)


def replay_script(game: PackedGame) -> str:
    """Return the script with a game that `replay_page` loads; its first line says who made it."""
    return GAME_SCRIPT.format(made_by=generator(), game=encode_json(game).decode())


def play_back(logged: LoggedGame, moments: Iterable[Moment], seat: int | None = None) -> Playback:
    """Return all scenes of a game for everybody and for each seat, or for one seat only."""
    sitting = logged.sitting
    seats = (None, *range(len(sitting.seats))) if seat is None else (seat,)
    return Playback(logged_game_info(logged, seat), seats, tuple(_moments(sitting, moments, seats)))


def _moments(
    sitting: Sitting, moments: Iterable[Moment], seats: Sequence[int | None]
) -> Iterator[tuple[Fields, ...]]:
    partners = sitting.rules.deal.partners
    makers = [
        SceneBuilder(sitting.seats, sitting.seat_clocks, partners=partners, seat=seat)
        for seat in seats
    ]
    before: Fields = {}
    for first, *others in frames_for(moments, seats):
        scene = asdict(makers[0].scene(first))
        changed = {key: value for key, value in scene.items() if before.get(key, ...) != value}
        yield (
            changed,
            *(
                maker.differences(frame, first, scene)
                for maker, frame in zip(makers[1:], others, strict=True)
            ),
        )
        before = scene


def _pack(play: Playback) -> str:
    return base64.b64encode(zlib.compress(encode_json(play))).decode()


# Files of replays: each game's, when it is made again, and how it is written.


TermsOf = Callable[[LoggedGame], LuckTerms]
"""A function that returns the terms of the luck of a game."""
REPORT = ("report.html", "Report")
"""The path of an event's report from its replay page, and the label of the link."""


def place_in_plan(logged: LoggedGame) -> int:
    """Return a game's place in its sitting's plan, from 1; games are played in another order.

    Raises DamagedLogError.
    """
    game, boards = logged.game, logged.sitting.boards
    if game.board not in boards:
        raise DamagedLogError(f"Game {game.game}: its sitting has no board {game.board}.")
    return 1 + boards.index(game.board)


def is_newer(path: Path, log: Path) -> bool:
    """Tell whether a replay is newer than the log, or other file, that it follows from."""
    return path.exists() and path.stat().st_mtime_ns > status_of(log).st_mtime_ns


def is_reviewed(path: Path) -> bool:
    """Tell whether a page, or a replay, has the review of its game."""
    return b'"reviewed":true' in read_file(path)


def is_current(path: Path, luck: Path, *, reviewed: bool) -> bool:
    """Tell whether this version made a replay, with a review or without as wished.

    No review is older than the file of the `luck`.
    """
    if not path.exists() or not read_file(path).startswith(f"// {generator()}\n".encode()):
        return False
    old = reviewed and luck.exists() and not is_newer(path, luck)
    return is_reviewed(path) == reviewed and not old


class ReplayTask(NamedTuple):
    """A log whose games get their replays."""

    log: Path
    folder: Path
    """The folder of the replays."""
    luck: Path
    terms_of: TermsOf
    reviewed: bool
    """True if all get reviews; else only those keep theirs that have them."""


def make_replays(task: ReplayTask) -> int:
    """Write the replays of a log's games, unless current and newer than it; return their number.

    Raises DamagedFileError, OSError.
    """
    count = 0
    for logged in valid_games(read_games(task.log)):
        path = task.folder / f"{logged.game.game}{REPLAY_ENDING}"
        review = task.reviewed or (path.exists() and is_reviewed(path))
        if not (is_newer(path, task.log) and is_current(path, task.luck, reviewed=review)):
            packed_game = pack_game(logged, terms=task.terms_of(logged) if review else None)
            write_replay(path, replay_script(packed_game))
            count += 1
    return count


def valid_games(games: Iterable[LoggedGame]) -> list[LoggedGame]:
    """Return a log's games in planned order; drop a game that was cut off and then played again."""
    games_by_place: dict[int, LoggedGame] = {}
    for logged in games:
        if logged.result or place_in_plan(logged) not in games_by_place:
            games_by_place[place_in_plan(logged)] = logged
    return [games_by_place[place] for place in sorted(games_by_place)]


def write_replay(path: Path, text: str) -> None:
    """Write a page or a replay atomically: a reader sees the old or the new. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, [text.encode()], sync=False)
