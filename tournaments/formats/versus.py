"""Versus: two bots, until a sequential test decides whether the first is better. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Self

from msgspec.structs import replace

from arena.document.blocks import (
    Code,
    Column,
    DocumentBlock,
    Figure,
    Media,
    Paragraph,
    Section,
    table,
)
from arena.rules.english import count_in_digits
from protocol.errors import UserError
from protocol.records import Result
from tournaments.formats.base import (
    BaseFormat,
    Contest,
    FinishedStages,
    LinkToGames,
    Pairings,
    find_luck,
    first_version,
    with_known_luck,
)
from tournaments.formats.tables import RoundRobin
from tournaments.rating.sprt import (
    MAX_EVENT_BOARDS,
    Measure,
    Outcome,
    Sprt,
    SprtStep,
    TestVerdict,
    answer,
    boards_still_needed,
    outcomes,
)
from tournaments.rating.tables import Corrections

# The sequential test in words: a line while it runs, a section of the report after. Pure.


MEASURE_UNITS: dict[Measure, str] = {
    "elo": "Elo",
    "nelo": "normalised Elo",
    "points": "points a game",
}
"""Names of the hypotheses' units."""
GAMES_A_BOARD = 2
"""Games on a board: two sides have two rotations, if each is one bot."""
BARS = "▁▂▃▄▅▆▇█"
SPARKLINE_WIDTH = 60
"""The largest width of a sparkline, in characters."""
MAX_TEST_ROWS = 8
"""The largest number of steps in the table."""

FOULS_SENTENCE = (
    " A game that ended by a foul counts as lost by the target, or by the actual margin if that "
    "was larger."
)

LUCK_SENTENCE = (
    " The luck of the tiles is taken out of every game, with a constant weight. This favours "
    "nobody and usually saves boards."
)


def sprt_state(settings: Sprt, steps: Sequence[SprtStep]) -> str:
    """Return the state of the test in one line."""
    if not steps:
        return "no board is complete"
    last, (low, high) = steps[-1], settings.bounds
    verdict = answer(settings, steps)
    if verdict != "undecided":
        return f"decided: {'yes' if verdict == 'H1' else 'no'}"
    side, bound = ("yes", high) if last.llr >= 0 else ("no", low)
    # Before `min_boards` the evidence may be more than is needed.
    line = f"leaning {side} (evidence {abs(last.llr):.1f}, {abs(bound):.1f} decide)"
    if last.boards == settings.max_boards:
        return f"{line}, undecided"
    return f"{line}, about {GAMES_A_BOARD * boards_still_needed(settings, last)} more games"


def sprt_blocks(
    settings: Sprt, steps: Sequence[SprtStep], first: str, other: str
) -> list[DocumentBlock]:
    """Return a test of `first` against another in a report: the question, the path, a table."""
    so_far = sprt_sentence(settings, steps, first, other)
    blocks: list[DocumentBlock] = [Paragraph(describe_question(settings, first))]
    if steps:
        caption = "The evidence (LLR); ▁ is enough for No, █ for Yes:"
        rows = [
            (f"{step.boards}", f"{step.llr:+.2f}", f"{step.estimate:+.1f}")
            for step in subsample(steps, MAX_TEST_ROWS)
        ]
        columns = [*map(Column, ("boards", "LLR", MEASURE_UNITS[settings.measure]))]
        blocks += (
            Paragraph(caption, media=Media.MARKDOWN),
            Code(sparkline(settings, steps), media=Media.MARKDOWN),
            Figure(macro="walk", value=(settings, steps, so_far)),
            table("Steps of the test", columns, rows),
        )
    return blocks


def sprt_sentence(settings: Sprt, steps: Sequence[SprtStep], first: str, other: str) -> str:
    """Return the answer, or a sentence that there is none yet."""
    boards = steps[-1].boards if steps else 0
    verdict = answer(settings, steps)
    if verdict == "H1":
        evidence = _after(settings, boards, settings.alpha)
        return f"Yes: {first} is {_more(settings)} {other} ({evidence})."
    if verdict == "H0":
        evidence = _after(settings, boards, settings.beta)
        # Without it a bot that lost everything and one without a change read alike.
        estimate = steps[-1].estimate
        lead = f"{abs(estimate):.1f} {MEASURE_UNITS[settings.measure]}"
        ahead = f"it {'leads' if estimate > 0 else 'trails'} by {lead}"
        return f"No: {first} is {_less(settings)} {other} ({evidence}; {ahead})."
    played = f"{count_in_digits(boards, 'board')} played"
    if boards == settings.max_boards:
        played += f", as many as the event allows{_more_boards(settings, steps)}"
    elif steps:
        played += f"; about {boards_still_needed(settings, steps[-1]):,} more would decide"
    return f"Undecided whether {first} is better than {other}: {played}."


def _more_boards(settings: Sprt, steps: Sequence[SprtStep]) -> str:
    """Return words about how many more boards would decide; empty if that is unknown."""
    needed = boards_still_needed(replace(settings, max_boards=MAX_EVENT_BOARDS), steps[-1])
    if not 0 < needed < MAX_EVENT_BOARDS - steps[-1].boards:
        return ""
    return f"; about {needed:,} more would decide (--boards {steps[-1].boards + needed})"


def _more(settings: Sprt) -> str:
    """Return a lead above that under H0 in words."""
    lead = f"{abs(settings.h0):g} {MEASURE_UNITS[settings.measure]}"
    if settings.h0 < 0:
        return f"less than {lead} worse than"
    return f"more than {lead} better than" if settings.h0 else "better than"


def _less(settings: Sprt) -> str:
    """Return a lead below that under H1 in words."""
    lead = f"{abs(settings.h1):g} {MEASURE_UNITS[settings.measure]}"
    if settings.h1 > 0:
        return f"not {lead} better than"
    return f"more than {lead} worse than" if settings.h1 else "worse than"


def _after(settings: Sprt, boards: int, error: float) -> str:
    """Return the boards and the confidence of an answer."""
    luck = ", luck taken out" if settings.without_luck else ""
    return f"decided after {count_in_digits(boards, 'board')}, {100 * (1 - error):g} %{luck}"


def describe_question(settings: Sprt, first: str) -> str:
    """Return the hypotheses and the error rates in a sentence."""
    return (
        f"No (H0): {first} leads by {settings.h0:g} {MEASURE_UNITS[settings.measure]}, or less. "
        f"Yes (H1): by {settings.h1:g}, or more. A wrong yes comes in {100 * settings.alpha:g} %, "
        f"a wrong no in {100 * settings.beta:g} % of tests. The test decides after "
        f"{settings.min_boards} boards at the earliest and plays at most {settings.max_boards}."
        f"{FOULS_SENTENCE * (settings.measure == 'points')}"
        f"{LUCK_SENTENCE * settings.without_luck}"
    )


def sparkline(settings: Sprt, steps: Sequence[SprtStep]) -> str:
    """Draw the walk in at most 60 characters, by the ratio's place between the bounds."""
    (low, high), most = settings.bounds, len(BARS) - 1
    heights = (
        len(BARS) * (step.llr - low) / (high - low) for step in subsample(steps, SPARKLINE_WIDTH)
    )
    return "".join(BARS[min(max(int(height), 0), most)] for height in heights)


def subsample(steps: Sequence[SprtStep], most: int) -> list[SprtStep]:
    """Return at most `most` of the steps, evenly spread, the last among them."""
    size = min(most, len(steps))
    return [steps[len(steps) * (place + 1) // size - 1] for place in range(size)]


# --- the format ---


class Versus(BaseFormat, frozen=True, tag="versus"):
    """Two bots, until a test decides whether the first is better, or all boards are played."""

    BOARDS_A_SITTING: ClassVar[int] = 10
    """Boards that one set of processes plays; few, because the test looks for its answer after
    each set."""
    EACH: ClassVar[str] = ""
    ESTIMATE: ClassVar[str] = "at most "

    sprt: Sprt = Sprt()
    """Hypotheses and error rates of the test; its `max_boards` are the event's boards."""

    def with_boards(self, option: int | None, file_boards: int | None) -> tuple[Self, int]:
        """Return the format, and its most boards: of the command line, of the event file, its own.

        Raises UserError.
        """
        test = self.sprt
        if not option and file_boards and test.max_boards not in (file_boards, Sprt().max_boards):
            raise UserError(
                f"boards = {file_boards} contradicts max_boards = {test.max_boards}: versus plays "
                "at most max_boards. Leave one out."
            )
        most = option or file_boards or test.max_boards
        if most < test.min_boards:
            raise UserError(
                f"Versus decides nothing before {test.min_boards} boards (min_boards): "
                f"{'--boards' if option else 'boards'} must be at least {test.min_boards}, "
                f"not {most}."
            )
        try:
            return replace(self, sprt=replace(test, max_boards=most)), most
        except ValueError as error:
            raise UserError(f"Versus: {error}.") from error

    def check(self, contest: Contest) -> None:
        """Refuse all but two bots. Raises UserError."""
        units = contest.units
        if (
            len(units) != 2
            or contest.units_a_table != 2
            or any(len(set(unit)) > 1 for unit in units)
        ):
            raise UserError("Versus needs two bots: at two seats, or each as its own partner.")

    @property
    def takes_luck_out(self) -> bool:
        """True if the luck of the tiles is taken out of each game."""
        return self.sprt.without_luck

    def count_fewest_tables(self, contest: Contest) -> int:
        """Return 0: no stage is large, because each is a block of boards."""
        return 0

    def stages(self, contest: Contest, before: FinishedStages) -> Iterator[Sequence[Pairings]]:
        """Yield blocks of boards until the answer is known; the test looks at each board once."""
        from tournaments.rating.likelihood_ratio import is_decided  # It needs numpy.

        # A block is one sitting of each circular order and rotation.
        block = contest.boards_a_sitting * (2 if contest.teams else 1)
        boards = contest.boards_of(contest.units)
        tried: list[Outcome] = []
        for first in boards[::block]:
            yield [Pairings([[contest.units]], range(first, min(first + block, boards.stop)))]
            over = before.latest()
            luck = find_luck(over) if self.sprt.without_luck else None
            tried += self._outcomes(contest, over, first, luck)
            if is_decided(self.sprt, tried):
                return

    def count_later_games(self, contest: Contest, board: int, games: int) -> int:
        """Return the most games after this board."""
        return (contest.boards_of(contest.units).stop - 1 - board) * GAMES_A_BOARD

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return why the new contest cannot extend an old one of this format; None if it can."""
        if not isinstance(new.format, Versus):
            return super().why_not_extended(old, new)
        test = new.format.sprt
        if replace(self.sprt, max_boards=test.max_boards) != test:
            return "the hypotheses cannot change after the first game (sprt)"
        # Swapping the two after the first results would be a second test of the same results.
        first, other = map(first_version, self.sides(old))
        if [first, other] != [*map(first_version, self.sides(new))]:
            return f"it tests whether {first} is better than {other}"
        return None

    def expect_boards(self, contest: Contest, results: Sequence[Result]) -> int | None:
        """Estimate the boards until the answer, if all are like these; None: no board is whole."""
        from tournaments.rating.likelihood_ratio import boards_expected  # It needs numpy.

        luck = find_luck(results) if self.sprt.without_luck else None
        return boards_expected(self.sprt, self._outcomes(contest, results, 1, luck))

    @property
    def unstopped(self) -> RoundRobin:
        """A format of the same tables that plays all boards, whatever the results."""
        return RoundRobin()

    def describe_forecast(self, boards: int, most: int, rounds: int) -> str:
        """Describe the format and its boards: those expected, the most, and the rounds."""
        return (
            f"{self.name}: about {boards:,} boards, at most {most:,}, if all are like those of the "
            "calibration"
        )

    def describe_boards(self, contest: Contest) -> str:
        """Describe the number of boards."""
        return f"at most {count_in_digits(contest.boards, 'deal')}"

    def introduce(self, contest: Contest) -> str:
        """Say when it ends, after a comma."""
        return ", until the test decides"

    def describe_state(self, contest: Contest, results: Iterable[Result]) -> str:
        """Return the state of the test in a line."""
        first, _ = self.sides(contest)
        return f"Is {first} better? {sprt_state(self.sprt, self.steps(contest, results))}"

    def describe_lead(
        self, contest: Contest, results: Sequence[Result], is_over: bool, ranks: str
    ) -> str:
        """Return the answer so far."""
        steps = self.steps(contest, results)
        return f"**{sprt_sentence(self.sprt, steps, *self.sides(contest))}**"

    def describe_bias(self, contest: Contest, results: Sequence[Result]) -> str:
        """Say how the tables err after the test has stopped; empty before."""
        # 800 simulated tests each at leads of 0 to 40 Elo: 15 to 27 %, and 88 to 96 %. A reader's
        # own measurement gave 20 to 30 %, and 85 to 93 %: the words cover both.
        return (
            "The test ended as soon as the answer was clear: so the lead in each table is on "
            "average 15 to 30 % too large, and 85 to 95 % of its ± hold the true lead."
            if self.answer(contest, results) != "undecided"
            else ""
        )

    def report(
        self, contest: Contest, results: Sequence[Result], link: LinkToGames
    ) -> Iterator[Section]:
        """Yield the test: its question and its path."""
        first, other = self.sides(contest)
        blocks = sprt_blocks(self.sprt, self.steps(contest, results), first, other)
        title = f"Is {first} better than {other}?"
        yield Section(title, blocks, id="question", label="The test", media=Media.FILES)

    def steps(self, contest: Contest, results: Iterable[Result]) -> tuple[SprtStep, ...]:
        """Return the steps of the test, board by board."""
        from tournaments.rating.likelihood_ratio import walk  # It needs numpy.

        since = contest.boards_of(contest.units).start
        games, luck = with_known_luck(results) if self.sprt.without_luck else (results, None)
        return walk(self.sprt, self._outcomes(contest, games, since, luck))

    def answer(self, contest: Contest, results: Iterable[Result]) -> TestVerdict:
        """Return the answer so far; "undecided" is one too."""
        return answer(self.sprt, self.steps(contest, results))

    @staticmethod
    def sides(contest: Contest) -> list[str]:
        """Return the names of the two bots; the test asks about the first."""
        return [contest.entrants[unit[0]].name for unit in contest.units]

    def _outcomes(
        self, contest: Contest, results: Iterable[Result], since: int, luck: Corrections | None
    ) -> tuple[Outcome, ...]:
        """Return the outcomes of boards; without luck the plain ones."""
        first, _ = self.sides(contest)
        return outcomes(
            *(self.sprt, results, first),
            lost_by=contest.target,
            since=since,
            luck=luck,
            repeats=contest.first_board_of,
        )
