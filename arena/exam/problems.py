"""Problem sets: positions of games, each with the value of every option, a line of JSON each. Pure.

A problem has the deals and the choices of its game up to a question, so that the referee itself
makes everything that the bot is sent.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from msgspec import Struct

from arena.engine.deal import deal_tiles, is_seed
from arena.engine.shuffle import SEED, RandomWords
from arena.engine.structs import Dealt, Hand
from arena.match.game_setup import GameSetup, OpenQuestion
from arena.match.referee import Referee
from arena.rules.variants import VARIANTS, find_variant
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.errors import UserError
from protocol.messages import Choose, Clock, Lot
from protocol.records import DealRecord, LogRecord
from protocol.ruleset import ImpossibleRulesError, Ruleset, check_seats, set_of_tiles

MOST_BYTES = 1 << 26
MOST_PROBLEMS = 2000
"""The most problems of a set: a game's number on a bot's pipe is at most that."""
MOST_POINTS = 1_000_000
"""The most points of a value: far more than any round has, so that sums fit."""
ProblemKind = Literal["endgame", "middle game"]
"""An endgame is solved: its values are exact. Those of a middle game are estimates."""


class ProblemDeal(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A deal of a problem's game."""

    round: int
    leader: int
    """The seat that leads, unless a double decides, or that guesses."""
    tiles: str
    """The order of the tiles, as a seed sets it (DEALS.md), in hex; empty: lots only."""
    deal: int = 1
    """The deal's number in the round, from 1; 0: only lots."""
    lots: tuple[Lot, ...] = ()
    """Tiles that seats drew and showed for the lead."""


def problem_deal(record: DealRecord, rules: Ruleset) -> ProblemDeal:
    """Return a logged deal as a problem has it."""
    tiles = set_of_tiles(rules.deal)
    order = bytes(tiles.index(tile) for tile in chain(*record.hands, *record.stock))
    return ProblemDeal(record.round, record.leader, order.hex(), record.deal, record.lots)


class Problem(Struct, frozen=True, forbid_unknown_fields=True):
    """A question of a game, and the value of each option."""

    number: int
    """The problem's number in its set, from 1."""
    kind: ProblemKind
    rules: str | Ruleset
    seats: int
    seat: int
    deals: tuple[ProblemDeal, ...]
    choices: tuple[int, ...]
    """The answers of all seats so far, each an index into the options."""
    values: tuple[float, ...]
    """The lead that each option brings to the round's end, in points."""
    errors: tuple[float, ...]
    """The standard error of each option's loss against the best one; 0 if it is exact."""
    source: str
    """The event and the game from which it was taken."""

    @property
    def ruleset(self) -> Ruleset:
        """The whole ruleset."""
        return find_variant(self.rules) if isinstance(self.rules, str) else self.rules

    @property
    def losses(self) -> tuple[float, ...]:
        """The points that each option costs against the best one."""
        best = max(self.values)
        return tuple(best - value for value in self.values)


def _dealt(problem: Problem, deal: ProblemDeal) -> Dealt:
    none: tuple[Hand, ...] = ((),) * problem.seats
    if not deal.tiles:
        return Dealt(deal.round, deal.deal, deal.leader, deal.lots, none, ())
    seed = bytes(SEED) + bytes.fromhex(deal.tiles)
    if not is_seed(problem.ruleset, seed):
        raise ValueError("The tiles are not a set.")
    words = RandomWords(seed, deal.round, "tiles")
    hands, stock = deal_tiles(problem.ruleset, problem.seats, words, seed[SEED:])
    return Dealt(deal.round, deal.deal, deal.leader, deal.lots, hands, stock)


class PosedProblem(NamedTuple):
    """A problem as the referee poses it."""

    question: OpenQuestion
    lines: tuple[bytes, ...]
    """The lines for the seat, without earlier questions; the last is the question."""
    records: tuple[LogRecord, ...]
    """The records of the game so far, as a log has them."""


def pose(problem: Problem, clock: Clock) -> PosedProblem:
    """Play a problem's game up to its question. Raises UserError if it cannot be played so."""
    names = tuple("examinee" if n == problem.seat else "other" for n in range(problem.seats))
    number = problem.number
    setup = GameSetup(f"{number}", number, number, names, problem.ruleset, clock)
    dealt = iter(problem.deals)

    def next_deal(*_: object) -> Dealt:
        return _dealt(problem, next(dealt))

    lines: list[bytes] = []
    try:
        referee = Referee(setup, b"", next_deal)
        for choice in (*problem.choices, None):
            own = [line for seat, line in referee.take_outgoing() if seat == problem.seat]
            if (question := referee.awaiting) is None or choice is None:
                break
            # The last line to the seat that is asked is an earlier question.
            lines += own[:-1] if question.seat == problem.seat else own
            answer = Choose(id=question.id, choice=choice)
            referee.receive(question.seat, b"", 0.0, 0.0, answer)
    except (StopIteration, IndexError, ValueError, ImpossibleRulesError) as error:
        raise _unplayable(problem) from error
    if (
        question is None
        or question.seat != problem.seat
        or len(question.options) != len(problem.values)
    ):
        raise _unplayable(problem)
    return PosedProblem(question, (*lines, *own), tuple(referee.take_records()))


def _unplayable(problem: Problem) -> UserError:
    return UserError(f"Problem {problem.number} is not a position of its rules: make the set anew.")


def rules_of(rules: Ruleset) -> str | Ruleset:
    """Return the name of a named game, or the whole ruleset of any other."""
    return rules.name if rules.name in VARIANTS and find_variant(rules.name) == rules else rules


def problem_lines(problems: Iterable[Problem]) -> Iterator[bytes]:
    """Yield the lines of a problem set."""
    return (encode_json(problem) + b"\n" for problem in problems)


def parse_problems(content: bytes, where: str) -> tuple[Problem, ...]:
    """Return the problems of a set. Raises UserError with the line."""
    found: list[Problem] = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            problem = decode_json(line, Problem)
            _check(problem, found)
        except (DamagedRecordError, UserError) as error:
            end = "" if f"{error}".endswith((".", "?")) else "."
            raise UserError(f"{where}, line {number}: {error}{end}") from None
        found.append(problem)
    if not found:
        raise UserError(f"{where} has no problems.")
    return tuple(found)


def _check(problem: Problem, before: Sequence[Problem]) -> None:
    if problem.number != len(before) + 1 or problem.number > MOST_PROBLEMS:
        raise UserError(f"number must be {len(before) + 1} here, not {problem.number}")
    if not len(problem.values) == len(problem.errors) > 1:
        raise UserError("values and errors must have an entry for each of two or more options")
    if max(map(abs, (*problem.values, *problem.errors))) > MOST_POINTS:
        raise UserError(f"values and errors must be within {MOST_POINTS:,} points")
    check_seats(problem.ruleset, problem.seats)
    if not 0 <= problem.seat < problem.seats:
        raise UserError(f"seat must be from 0 to {problem.seats - 1}, not {problem.seat}")
