"""Forecast of an event's duration and of the precision of its ratings. Pure.

**Sittings.** The rounds of a Swiss or a knockout follow from results: here the better bot always
wins. Versus lasts as long as it would if every board were like those of the calibration.

**Time.** A game takes the average time between the ends of two games of a sitting; the rest of the
measured time, over all jobs, is the time in which sittings begin and end:

    game = mean(ends apart)     sitting = (jobs · seconds - games · game) / sittings
    (sittings · sitting + games · game) / jobs

Bots think one after the other, so a game of others, or at other clocks, differs from that average
by the time for which its seats think. An entrant with no game yet is taken to think as long as the
same bot at the nearest clock, in proportion to the clocks, or else as the others do.

**Interval.** The rating model's information H of the planned games, at the measured strengths,
gives the variance of the ratings if all pairs of seats were independent. It is divided by `saved`,
the ratio in the calibration's games of that variance to the one clustered by boards (below 1 if the
pairs of a table depend on each other):

    V = H⁺ / saved          95 %: ± t(0.975, boards - 1) · sqrt(V)

In a Swiss or a knockout a short calibration leaves the strengths open, and unequal bots that meet
by rank tell less a game. So the interval is an average over fields of strengths as they may be: a
rating is normal about what was measured, shrunk towards a field of `SPREAD`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import ceil, exp, log, sqrt
from random import Random

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from arena.rules.english import duration
from protocol.records import Result
from protocol.ruleset import count_sides, rotations
from tournaments.plan.event import FORMATS, Event
from tournaments.plan.schedule import PlannedSitting, Stage, sittings, stages
from tournaments.rating.ratings import fit
from tournaments.rating.regression import Bools, Floats, expected_share, reach
from tournaments.rating.sprt import MAX_EVENT_BOARDS
from tournaments.rating.statistics import ELO, Error, Z, degrees_of_freedom

SPREAD = 300.0
"""Standard deviation of the strengths in a field of which nothing is known, in Elo."""
STRENGTH_FIELDS = 16
"""Fields of strengths over which the precision is averaged if results decide who meets."""
TELLING_BOARDS = 10
"""Fewest boards from which the effect of duplicate boards can be estimated."""
WANTED = 10.0
"""Half width, in Elo, for which the forecast tells the number of boards."""


class Trial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Measurements of a short calibration; JSON leaves out what it could not measure."""

    jobs: int
    """Sittings side by side."""
    seconds: float
    """Duration of the calibration, in s."""
    sittings: int
    games: int
    """Games that were over."""
    questions: float | None = None
    """Questions in a game, on average; None if no game was over."""
    game_s: float | None = None
    """Time that a job needs for a game, in s; None if no game was over."""
    sitting_s: float | None = None
    """Time that a job needs to begin and end a sitting, in s."""
    saved: float | None = None
    """Variance of differences of ratings if pairs of seats were independent, over the variance
    clustered by boards; None with too few boards."""
    elo: dict[str, float]
    """Ratings of the entrants that played, in Elo."""
    elo_errors: dict[str, float] = {}
    """Standard errors of those that are compared with all others, in Elo."""
    think_s: dict[str, float] = {}
    """Time for which each entrant that played thinks in a game, in s."""
    all_think_s: float = 0.0
    """Time for which all seats think in an average game of the calibration, in s."""
    answer: int | None = None
    """Versus: expected boards until the answer, if all are like those of the calibration; None for
    another format, or if no board was complete."""


class Forecast(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Expected size, duration and precision of an event; JSON leaves out what is unknown."""

    event: str
    entrants: int
    seats: int
    format: str
    """Name of the format."""
    boards: int
    """Boards for each pairing; in a Swiss for each round, in a knockout for each match; with
    versus the expected boards until the answer."""
    most_boards: int
    """Most boards, over all rounds."""
    rounds: int
    """Rounds, each planned from the results before it; 1 in formats without rounds."""
    sittings: int
    """Sittings; each starts the processes of a table. In a Swiss, a knockout and versus this and
    the figures below are estimates, see `expected_sittings`."""
    games: int
    questions: int | None = None
    """Expected questions; None if no game of the calibration was over."""
    minutes: float | None = None
    """Expected minutes; None if no game of the calibration was over."""
    elo_half_width: float
    """Half width of a rating's 95 % interval, in Elo; the mean over the entrants."""
    lead_half_width: float
    """Half width of the 95 % interval of the difference of two ratings, in Elo; the mean."""
    boards_for_10_elo: int
    """Boards, in the sense of `boards`, after which `lead_half_width` is 10 Elo."""
    trial: Trial
    """The measurements behind the forecast."""


def trial_of(
    event: Event,
    results: Sequence[Result],
    *,
    ends: Mapping[str, float],
    jobs: int,
    seconds: float,
    sittings: int,
    questions: float | None,
    think_s: Mapping[str, float] | None = None,
    settled_s: float = 0.0,
) -> Trial:
    """Measure a calibration by its results. `ends`: the time at which each game ended, in s.

    `think_s`: the time for which each entrant thinks in a game, in s.
    `settled_s`: the time from which on `jobs` sittings played side by side, in s; the speed before
    that says nothing about the event's.
    """
    pools = fit(results, partners=event.rules.deal.partners).pools
    timed = {game: end for game, end in ends.items() if end >= settled_s}
    worked_s = jobs * (seconds - settled_s)
    sittings -= _sittings_before(event, ends, settled_s)
    game = _game_s(event, timed, worked_s)
    think = dict(think_s or {})
    thought = [
        sum(think.get(name, 0.0) for name in result.seats)
        for result in results
        if result.game in timed
    ]
    return Trial(
        jobs=jobs,
        seconds=round(seconds, 3),
        sittings=sittings,
        games=len(results),
        questions=questions,
        game_s=game,
        sitting_s=None if game is None else (worked_s - len(timed) * game) / sittings,
        saved=_gain_of_replayed_boards(event, results),
        elo={
            rating.name: rating.elo
            for pool in pools
            for rating in pool.entrants
            if rating.elo is not None
        },
        elo_errors={
            rating.name: rating.half_width / Z
            for rating in (pools[0].entrants if len(pools) == 1 else ())
            if rating.half_width is not None
        },
        think_s=think,
        all_think_s=sum(thought) / max(1, len(thought)),
        answer=event.format.expect_boards(event, results),
    )


def _sittings_before(event: Event, ends: Mapping[str, float], settled_s: float) -> int:
    """Count the sittings with all their games' ends before a time."""
    plans = (
        [ends[game.name] for game in plan.games if game.name in ends]
        for plan in sittings(event, {})
    )
    return sum(max(times, default=settled_s) < settled_s for times in plans)


def _game_s(event: Event, ends: Mapping[str, float], worked_s: float) -> float | None:
    """Return the mean time between two games' ends in a sitting, in s; without two, all time."""
    if not ends:
        return None
    games = [
        (end, before)
        for plan in sittings(event, {})
        for before, end in pairwise(sorted(ends[g.name] for g in plan.games if g.name in ends))
    ]
    # Not more than was measured: sittings that a calibration cut short may have been its longest.
    each = [end - before for end, before in games] or [worked_s / len(ends)]
    return min(sum(each) / len(each), worked_s / len(ends))


def _gain_of_replayed_boards(event: Event, results: Sequence[Result]) -> float | None:
    """Return how many times more a game tells because its board is played in every rotation.

    That is the variance of rating differences in the model, in which games are independent, divided
    by the variance that is clustered by boards; None if too few boards tell it.
    """
    games = _whole_boards(results)
    partners = event.rules.deal.partners
    # A short calibration has few boards, but each of them with many sets of entrants.
    pools = fit(games, partners=partners).pools
    number = {
        rating.name: place for pool in pools[:1] for place, rating in enumerate(pool.entrants)
    }
    if len({result.board for result in games if result.seats[0] in number}) < TELLING_BOARDS:
        return None
    pool = pools[0]
    seated = (result.seats for result in games if result.seats[0] in number)
    tables = Counter(tuple(number[name] for name in seats) for seats in seated)
    model = _covariance(tables, [rating.elo or 0.0 for rating in pool.entrants], partners)
    pairs = [
        (_variance_of_lead(model, i, j), (error / ELO) ** 2)
        for i, j in combinations(range(len(number)), 2)
        if (error := pool.error(i, j)) is not None
    ]
    clustered = sum(variance for _, variance in pairs)
    return sum(variance for variance, _ in pairs) / clustered if clustered else None


def _whole_boards(results: Iterable[Result]) -> list[Result]:
    """Return games of boards that a set of entrants played in every rotation, renumbered by set."""
    played: dict[tuple[int, tuple[str, ...]], list[Result]] = {}
    for result in results:
        played.setdefault((result.board, tuple(sorted(result.seats))), []).append(result)
    sets = [games for games in played.values() if len(games) % len(rotations(games[0].seats)) == 0]
    return [replace(result, board=n) for n, games in enumerate(sets) for result in games]


def forecast(event: Event, jobs: int, trial: Trial) -> Forecast:
    """Forecast an event that runs at this many jobs."""
    tables = Counter[tuple[int, ...]]()
    sat = 0
    for plan in expected_sittings(event, trial.elo, trial.answer):
        tables[plan.seats] += len(plan.games)
        sat += 1
    boards = min(event.boards, trial.answer or event.boards)
    games = tables.total()
    fields = (
        [trial.elo] if event.format.IS_STATIC or len(event.entrants) == 2 else _fields(event, trial)
    )
    widths = [_half_widths(event, boards * event.rounds, trial, field) for field in fields]
    rating, lead = (sum(each) / len(widths) for each in zip(*widths, strict=True))
    seconds = _seconds(event, trial, sat, tables)
    return Forecast(
        event=event.heading,
        entrants=len(event.entrants),
        seats=event.seats,
        format=event.format.name,
        boards=boards,
        most_boards=event.all_boards,
        rounds=event.rounds,
        sittings=sat,
        games=games,
        questions=None if trial.questions is None else round(trial.questions * games),
        minutes=None if seconds is None else round(seconds / min(jobs, sat) / 60, 2),
        elo_half_width=round(rating, 2),
        lead_half_width=round(lead, 2),
        boards_for_10_elo=min(MAX_EVENT_BOARDS, ceil(boards * (lead / WANTED) ** 2)),
        trial=trial,
    )


def _seconds(
    event: Event, trial: Trial, sat: int, tables: Mapping[tuple[int, ...], int]
) -> float | None:
    """Return the time in which one job plays everything, in s."""
    if trial.game_s is None or trial.sitting_s is None:
        return None
    think = _think_s(event, trial)
    rest = max(0.0, trial.game_s - trial.all_think_s)
    games = (games * (rest + sum(think[n] for n in table)) for table, games in tables.items())
    return sat * trial.sitting_s + sum(games)


def _think_s(event: Event, trial: Trial) -> list[float]:
    """Return the time for which each entrant thinks in a game, in s."""
    think_s = trial.think_s
    usual = sum(think_s.values()) / max(1, len(think_s))
    clocks = [log(event.clock_of(n).move_ms) for n in range(len(event.entrants))]

    def guess(n: int) -> float:
        neighbours = [
            (abs(clocks[m] - clocks[n]), m)
            for m, bot in enumerate(event.entrants)
            if bot.fingerprint == event.entrants[n].fingerprint and bot.name in think_s
        ]
        if not neighbours:
            return usual
        nearest = min(neighbours)[1]
        return think_s[event.entrants[nearest].name] * exp(clocks[n] - clocks[nearest])

    names = (entrant.name for entrant in event.entrants)
    return [think_s[name] if name in think_s else guess(n) for n, name in enumerate(names)]


def _fields(event: Event, trial: Trial) -> list[dict[str, float]]:
    """Return fields of strengths as they may be after a calibration; always the same ones."""
    luck = Random(1)
    errors = {entrant.name: trial.elo_errors.get(entrant.name) for entrant in event.entrants}
    # The weight of what was measured beside the field of which nothing is known.
    weight = {
        name: 0.0 if error is None else SPREAD**2 / (SPREAD**2 + error**2)
        for name, error in errors.items()
    }
    return [
        {
            name: trust * trial.elo.get(name, 0.0) + luck.gauss(0, SPREAD * sqrt(1 - trust))
            for name, trust in weight.items()
        }
        for _ in range(STRENGTH_FIELDS)
    ]


def _half_widths(
    event: Event, boards: int, trial: Trial, field: Mapping[str, float]
) -> tuple[float, float]:
    """Return the half widths of a rating and of a difference of two at these strengths, in Elo.

    Each is the mean over all entrants, or pairs of them, that the tables connect.
    """
    first = event.first_board_of
    boards -= sum(board <= boards for board in first)
    seated = dict.fromkeys(
        (plan.seats, first.get(game.board, game.board))
        for plan in expected_sittings(event, field, trial.answer)
        for game in plan.games
    )
    tables = Counter(seats for seats, _ in seated)
    elo = [field.get(entrant.name, 0.0) for entrant in event.entrants]
    covariance = _covariance(tables, elo, event.rules.deal.partners) / (trial.saved or 1.0)
    linked, df = _linked(tables, len(elo)), degrees_of_freedom(boards)
    pairs = (pair for pair in combinations(range(len(elo)), 2) if linked[pair])
    leads = [_variance_of_lead(covariance, *pair) for pair in pairs]
    rating, lead = (
        Error(ELO * float(np.mean(np.sqrt(np.maximum(each, 0)))), df).half_width()
        for each in (covariance.diagonal(), leads)
    )
    return rating, lead


def _linked(tables: Iterable[tuple[int, ...]], size: int) -> Bools:
    met = np.zeros((size, size), np.bool_)
    for table in tables:
        met[np.ix_(table, table)] = True
    return reach(met)


def _variance_of_lead(covariance: Floats, i: int, j: int) -> float:
    return float(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])


def _covariance(
    tables: Mapping[tuple[int, ...], int], elo: Sequence[float], partners: bool
) -> Floats:
    """Return the covariance of ratings (natural logits) if pairs of seats were independent."""
    information = _information(tables, np.array(elo) / ELO, partners)
    return np.asarray(np.linalg.pinv(information, hermitian=True), np.float64)


def _information(tables: Mapping[tuple[int, ...], int], logits: Floats, partners: bool) -> Floats:
    information = np.zeros((len(logits), len(logits)))
    for table, games in tables.items():
        sides = count_sides(partners, len(table))
        for left, right in combinations([[*table[side::sides]] for side in range(sides)], 2):
            row = np.zeros(len(logits))
            np.add.at(row, left, 1 / len(left))
            np.add.at(row, right, -1 / len(right))
            p = expected_share(row @ logits)
            information += games * p * (1 - p) * np.outer(row, row)
    return information


def expected_sittings(
    event: Event, elo: Mapping[str, float], answer: int | None
) -> Iterator[PlannedSitting]:
    """Yield the sittings that an event plays if the stronger side always wins.

    `elo`: the strength of each entrant, in Elo; without one it counts as average. `answer`: the
    boards until the answer of versus; None: it plays all its boards.
    """
    boards = min(event.boards, answer or event.boards)
    event = replace(event, format=event.format.unstopped, boards=boards)
    return sittings(event, {}) if event.format.IS_STATIC else _won_by_the_better(event, elo)


def _won_by_the_better(event: Event, elo: Mapping[str, float]) -> Iterator[PlannedSitting]:
    results: dict[str, Result] = {}
    for stage in stages(event, results):
        yield from stage
        results |= _results(event, stage, elo)


def _results(event: Event, stage: Stage, elo: Mapping[str, float]) -> Iterator[tuple[str, Result]]:
    names = [entrant.name for entrant in event.entrants]
    sides = count_sides(event.rules.deal.partners, event.seats)
    for plan in stage:
        seats = tuple(names[entrant] for entrant in plan.seats)
        strong = [sum(elo.get(name, 0.0) for name in seats[side::sides]) for side in range(sides)]
        # Equals rank in the order of the plan: ties would need more boards.
        ranking = sorted(range(sides), key=lambda side: (-strong[side], plan.seats[side]))
        places = tuple(1 + ranking.index(seat % sides) for seat in range(event.seats))
        for game in plan.games:
            yield (
                game.name,
                Result(
                    game=game.name,
                    board=game.board,
                    seats=seats,
                    scores=places[::-1],
                    places=places,
                    rounds=1,
                    why="target",
                ),
            )


# Forecasts as text for people. Pure.


def forecast_text(forecast: Forecast) -> list[str]:
    """Write a forecast as lines for people."""
    trial = forecast.trial
    took = "longer than the calibration" if forecast.minutes is None else duration(forecast.minutes)
    form = FORMATS[forecast.format]
    prefix = "" if form.IS_STATIC else "about "
    size = form.describe_forecast(forecast.boards, forecast.most_boards, forecast.rounds)
    questions = "unknown" if forecast.questions is None else f"about {forecast.questions:,}"
    return [
        forecast.event,
        f"{forecast.entrants} bots, {forecast.seats} seats, {size}",
        f"Sittings   {prefix}{forecast.sittings:,}",
        f"Games      {prefix}{forecast.games:,}",
        f"Questions  {questions}",
        f"Time       {took} at --jobs {trial.jobs}",
        f"Ratings    ± {forecast.elo_half_width:.0f} Elo, and the difference of two "
        f"± {forecast.lead_half_width:.0f} Elo (95 %)",
        f"           ± {WANTED:.0f} Elo for a difference takes about "
        f"{forecast.boards_for_10_elo:,} boards{form.EACH}",
        f"Measured   {_measured(trial)}",
    ]


def _measured(trial: Trial) -> str:
    if trial.game_s is None or trial.sitting_s is None:
        return f"no game ended in {trial.seconds:.0f} s; measure for longer (--seconds)"
    save = (
        "too few boards to estimate the gain of replaying them"
        if trial.saved is None
        else f"replaying boards makes a game tell as much as {trial.saved:.2f}"
    )
    return (
        f"{trial.games} games in {trial.seconds:.1f} s; {1000 * trial.game_s:.0f} ms a game, "
        f"{1000 * trial.sitting_s:.0f} ms to start and end a sitting; {save}"
    )
