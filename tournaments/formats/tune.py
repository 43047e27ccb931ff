"""Tune: candidates for a bot's parameters play the bot as it is, group by group. Pure.

The candidates of a group play the same deals, in both rotations, and the optimiser learns how many
points a game each was ahead, with the luck of the tiles taken out. At the end the best values play
the bot as it was on deals of their own; the interval of that lead is the answer. The results in the
ledger are the whole state: from them the search is computed again, always the same.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import ClassVar

from msgspec.structs import replace

from arena.document.blocks import Section
from arena.rules.english import count_in_digits
from arena.sandbox.command import Command
from protocol.errors import UserError
from protocol.records import Result
from tournaments.formats.answers import tune_text
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
from tournaments.rating.sprt import Sprt, outcomes
from tournaments.rating.tables import Corrections
from tournaments.tuning.parameters import Parameter, Values, fill
from tournaments.tuning.search import Search, Space, search_path
from tournaments.tuning.verdict import Verdict, verdict_of

GROUP = 12
"""Candidates of a group: enough to keep the cores busy, few enough to learn often."""
USUAL = 5000
"""Boards of the search, without another number."""
SHARE_CHECKED = 5
"""One board of the check for so many of the search,"""
MOST_CHECKED = 1000
"""but at most so many, which tell leads apart by some 12 Elo."""
GAMES_A_BOARD = 2
"""Games on a board: two sides have two rotations."""
POINTS = Sprt(measure="points")
"""The outcome of a board: the lead in points, averaged over its games."""


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

    def with_boards(self, asked: int | None, written: int | None) -> tuple["Tune", int]:
        """Return the format and the boards of the search. Raises UserError."""
        boards, least = asked or written or USUAL, GROUP * self.BOARDS_A_SITTING
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
        argv = (word if word != written else now for now, written, word in triples)
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

        A deal of the search is none of the check's: the values were searched to win on it.
        """
        first, seen = self._first_checked(contest), contest.first_board_of
        checked = (one for one in results if seen.get(one.board, one.board) >= first)
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
        return tune_text.tune_state(self.way(contest, results), contest.boards)

    def describe_lead(
        self, contest: Contest, results: Sequence[Result], is_over: bool, ranks: str
    ) -> str:
        """Return the answer, or the best values so far."""
        verdict = self.verdict(contest, results) if is_over else None
        if verdict is None:
            return self.describe_state(contest, results)
        return tune_text.tune_sentence(verdict, contest.entrants[0].name)

    def report(
        self, contest: Contest, results: Sequence[Result], link: LinkToGames
    ) -> Iterator[Section]:
        """Yield the way of the search, and its values to paste."""
        yield from tune_text.tune_sections(self.way(contest, results), self.entry)

    def verdict(self, contest: Contest, results: Sequence[Result]) -> Verdict | None:
        """Return the answer by the check so far; None before two boards of it are complete."""
        first = self._first_checked(contest)
        checked = (result for result in results if result.board >= first)
        games, known = with_known_luck(SomeResults(checked, luck_of(results)))
        start, tuned = contest.entrants[0].name, contest.entrants[-1].name
        repeats = contest.first_board_of
        values = _margins(contest, games, tuned, first, known, repeats)
        partners = contest.rules.deal.partners
        if len(values) < 2:
            return None
        rated = contest.rated(games)
        return verdict_of(values, rated, tuned, start, partners=partners, luck=known)

    def way(self, contest: Contest, results: Iterable[Result]) -> tune_text.Way:
        """Return the way of the search. Raises UserError."""
        size = contest.boards_a_sitting
        played, known = with_known_luck(results)
        groups: list[list[Result]] = [[] for _ in range(self.groups(contest))]
        for one in played:
            if one.board < self._first_checked(contest):
                groups[(one.board - 1) // size].append(one)
        scores = list[tuple[float, ...]]()
        for at, games in enumerate(groups):
            if len(games) < GAMES_A_BOARD * GROUP * size:
                break
            scores.append(_scores(contest, games, at * size + 1, known))
        steps = search_path(self.space, tuple(scores))
        means = [sum(group) / GROUP for group in scores]
        return tune_text.Way(dict(self.parameters), steps, means, GROUP * size)

    def _first_checked(self, contest: Contest) -> int:
        return self.groups(contest) * contest.boards_a_sitting + 1


def _checked(contest: Contest) -> int:
    """Return the boards of the check."""
    return min(MOST_CHECKED, contest.boards // SHARE_CHECKED)


def _scores(
    contest: Contest, results: Sequence[Result], first: int, luck: Corrections | None
) -> tuple[float, ...]:
    """Return the mean lead of each candidate of a group over the start, in points a game."""
    games: dict[str, list[Result]] = {one.name: [] for one in contest.entrants[1:-1]}
    for one in results:
        for name in set(one.seats) & games.keys():
            games[name].append(one)
    each = (_margins(contest, some, name, first, luck) for name, some in games.items())
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
    found = outcomes(
        POINTS, results, name, lost_by=contest.target, since=first, luck=luck, repeats=repeats
    )
    return [one.value for one in found]
