"""The knockout: its bracket, which follows from the results, and its next matches. Pure.

The bots are listed by seed: in the first round the best seed meets the last, and it can meet the
second seed only in the final. Unless the number of units is a power of two, the best seeds have a
bye. A tied match continues on more boards; if it is still tied, the better seed advances. A unit
advances too if its opponent withdraws before the end of their match.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, NamedTuple

from msgspec import Meta

from arena.document.blocks import DocumentBlock, Figure, Media, Paragraph, Section, bullets
from protocol.errors import UserError
from protocol.records import Result
from tournaments.formats.base import (
    Contest,
    DependentRounds,
    FinishedStages,
    LinkToGames,
    Pairings,
    Unit,
    half,
    is_complete,
    match_points,
)
from tournaments.rating.sprt import MAX_EVENT_BOARDS

SENTENCE_MEDIA = Media.MARKDOWN | Media.TERMINAL
"""The media that list the matches in sentences; a page draws them."""


class Match(NamedTuple):
    """A match of two units; one advances."""

    units: tuple[Unit, ...]
    """The better seed, then the other; in a bye only one."""
    halves: tuple[int, ...]
    """Half points of each from their games so far; empty before the first."""
    more: tuple[int, ...]
    """Half points of each from the boards after a tie; empty without any."""
    winner: Unit | None
    """The unit that advances; None while it is not known."""
    walkover: bool = False
    """True if it advances because the other has withdrawn."""


class Knockout(DependentRounds, frozen=True, tag="knockout"):
    """An elimination tournament: the loser of a match is out. The bots are listed by seed."""

    EACH: ClassVar[str] = " a match"

    tie_boards: Annotated[int, Meta(ge=0, le=MAX_EVENT_BOARDS)] = 10
    """Boards that a tied match continues for; if it is still tied, the better seed advances."""

    def check(self, contest: Contest) -> None:
        """Refuse tables of more than two sides. Raises UserError."""
        if contest.units_a_table != 2:
            raise UserError("A knockout needs two sides: two seats, or partners in teams.")

    def count_rounds(self, contest: Contest) -> int:
        """Return the number of rounds: each halves the field."""
        return (len(contest.units) - 1).bit_length()

    def boards_a_round(self, contest: Contest) -> int:
        """Return the most boards of a round, those after a tie among them."""
        return contest.boards + self.tie_boards

    def stages(self, contest: Contest, before: FinishedStages) -> Iterator[Sequence[Pairings]]:
        """Yield the matches of each round, and then those that continue after a tie."""
        while True:
            rounds = bracket(contest, self, before)
            undecided = [match for match in rounds[-1] if match.winner is None]
            if not undecided:
                return
            main, more = boards_of(contest, self, len(rounds))
            tied = any(match.halves for match in undecided)
            yield [Pairings([[match.units for match in undecided]], more if tied else main)]

    def count_later_games(self, contest: Contest, board: int, games: int) -> int:
        """Estimate the games of the rounds after this board's; ties would add to them."""
        number = (board - 1) // self.boards_a_round(contest) + 1
        matches = (1 << (self.count_rounds(contest) - number)) - 1
        return matches * contest.boards * contest.seats

    def why_not_extended(self, old: Contest, new: Contest) -> str | None:
        """Return why the new contest cannot extend an old one of this format; None if it can."""
        if isinstance(new.format, Knockout) and new.format != self:
            return "the boards after a tie cannot change (tie_boards)"
        return super().why_not_extended(old, new)

    def find_winner(
        self, contest: Contest, results: Sequence[Result], is_over: bool
    ) -> tuple[str, str] | None:
        """Return the winner and the title; None before the end."""
        *_, last = bracket(contest, self, results)
        winner = last[0].winner if len(last) == 1 else None
        return (contest.unit_name(winner), "has won the knockout.") if winner else None

    def describe_bias(self, contest: Contest, results: Sequence[Result]) -> str:
        """Say that the ratings favour survivors."""
        return (
            "Winners play on, so the ratings of bots that came far are on average 17 to 35 Elo too "
            "high."
        )

    def report(
        self, contest: Contest, results: Sequence[Result], link: LinkToGames
    ) -> Iterator[Section]:
        """Yield the bracket: a drawing, or its matches in lists."""
        matches_by_round = bracket(contest, self, results)
        rounds = [
            (FINAL if len(matches) == 1 else f"Round {number}", matches)
            for number, matches in enumerate(matches_by_round, 1)
        ]
        blocks: list[DocumentBlock] = []
        for title, matches in rounds:
            blocks.append(Paragraph(f"{title}:", media=SENTENCE_MEDIA))
            verb = "wins" if title == FINAL else "advances"
            sentences = (_sentence(contest, match, verb) for match in matches)
            blocks.append(bullets(sentences, media=SENTENCE_MEDIA))
        drawn = [(title, [_drawn(contest, m, link) for m in matches]) for title, matches in rounds]
        blocks.append(Figure(macro="bracket", value=drawn))
        if winner := self.find_winner(contest, results, True):
            blocks.append(Paragraph(f"**{winner[0]}** has won.", media=Media.FILES))
        points = (
            "Points of the match: 1 for a game won, ½ for a tie; after a plus those of the boards "
            "after a tie."
        )
        blocks.append(Paragraph(points, "faint", media=Media.HTML))
        yield Section("Knockout", blocks, id="knockout", titled=Media.FILES)


Bracket = list[list[Match]]
"""The matches of each round; the winners of neighbours meet in the next round."""


def bracket(contest: Contest, form: Knockout, results: Iterable[Result]) -> Bracket:
    """Return the bracket as far as the results decide it."""
    units: Sequence[Unit | None] = contest.units
    alive = [units[seed] if seed < len(units) else None for seed in _seeds(len(units))]
    rounds: Bracket = []
    while len(alive) > 1:
        played = _Played(contest, form, len(rounds) + 1, results)
        rounds.append([played.match(*pair) for pair in zip(alive[::2], alive[1::2], strict=True)])
        if any(match.winner is None for match in rounds[-1]):
            break
        alive = [match.winner for match in rounds[-1]]
    return rounds


def _seeds(units: int) -> list[int]:
    """Return the seeds from the top of the bracket to its bottom."""
    order = [0]
    while len(order) < units:
        order = [new_seed for seed in order for new_seed in (seed, 2 * len(order) - 1 - seed)]
    return order


class _Played:
    """The games of a round."""

    def __init__(
        self, contest: Contest, form: Knockout, number: int, results: Iterable[Result]
    ) -> None:
        main, more = self._boards = boards_of(contest, form, number)
        self._contest = contest
        self._seed = {unit: seed for seed, unit in enumerate(contest.units)}
        self._main = match_points(contest, (result for result in results if result.board in main))
        self._more = match_points(contest, (result for result in results if result.board in more))

    def match(self, entry: Unit | None, other: Unit | None) -> Match:
        units = tuple(sorted((unit for unit in (entry, other) if unit), key=self._seed.__getitem__))
        if len(units) == 1:
            return Match(units, (), (), units[0])
        first, second = (
            tuple(came_to[frozenset(units)][unit] for unit in units)
            if frozenset(units) in came_to
            else ()
            for came_to in (self._main, self._more)
        )
        winner = self._winner(units, first, second)
        if winner is None and any(map(self._contest.has_withdrawn, units)):
            # If both have, the better seed goes on to the next walkover.
            staying = min(units, key=self._contest.has_withdrawn)
            return Match(units, first, second, staying, walkover=True)
        return Match(units, first, second, winner)

    def _winner(
        self, units: tuple[Unit, ...], first: tuple[int, ...], second: tuple[int, ...]
    ) -> Unit | None:
        main, more = self._boards
        tied = sum(first[:1]) == sum(first[1:])
        # Not before all games are played: until then its leader may still lose.
        parts = [(first, main), *([(second, more)] if tied else [])]
        if not all(is_complete(self._contest, units, sum(h), len(b)) for h, b in parts):
            return None
        return units[sum(first[1:] + second[1:]) > sum(first[:1] + second[:1])]


def boards_of(contest: Contest, form: Knockout, number: int) -> tuple[range, range]:
    """Return a round's boards, and the boards on which its tied matches continue."""
    start = 1 + (number - 1) * (contest.boards + form.tie_boards)
    middle = start + contest.boards
    return range(start, middle), range(middle, middle + form.tie_boards)


FINAL = "Final"
"""The title of the round with one match."""


def _sentence(contest: Contest, match: Match, verb: str) -> str:
    names = [contest.unit_name(unit) for unit in match.units]
    if len(names) == 1:
        return f"{names[0]}: bye"
    points = "".join(
        f"{before} {half(halves[0])} – {half(halves[1])}"
        for before, halves in ((":", match.halves), (", then", match.more))
        if halves
    )
    advances = ""
    if match.winner is not None:
        why = " as the better seed" if _is_level(match) else ""
        why = ", because the other has withdrawn" if match.walkover else why
        advances = f"; {contest.unit_name(match.winner)} {verb}{why}"
    return f"{names[0]} – {names[1]}{points}{advances}"


def _is_level(match: Match) -> bool:
    return sum(match.halves[:1] + match.more[:1]) == sum(match.halves[1:] + match.more[1:])


class DrawnSide(NamedTuple):
    """A line of a drawn match."""

    name: str
    points: str
    """The points of the match, then those of the extra boards after a tie."""
    won: bool


class DrawnMatch(NamedTuple):
    """A match of a drawn bracket."""

    sides: tuple[DrawnSide, ...]
    """The better seed first; a bye has one."""
    note: str
    href: str


def _drawn(contest: Contest, match: Match, link: LinkToGames) -> DrawnMatch:
    sides = tuple(
        DrawnSide(contest.unit_name(unit), _points(match, side), unit == match.winner)
        for side, unit in enumerate(match.units)
    )
    # The first member of a team is enough, because partners sit together.
    names = [contest.entrants[unit[0]].name for unit in match.units]
    return DrawnMatch(sides, _note(match), link(*names) if len(names) > 1 else "")


def _points(match: Match, side: int) -> str:
    """Return the points of a side: 7½, or 5 + 2 where a tied match continued."""
    return " + ".join(half(halves[side]) for halves in (match.halves, match.more) if halves)


def _note(match: Match) -> str:
    if len(match.units) == 1:
        return "bye"
    if match.winner is None:
        return "tied: the match continues" if match.halves else "to be played"
    if match.walkover:
        return "the other has withdrawn"
    return "tied: the better seed advances" if _is_level(match) else ""
