"""Events, leagues, tunes and reviews whose results are made up: they cost no games."""

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace
from numpy.typing import NDArray

from arena.analysis.timeline import Timeline
from arena.rules.variants import find_variant
from arena.valuation.terms import ChoiceKind, ReviewedDecision, RoundPhase
from protocol.records import ChoiceRecord, Result, SeatFoul
from tests.support.planned_events import event
from tournaments.event.book import Book, ResultStore
from tournaments.event.facts import (
    FoulExample,
    InfoStats,
    LogFacts,
    Machine,
    SandboxSummary,
    Times,
    TimeStats,
)
from tournaments.event.folder import Folder
from tournaments.formats.base import first_version
from tournaments.formats.entrant import Parameter, Values
from tournaments.formats.tune import GROUP, Tune, optimiser_here
from tournaments.league.pages import RoundFacts, round_address
from tournaments.league.settings import DivisionSettings, LeagueFolder, LeagueSettings
from tournaments.league.state import (
    Admitted,
    AnyEntry,
    CheckedStep,
    CheckSummary,
    ChosenTable,
    DivisionData,
    LeagueData,
    PlayedRound,
    RoundPlan,
)
from tournaments.plan.event import Event
from tournaments.plan.schedule import PlannedSitting, stages
from tournaments.rating.likelihood_ratio import NELO
from tournaments.rating.ratings import fit, fit_both
from tournaments.rating.sprt import Sprt
from tournaments.rating.tables import Anchor, Pool, Ratings
from tournaments.rating.tally import by_pool, collect
from tournaments.report.document import ReportData, report_document
from tournaments.report.event_text import main_result, uneven
from tournaments.report.page import SharedText, report_page

# Results for the rating tests: written by hand or by chance, and a second solver for them.


ELO = 400 / math.log(10)


def game(
    board: int, seats: Sequence[str], scores: Sequence[int], fouls: tuple[SeatFoul, ...] = ()
) -> Result:
    ranking = sorted(scores, reverse=True)
    places = tuple([1 + ranking.index(score) for score in scores])
    return Result(
        game="g", board=board, seats=tuple(seats), scores=tuple(scores), places=places,
        rounds=1, why="target", fouls=fouls,
    )  # fmt: skip


def figure(value: float | None) -> float:
    """Return a rating, an interval or an error of somebody in the core."""
    assert value is not None
    return value


STRENGTH = {"a": 90.0, "b": 30.0, "c": 0.0, "d": -40.0, "e": -80.0}


def played(
    rng: random.Random,
    strength: dict[str, float],
    boards: int,
    seats: int = 2,
    deal: float = 0.0,
    first: float = 0.0,
) -> list[Result]:
    """Boards of all rotations of random entrants; strengths, deal and first seat in Elo.

    With Gumbel noise the chance of finishing ahead is the logistic curve of the model. `deal`
    is the spread of what a board gives a seat, whoever sits there.
    """
    results = []
    for board in range(boards):
        names = rng.sample(sorted(strength), seats)
        luck = [rng.gauss(first * (seat == 0), deal) for seat in range(seats)]
        for turn in range(seats):
            rotation = names[turn:] + names[:turn]
            worth = [strength[n] + extra for n, extra in zip(rotation, luck, strict=True)]
            scores = [w / ELO - math.log(-math.log(rng.random())) for w in worth]
            results.append(game(board, rotation, [round(10000 * score) for score in scores]))
    return results


def rated(
    results: Sequence[Result], *, partners: bool = False, anchor: Anchor | None = None
) -> Ratings:
    """Rate results with their clean games and costs, as a report does."""
    return fit_both(results, by_pool(collect(results, partners)), anchor=anchor)


def pairs(result: Result) -> Iterator[tuple[int, int, float]]:
    for a, b in itertools.combinations(range(len(result.seats)), 2):
        lead = result.places[b] - result.places[a]
        yield a, b, 0.5 + 0.5 * (lead > 0) - 0.5 * (lead < 0)


def ascent(results: Sequence[Result]) -> tuple[dict[str, float], list[float]]:
    """Ratings and seat advantages in Elo, by plain gradient ascent."""
    seats = len(results[0].seats)
    tallies: dict[tuple[str, str, int, int], list[float]] = {}
    for result in results:
        for a, b, points in pairs(result):
            cell = tallies.setdefault((result.seats[a], result.seats[b], a, b), [0.0, 0.0])
            cell[0] += 1
            cell[1] += points
    theta: dict[str | int, float] = dict.fromkeys((key[0] for key in tallies), 0.0)
    theta |= dict.fromkeys((key[1] for key in tallies), 0.0) | dict.fromkeys(range(seats), 0.0)
    rate = 1 / sum(n for n, _ in tallies.values())  # No curvature exceeds the number of pairs.
    for _ in range(1000):
        slope = dict.fromkeys(theta, 0.0)
        for (x, y, a, b), (n, points) in tallies.items():
            p = 1 / (1 + math.exp(theta[y] - theta[x] + theta[b] - theta[a]))
            for key, sign in ((x, 1), (y, -1), (a, 1), (b, -1)):
                slope[key] += sign * (points - n * p)
        theta = {key: value + rate * slope[key] for key, value in theta.items()}
    names = [key for key in theta if isinstance(key, str)]
    mean = sum(theta[name] for name in names) / len(names)
    last = theta[seats - 1]
    return (
        {name: ELO * (theta[name] - mean) for name in names},
        [ELO * (theta[seat] - last) for seat in range(seats - 1)],
    )


def only_pool(
    results: Sequence[Result],
    prior: float = 1.0,
    *,
    partners: bool = False,
    anchor: Anchor | None = None,
) -> Pool:
    (pool,) = fit(results, prior=prior, partners=partners, anchor=anchor).pools
    return pool


# Simulated boards of known strength, many tests at once, for the sequential test.


Floats = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class Luck(NamedTuple):
    """The luck of the deal, as it falls to seat 0."""

    spread: float
    """Its standard deviation, in Elo (in points for the margin)."""


def simulated(
    settings: Sprt, luck: Luck, rng: np.random.Generator, *, better: bool, shape: tuple[int, int]
) -> Floats:
    """Outcomes of boards of two games whose lead is exactly h1, or h0."""
    lead = settings.h1 if better else settings.h0
    deal = luck.spread * rng.standard_normal(shape)
    if settings.measure == "points":
        # What is left of a hand's luck when the other has it: not all of it, and with heavy tails.
        noise = rng.standard_t(5, (2, *shape))
        return np.asarray(np.round(2 * (lead + 40 * noise.mean(axis=0) + 0.2 * deal)) / 2)
    strength = _strength(settings, lead, luck)
    first, second = (
        rng.random(shape) < 1 / (1 + np.exp(-(strength + sign * deal) / ELO)) for sign in (1, -1)
    )
    return np.asarray((first.astype(np.float64) + second) / 2)


def _strength(settings: Sprt, lead: float, luck: Luck) -> float:
    """Elo of the lead in one game without luck, so that over all deals it comes to `lead`."""
    low, high = -3000.0, 3000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _lead(settings, middle, luck) < lead else (low, middle)
    return low


def _lead(settings: Sprt, strength: float, luck: Luck) -> float:
    """Return the lead over all deals, by quadrature, in the unit of the hypotheses."""
    p, q = (1 / (1 + np.exp(-(strength + sign * luck.spread * NODES) / ELO)) for sign in (1, -1))
    mean = float(WEIGHTS @ (p + q)) / 2
    if settings.measure == "elo":
        return float(ELO * np.log(mean / (1 - mean)))
    square = float(WEIGHTS @ ((p * (1 - p) + q * (1 - q)) / 4 + (p + q) ** 2 / 4))
    return float(NELO * (mean - 0.5) / np.sqrt(2 * (square - mean**2)))


# Tunes whose games are made up: a candidate's lead is a function of its values, and chance.


GAME_SD = 60.0
"""Standard deviation of a game's margin between two sample bots in draw: about 45 for a board."""
Strength = Callable[[Values], float]
"""The lead in points of a bot with these values over one without any."""


def tune(boards: int, **parameters: Parameter) -> Event:
    """Plan a tune."""
    form = Tune(tuple(parameters.items()), ("x",), 'run = ["x"]', optimiser_here())
    return replace(event(GROUP + 2, boards=boards, a_sitting=form.BOARDS_A_SITTING), format=form)


def play(
    tune: Event,
    strength: Strength,
    rng: Random,
    results: dict[str, Result],
    most: int | None = None,
) -> None:
    """Play what is missing, or at most so many games of it."""
    for stage in stages(tune, results):
        for plan in stage:
            for game in plan.games:
                if game.name in results:
                    continue
                if most is not None and len(results) >= most:
                    return
                results[game.name] = result(tune, plan, game.name, game.board, strength, rng)


def result(
    tune: Event, plan: PlannedSitting, name: str, board: int, strength: Strength, rng: Random
) -> Result:
    """Make up a game."""
    first, second = (strength(values) if values else 0.0 for values in plan.values)
    margin = round(first - second + rng.gauss(0, GAME_SD))
    seats = tuple(tune.entrants[entrant].name for entrant in plan.seats)
    places = (1, 1) if margin == 0 else (1, 2) if margin > 0 else (2, 1)
    return Result(
        game=name, board=board, seats=seats, scores=(max(0, margin), max(0, -margin)),
        places=places, rounds=3, why="target",
    )  # fmt: skip


# A reviewer that values options by a hash: as fast as a replay, the same in every process.


PHASES: tuple[RoundPhase, ...] = ("lead", "early", "draws", "endgame")
KINDS: tuple[ChoiceKind, ...] = ("play", "draw", "pass")


def fake_review(timeline: Timeline, seat: int, *_: object) -> Iterator[ReviewedDecision]:
    """Yield decisions in the core's form; nothing in them is true."""
    for turn in timeline.questions(seat):
        if len(turn.question.options) < 2 or not isinstance(turn.answer, ChoiceRecord):
            continue
        name = f"{timeline.logged.game.game} {seat} {turn.number}".encode()
        leads = [byte / 8 for byte in sha256(name).digest()[: len(turn.question.options)]]
        best = max(range(len(leads)), key=lambda option: leads[option])
        yield ReviewedDecision(
            number=turn.number,
            round=turn.round,
            phase=PHASES[turn.number % 4],
            kind=KINDS[turn.number % 3],
            choice=turn.answer.choice,
            best=best,
            values=tuple(leads),
            errors=(0.5,) * len(leads),
            loss=leads[best] - leads[turn.answer.choice],
            error=0.5,
            percent_loss=1.0,
            percent_gap=1.0,
            exact=False,
        )


# Leagues in memory: a register and rounds of made-up results.


HOUSE = ("greedy", "random")
BOARDS = 5


def admitted(version: str, day: str = "2026-11-01") -> Admitted:
    """Return the line of the register that admits a version."""
    return Admitted(
        time=f"{day}T08:00:00Z", bot=first_version(version), version=version,
        fingerprint="0" * 64, house=version in HOUSE,
    )  # fmt: skip


def round_plan(active: Iterable[str], **inputs: Any) -> RoundPlan:
    """Return the plan of a round; what is not given is usual."""
    usual: dict[str, Any] = {
        "method": "test", "number": 1, "division": "draw", "time": "2026-11-01T12:00:00Z",
        "held": {}, "boards": BOARDS, "most_tables": 1, "until": None, "register": "0" * 64,
        "anchor": "greedy", "tables": (),
    }  # fmt: skip
    return RoundPlan(active=tuple(active), **usual | inputs)


def played_round(
    number: int, day: str, tables: Mapping[Any, Sequence[Result]], *, over: bool = True
) -> PlayedRound:
    """Return a round of these tables (tuples of names), whose boards are numbered from 1."""
    names = {name for table in tables for name in table}
    plan = round_plan(
        sorted(names), number=number, time=f"{day}T12:00:00Z", most_tables=len(tables),
        tables=tuple(ChosenTable(table, "", 0.0) for table in tables),
    )  # fmt: skip
    return PlayedRound(
        plan=plan, folder=Folder(Path(f"rounds/draw/{number:04}")), event=cast("Event", None),
        is_over=over, closed=None,
        results=[result for results in tables.values() for result in results],
        first_board=BOARDS * (number - 1),
    )  # fmt: skip


def league_of(
    rounds: Sequence[PlayedRound],
    register: Iterable[AnyEntry],
    *,
    seats: int = 2,
    path: Path = Path("league"),
) -> LeagueData:
    """Return a league of one division."""
    settings = DivisionSettings(name="draw")
    division = DivisionData(
        settings=settings, rules=find_variant("draw"), seats=seats, rounds=list(rounds)
    )
    return LeagueData(
        folder=LeagueFolder(path), settings=LeagueSettings(divisions=(settings,), house=HOUSE),
        register=list(register), divisions={"draw": division},
    )  # fmt: skip


def table_results(
    rng: random.Random, strength: Mapping[str, float], names: Sequence[str], luck: float = 100.0
) -> list[Result]:
    """Play a table on all boards in every rotation; strengths and the luck of a board in Elo."""
    results = []
    for board in range(1, BOARDS + 1):
        extras = [rng.gauss(0, luck) for _ in names]
        for turn in range(len(names)):
            rotation = [*names[turn:], *names[:turn]]
            worth = [strength[name] + extra for name, extra in zip(rotation, extras, strict=True)]
            scores = [rating / ELO - math.log(-math.log(rng.random())) for rating in worth]
            results.append(game(board, rotation, [round(10_000 * score) for score in scores]))
    return results


def everybody_meets(
    rng: random.Random, strength: Mapping[str, float], number: int, day: str, *, over: bool = True
) -> PlayedRound:
    """Return a round in which every two of these versions meet."""
    tables = {pair: table_results(rng, strength, pair) for pair in combinations(strength, 2)}
    return played_round(number, day, tables, over=over)


# Leagues whose results are made up, in memory, as a site shows them: a site costs no games.


BEGIN = date(2026, 11, 2)
BOTS, TABLES = 6, 6
PASSED = CheckSummary(
    verdict="passed", steps=(CheckedStep("hello", "passed", ""),), sandbox="locked", seconds=4.0
)


def made_up_league(folder: Path, *, rounds: int = 8, days: int = 10) -> LeagueData:
    """Return a league of one division; each bot has a second version after half of the days."""
    rng = random.Random(2)
    register = [admitted(name, f"{BEGIN}") for name in HOUSE]
    for version, day in (("", BEGIN), ("@2", BEGIN + timedelta(days=days // 2))):
        for bot in range(1, BOTS + 1):
            entry = admitted(f"bot-{bot}{version}", f"{day}")
            idea = f"idea number {version or 1}"
            register.append(replace(entry, about=idea, author="Ada", check=PASSED))
    strength = {entry.version: rng.gauss(0, 120) for entry in register}
    league_rounds = [
        _round(rng, folder, number, BEGIN + timedelta(days=days * (number - 1) // rounds), register,
               strength)
        for number in range(1, rounds + 1)
    ]  # fmt: skip
    return league_of(league_rounds, register, path=folder)


def _round(
    rng: random.Random,
    folder: Path,
    number: int,
    day: date,
    register: list[Admitted],
    strength: dict[str, float],
) -> PlayedRound:
    """Return a round of those who are there on its day; a bot fouls once in the second."""
    active = sorted(
        {entry.bot: entry.version for entry in register if entry.time[:10] <= f"{day}"}.values()
    )
    pairs = sorted({tuple(sorted(rng.sample(active, 2))) for _ in range(TABLES)})
    tables = {pair: table_results(rng, strength, pair, luck=300) for pair in pairs}
    if number == 2:
        results = tables[pairs[0]]
        results[0] = replace(results[0], why="foul", fouls=(SeatFoul(0, "late"),), places=(2, 1))
    round = played_round(number, f"{day}", tables)
    place = Folder(LeagueFolder(folder).round("draw", number))
    return replace(round, event=event(2, boards=BOARDS), folder=place)


def publish_rounds(data: LeagueData, site: Path) -> None:
    """Write what marks a round as published: its plan, which has none in its folder."""
    for division in data.divisions.values():
        for round in division.rounds:
            if round.is_over:
                place = site / round_address(round)
                place.mkdir(parents=True, exist_ok=True)
                (place / "round.json").touch()


def made_up_facts(round: PlayedRound) -> RoundFacts:
    """Return facts as the luck and the review of a round would state them."""
    return RoundFacts(
        round=round,
        luck={result.game: (4.0, -4.0) for result in round.results},
        mistakes=dict.fromkeys(round.plan.active, (10, 8.5)),
    )


# Events whose results are made up, and the report page of them: a page costs no games.


NOTHING = LogFacts(
    times=Times(entrants=(), worst_lag_ms=0.0),
    evidence=(),
    sandboxes=(SandboxSummary("off", ("`boneyard doctor` says more.",), 3, 4),),
    rounds={},
    machines=(),
)
RATHER = 25
"""Points by which each entrant is better than the next."""


def made_up(event: Event, foul_every: int = 0, seed: int = 1) -> list[Result]:
    """Results of the whole event, the first entrants being the better ones."""
    rng, results = random.Random(seed), dict[str, Result]()
    for stage in stages(event, results):
        for plan in stage:
            for game in plan.games:
                is_foul = foul_every and len(results) % foul_every == 0
                result = _result(event, plan.seats, game.name, game.board, rng, is_foul)
                results[game.name] = result
    return [*results.values()]


def _result(
    event: Event, seats: tuple[int, ...], name: str, board: int, rng: random.Random, is_foul: object
) -> Result:
    scores = [round(100 - RATHER * entrant + rng.gauss(0, 60)) for entrant in seats]
    fouls = (SeatFoul(0, "late"),) if is_foul else ()
    if fouls:
        scores[0] = -1000
    if event.rules.deal.partners:
        scores = [scores[seat] + scores[(seat + 2) % 4] for seat in range(4)]
    ranking = sorted(scores, reverse=True)
    return Result(
        game=name, board=board, seats=tuple(event.entrants[entrant].name for entrant in seats),
        scores=tuple(scores), places=tuple(1 + ranking.index(score) for score in scores),
        rounds=3, why="foul" if fouls else "target", fouls=fouls,
    )  # fmt: skip


def evidence(result: Result, seat: int = 0, **changes: str) -> FoulExample:
    """Return a possible record of a foul."""
    words = {"detail": "A sentence.", "line": "", "stderr": "", **changes}
    return FoulExample(
        board=result.board, game=result.game, seat=seat, entrant=result.seats[seat], foul="late",
        ms=12.5, **words,
    )  # fmt: skip


def measured(event: Event, *examples: FoulExample) -> LogFacts:
    """Return possible log data of an event."""
    used = tuple(
        TimeStats(
            name=entrant.name,
            games=2,
            questions=30,
            mean_ms=1.25,
            worst_ms=20.5,
            given_back_ms=7.0,
            cpu_ms=None,
            info={"depth": InfoStats(30, 2.5, 1.0, 4.0)} if entrant is event.entrants[0] else UNSET,
        )
        for entrant in event.entrants
    )
    return LogFacts(
        times=Times(entrants=used, worst_lag_ms=7.0),
        evidence=examples,
        sandboxes=NOTHING.sandboxes,
        rounds={},
        machines=((Machine("Linux 6, a processor, 2 cores, CPython 3.11", "0.1"), 3),),
    )


def report_data(event: Event, results: list[Result], facts: LogFacts = NOTHING) -> ReportData:
    book = book_of(event, results)
    notes = [*filter(None, [uneven(book)])]
    return ReportData(book, results, "0123456789abcdef" * 4, notes, facts)


def book_of(event: Event, results: list[Result]) -> Book:
    """Return a book of an event that has no folder."""
    return Book(Folder(Path("made-up")), event, ResultStore(results))


def write_report(
    folder: Path, event: Event, results: list[Result], facts: LogFacts = NOTHING
) -> Path:
    path = folder / "report.html"
    path.write_text(html(event, results, facts))
    return path


def html(event: Event, results: list[Result], known: LogFacts = NOTHING) -> str:
    data = report_data(event, results, known)
    return report_page(report_document(data), SharedText(main_result(data.book)), event.emblems)
