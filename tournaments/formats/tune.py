"""Tune: candidates for a bot's parameters play the bot as it is, group by group. Pure.

The candidates of a group play the same deals, in both rotations, and the optimiser learns how many
points a game each was ahead, with the luck of the tiles taken out. At the end the best values play
the bot as it was on deals of their own; the interval of that lead is the answer. The results in the
ledger are the whole state: from them the search is computed again, always the same.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import sqrt
from typing import ClassVar, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena.document.blocks import (
    Cell,
    Code,
    Column,
    DocumentBlock,
    Figure,
    Paragraph,
    Section,
    table,
)
from arena.rules.english import count_in_digits
from arena.sandbox.command import Command
from protocol.errors import UserError
from protocol.records import Result
from tournaments.formats.base import (
    BaseFormat,
    Contest,
    FinishedStages,
    LinkToGames,
    Pairings,
    SomeResults,
    find_luck,
    luck_of,
    with_known_luck,
)
from tournaments.formats.entrant import Parameter, Values, fill, value_text
from tournaments.formats.versus import GAMES_A_BOARD
from tournaments.rating.sprt import Sprt, outcomes
from tournaments.rating.statistics import Estimate, t_quantile
from tournaments.rating.tables import Anchor, Corrections

# The search for better values: the only module that knows the optimiser, the library `cmaes`.
#
# CMA-ES with learning rates that adapt to noise (Nomura, Akimoto and Ono, GECCO 2023) compares some
# candidates at a time by rank, so that it has no step sizes for the user to choose, and no end that
# it must know beforehand. Its seed is fixed: the same scores lead to the same values, always.


FIRST_SPREAD = 0.2
"""Standard deviation of the first candidates, as a part of each range."""
AVERAGE_DIVISOR = 4
"""The result is the average of the last quarter of the steps."""
NO_TUNE_EXTRA = "A tune needs the extra `tune`: pip install '.[tune]' in the clone."


def optimiser_here() -> str:
    """Return the name and version of the optimiser. Raises UserError if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # They take 10 ms to import.

    try:
        return f"cmaes {version('cmaes')}"
    except PackageNotFoundError as error:
        raise UserError(NO_TUNE_EXTRA) from error


class Space(Struct, frozen=True):
    """The space that is searched, and the optimiser that searches it."""

    parameters: tuple[tuple[str, Parameter], ...]
    """The parameters by name, in their order."""
    group: int
    """Candidates that are compared with each other at a time."""
    optimiser: str
    """Name and version of the optimiser: another version could propose other values."""


class Step(NamedTuple):
    """The state of a search after some groups of candidates."""

    best: Values
    """The values that it would give now: those of the last quarter of the steps, averaged."""
    next: tuple[Values, ...]


class Search:
    """A search that is told the scores of its candidates, group by group."""

    def __init__(self, space: Space) -> None:
        """Begin at the start values.

        Raises UserError if the optimiser is not here in the version that the space names.
        """
        optimiser = optimiser_here()
        if optimiser != space.optimiser:
            name, _, wanted = space.optimiser.partition(" ")
            raise UserError(
                f"This tune was begun with {space.optimiser}, and {optimiser} could propose other "
                f"values. Install the former to go on: pip install {name}=={wanted}."
            )
        import numpy as np
        from cmaes import CMA

        self._space = space
        start = np.array([parameter.place_of(parameter.start) for _, parameter in space.parameters])
        self._cma = CMA(
            mean=start,
            sigma=FIRST_SPREAD,
            bounds=np.array([[0.0, 1.0]] * len(start)),
            seed=1,
            population_size=space.group,
            lr_adapt=True,
        )
        self._means = [start]
        self._asked = [self._cma.ask() for _ in range(space.group)]

    @property
    def step(self) -> Step:
        """The state now."""
        import numpy as np

        last = self._means[-max(1, len(self._means) // AVERAGE_DIVISOR) :]
        best = self._values(np.mean(last, axis=0))
        return Step(best, tuple(map(self._values, self._asked)))

    def tell(self, scores: Sequence[float]) -> None:
        """Take the scores of the candidates in their order; a higher one is better."""
        self._cma.tell([(point, -score) for point, score in zip(self._asked, scores, strict=True)])
        self._means.append(self._cma.mean)
        self._asked = [self._cma.ask() for _ in range(self._space.group)]

    def _values(self, places: Sequence[float]) -> Values:
        pairs = zip(self._space.parameters, places, strict=True)
        return {name: parameter.value_at(float(place)) for (name, parameter), place in pairs}


@lru_cache(maxsize=4)
def search_path(space: Space, scores: tuple[tuple[float, ...], ...]) -> tuple[Step, ...]:
    """Return the states of a search: before the first scores, and after those of each group.

    Raises UserError.
    """
    search = Search(space)
    path = [search.step]
    for group in scores:
        search.tell(group)
        path.append(search.step)
    return tuple(path)


# The lead of new values over the start values, and the answer of a tune. Pure.


class Verdict(Struct, frozen=True, kw_only=True):
    """The answer of a tune: the tuned bot's lead over the start on the deals of the check."""

    boards: int
    points: float
    """The tuned bot's lead, in points a game, with the luck of the tiles taken out."""
    points_half_width: float
    elo: float | None
    """The same lead in Elo; None if it is too one-sided for a rating."""
    elo_half_width: float | None

    @property
    def is_better(self) -> bool:
        """True if the 95 % interval of the lead is above 0."""
        return self.points > self.points_half_width

    @property
    def is_worse(self) -> bool:
        """True if the 95 % interval of the lead is below 0."""
        return -self.points > self.points_half_width


def mean_lead(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of two or more independent leads, and half its interval by Student's t."""
    count = len(values)
    mean = sum(values) / count
    error = sqrt(sum((value - mean) ** 2 for value in values) / (count - 1) / count)
    return mean, t_quantile(0.975, count - 1) * error


def verdict_of(
    values: Sequence[float],
    results: Sequence[Result],
    tuned: str,
    start: str,
    *,
    partners: bool,
    luck: Corrections | None,
) -> Verdict:
    """Return the answer after two or more boards with these leads in points, and their games."""
    from tournaments.rating.ratings import fit

    anchor = Anchor(start, 0.0)
    pools = fit(results, partners=partners, anchor=anchor, corrections=luck).pools
    rated = next(rating for pool in pools for rating in pool.entrants if rating.name == tuned)
    elo, half = rated.elo, rated.half_width
    if rated.corrected and rated.corrected.elo is not None:
        elo, half = rated.corrected.elo, rated.corrected.half_width
    lead, half_width = mean_lead(values)
    return Verdict(
        boards=len(values),
        points=round(lead, 6),
        points_half_width=round(half_width, 6),
        elo=elo if half is not None else None,
        elo_half_width=half,
    )


# A tune in words: a line while it runs, the sections of its report. Pure.


MIN_GROUPS = 4
"""The fewest groups of candidates that tell a lead."""
MAX_TUNE_ROWS = 10
"""The largest number of steps in the table."""
GAIN_NOTE = (
    "The gain is the lead of the later half of the candidates so far over the start values, in "
    "points a game, with the luck of the tiles taken out. It is rather too small, because they "
    "vary around the best values and began farther away. The answer comes from the check, on deals "
    "that the search never saw."
)


class Way(NamedTuple):
    """The way of a search so far."""

    parameters: Mapping[str, Parameter]
    """The parameters that are searched, by name."""
    steps: Sequence[Step]
    """The states of the search, the start included."""
    means: Sequence[float]
    """The mean lead of each group's candidates over the start values, in points a game."""
    boards_a_step: int

    @property
    def best(self) -> Values:
        """The best values so far."""
        return self.steps[-1].best

    def lead(self, step: int) -> Estimate | None:
        """Return the lead of the later half of the groups up to a step; None if they are few."""
        last = self.means[:step][-max(MIN_GROUPS, step // 2) :]
        return Estimate(*mean_lead(last)) if len(last) >= MIN_GROUPS else None


def tune_state(way: Way, boards: int) -> str:
    """Return the best values so far and their estimated gain in a line."""
    done = len(way.means)
    best = " ".join(f"{name}={value_text(value)}" for name, value in way.best.items())
    lead = way.lead(done)
    gain = f", about {_points(lead)} better than the start" if lead else ""
    return f"{done * way.boards_a_step:,} of {boards:,} boards searched: {best}{gain}."


def tune_sentence(verdict: Verdict, name: str) -> str:
    """Return the answer."""
    lead = Estimate(verdict.points, verdict.points_half_width)
    evidence = f"({_points(lead)}; {verdict.boards:,} new boards, 95 %)"
    if verdict.is_better:
        margin = f"{lead.text(1, '')} points a game (95 %)"
        if verdict.elo is not None:
            margin += f"; {Estimate(verdict.elo, verdict.elo_half_width).text()} Elo"
        return (
            f"**Better by {margin}**: {name} with the new values, on {verdict.boards:,} new boards."
        )
    if verdict.is_worse:
        return f"**Worse**: keep the values of {name} {evidence}."
    return f"**Undecided**: keep the values of {name} {evidence}."


def tune_sections(way: Way, entry: str) -> Iterator[Section]:
    """Yield the way of the search, and its values to paste."""
    done = len(way.means)
    blocks: list[DocumentBlock] = []
    if done >= MIN_GROUPS:
        blocks.append(Figure(macro="tuning", value=way))
    columns = [Column("boards"), *map(Column, way.parameters), Column("gain", detail="±")]
    steps = sorted({done * row // MAX_TUNE_ROWS for row in range(MAX_TUNE_ROWS + 1)})
    blocks.append(table("Steps of the search", columns, [_row(way, step) for step in steps]))
    yield Section("The search", [*blocks, Paragraph(GAIN_NOTE, "faint")], id="search")
    tune = [_range_text(key, parameter, way.best[key]) for key, parameter in way.parameters.items()]
    paste: list[DocumentBlock] = [
        Paragraph("The bot with the best values, for an event file:"),
        Code(fill((entry,), way.best)[0]),
        Paragraph("To tune on from there:"),
        Code("\n".join(("[tune]", *tune))),
    ]
    yield Section("The values", paste, id="values")


def _row(way: Way, step: int) -> list[str | Cell]:
    lead = way.lead(step)
    gain = (lead or Estimate(None)).cell(1)
    values = (value_text(value) for value in way.steps[step].best.values())
    return [f"{step * way.boards_a_step:,}", *values, gain]


def _points(lead: Estimate) -> str:
    return f"{lead.text(1)} points a game"


def _range_text(name: str, parameter: Parameter, start: float) -> str:
    parts = {"start": start, "min": parameter.min, "max": parameter.max}
    pairs = [f"{key} = {value_text(value)}" for key, value in parts.items()]
    pairs += ["integer = true"] * parameter.integer + ['scale = "log"'] * (parameter.scale == "log")
    return f"{name} = {{ {', '.join(pairs)} }}"


# --- the format ---


GROUP = 12
"""Candidates of a group: enough to keep the cores busy, few enough to learn often."""
USUAL_TUNE_BOARDS = 5000
"""Boards of the search, without another number."""
SHARE_CHECKED = 5
"""Boards of the search for each board of the check."""
MOST_CHECKED = 1000
"""The most boards of the check: they resolve leads of some 12 Elo."""
POINTS_TEST = Sprt(measure="points")
"""Settings by which the outcome of a board is the lead in points, averaged over its games."""


class Tune(BaseFormat, frozen=True, tag="tune"):
    """A bot's parameters, for which better values are searched."""

    BOARDS_A_SITTING: ClassVar[int] = 5
    """Boards that one set of processes plays: the deals of a group."""
    EACH: ClassVar[str] = " for all candidates together"
    HAS_COPIES: ClassVar[bool] = True

    parameters: tuple[tuple[str, Parameter], ...]
    """The parameters by name, in their order."""
    words: tuple[str, ...]
    """The bot's command as it is written, with each parameter as {name}."""
    entry: str
    """The lines of the event file that say how the bot starts, with each parameter as {name}."""
    optimiser: str

    # --- to be planned ---

    def with_boards(self, option: int | None, file_boards: int | None) -> tuple["Tune", int]:
        """Return the format and the boards of the search. Raises UserError."""
        boards, least = option or file_boards or USUAL_TUNE_BOARDS, GROUP * self.BOARDS_A_SITTING
        if boards < least:
            raise UserError(
                f"A tune compares {GROUP} candidates on {self.BOARDS_A_SITTING} deals at a time: "
                f"it needs at least {least} boards, not {boards} (boards)."
            )
        return self, boards

    def check(self, contest: Contest) -> None:
        """Refuse more than two sides. Raises UserError."""
        if contest.units_a_table != 2:
            raise UserError("A tune needs rules and seats for two sides: two seats, or partners.")

    def count_fewest_tables(self, contest: Contest) -> int:
        """Return 0: no stage is large, because each is a group of candidates."""
        return 0

    def boards_a_round(self, contest: Contest) -> int:
        """Return the deals of all groups and of the check."""
        return self.groups(contest) * contest.boards_a_sitting + _checked(contest)

    def groups(self, contest: Contest) -> int:
        """Return the number of groups of the search."""
        return contest.boards // (GROUP * contest.boards_a_sitting)

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return Space(self.parameters, GROUP, self.optimiser)

    # --- to be scheduled ---

    def stages(self, contest: Contest, before: FinishedStages) -> Iterator[Sequence[Pairings]]:
        """Yield the groups of candidates, and then the check of the best values."""
        start, *slots, tuned = contest.units
        search, size = Search(self.space), contest.boards_a_sitting
        first = 1
        for _ in range(self.groups(contest)):
            values = dict(zip(slots, search.step.next, strict=True))
            pairs = [(start, slot) for slot in slots]
            yield [Pairings([pairs], range(first, first + size), values)]
            played = before.latest()
            search.tell(_scores(contest, played, first, find_luck(played)))
            first += size
        boards = range(first, first + _checked(contest))
        yield [Pairings([[(start, tuned)]], boards, {tuned: search.step.best})]
        find_luck(before.latest())

    def count_later_games(self, contest: Contest, board: int, games: int) -> int:
        """Return the games after this board."""
        size = contest.boards_a_sitting
        groups = self.groups(contest) - board // size
        if groups < 0:
            return 0
        return GAMES_A_BOARD * (groups * GROUP * size + _checked(contest))

    def set_values(self, command: Command, values: Values) -> Command:
        """Return the bot's command with these values of its parameters."""
        triples = zip(command.argv, self.words, fill(self.words, values), strict=True)
        argv = (word if word != template else now for now, template, word in triples)
        return replace(command, argv=tuple(argv))

    # --- to be extended ---

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return why the new contest cannot extend an old one of this format; None if it can."""
        if why := super().why_not_extended(old, new):
            return why
        if old.boards != new.boards or new.format != self:
            return (
                "a tune's parameters, boards and optimiser cannot change; begin another one, from "
                "the values that this one found"
            )
        return "the bot's files have changed" if new.retired else None

    # --- to be reported ---

    def rated(self, contest: Contest, results: Sequence[Result]) -> Sequence[Result]:
        """Return the games of the check: a candidate's name is another bot in each group.

        A board that repeats a deal of the search is left out: the values were tuned to win on it.
        """
        first, repeats = self._first_checked(contest), contest.first_board_of
        checked = (result for result in results if repeats.get(result.board, result.board) >= first)
        return SomeResults(checked, luck_of(results))

    def describe_boards(self, contest: Contest) -> str:
        """Describe the number of boards."""
        return (
            f"{count_in_digits(contest.boards, 'deal')}{self.EACH} and "
            f"{_checked(contest):,} for the answer"
        )

    def introduce(self, contest: Contest) -> str:
        """Say who plays whom, after a comma."""
        return f", {GROUP} candidates at a time against the bot as it was, on the same deals"

    def describe_state(self, contest: Contest, results: Iterable[Result]) -> str:
        """Return the best values so far and their estimated gain in a line."""
        return tune_state(self.way(contest, results), contest.boards)

    def describe_lead(
        self, contest: Contest, results: Sequence[Result], is_over: bool, ranks: str
    ) -> str:
        """Return the answer, or the best values so far."""
        verdict = self.verdict_of_check(contest, results) if is_over else None
        if verdict is None:
            return self.describe_state(contest, results)
        return tune_sentence(verdict, contest.entrants[0].name)

    def report(
        self, contest: Contest, results: Sequence[Result], link: LinkToGames
    ) -> Iterator[Section]:
        """Yield the way of the search, and its values to paste."""
        yield from tune_sections(self.way(contest, results), self.entry)

    def verdict_of_check(self, contest: Contest, results: Sequence[Result]) -> Verdict | None:
        """Return the answer by the check so far; None before two boards of it are complete."""
        first = self._first_checked(contest)
        checked = (result for result in results if result.board >= first)
        games, luck = with_known_luck(SomeResults(checked, luck_of(results)))
        start, tuned = contest.entrants[0].name, contest.entrants[-1].name
        repeats = contest.first_board_of
        values = _margins(contest, games, tuned, first, luck, repeats)
        partners = contest.rules.deal.partners
        if len(values) < 2:
            return None
        rated = contest.rated(games)
        return verdict_of(values, rated, tuned, start, partners=partners, luck=luck)

    def way(self, contest: Contest, results: Iterable[Result]) -> Way:
        """Return the way of the search. Raises UserError."""
        size = contest.boards_a_sitting
        played, luck = with_known_luck(results)
        groups: list[list[Result]] = [[] for _ in range(self.groups(contest))]
        for result in played:
            if result.board < self._first_checked(contest):
                groups[(result.board - 1) // size].append(result)
        scores = list[tuple[float, ...]]()
        for index, games in enumerate(groups):
            if len(games) < GAMES_A_BOARD * GROUP * size:
                break
            scores.append(_scores(contest, games, index * size + 1, luck))
        steps = search_path(self.space, tuple(scores))
        means = [sum(group) / GROUP for group in scores]
        return Way(dict(self.parameters), steps, means, GROUP * size)

    def _first_checked(self, contest: Contest) -> int:
        return self.groups(contest) * contest.boards_a_sitting + 1


def _checked(contest: Contest) -> int:
    """Return the boards of the check."""
    return min(MOST_CHECKED, contest.boards // SHARE_CHECKED)


def _scores(
    contest: Contest, results: Sequence[Result], first: int, luck: Corrections | None
) -> tuple[float, ...]:
    """Return the mean lead of each candidate of a group over the start, in points a game."""
    games: dict[str, list[Result]] = {entrant.name: [] for entrant in contest.entrants[1:-1]}
    for result in results:
        for name in set(result.seats) & games.keys():
            games[name].append(result)
    each = (_margins(contest, own_games, name, first, luck) for name, own_games in games.items())
    return tuple(sum(values) / len(values) for values in each)


def _margins(
    contest: Contest,
    results: Sequence[Result],
    name: str,
    first: int,
    luck: Corrections | None,
    repeats: Container[int] = (),
) -> list[float]:
    """Return the lead of a bot over the start on each board but `repeats`, in points a game."""
    board_outcomes = outcomes(
        POINTS_TEST, results, name, lost_by=contest.target, since=first, luck=luck, repeats=repeats
    )
    return [outcome.value for outcome in board_outcomes]
