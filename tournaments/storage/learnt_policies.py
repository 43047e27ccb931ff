"""Policies of an event's bots, learnt from their games on earlier boards, for the luck of games.

Playouts of a board use policies that were learnt on the boards before it alone: so no correction
has seen its own future, and what is known stays as it is when more is played.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import astuple

from arena.analysis.timeline import Timeline
from arena.logs.catalog import SittingLogs
from arena.logs.checksummed import DamagedFileError
from arena.logs.gamelog import read_games
from arena.valuation import LuckTerms
from protocol.records import Record, Result

NONE: Mapping[int, int] = MappingProxyType({})
"""The boards that repeat a deal, where none does."""
LAST = 32
"""The boards that a policy is learnt from, the last ones: more teach little, and a bot that plays
otherwise later is noticed, since its later choices are foreseen by what they teach."""
MOST_GAMES = 64
"""The most games that a policy is learnt from: two or three thousand choices."""
FIRST = 4
"""A bot's boards before its policy is learnt for the first time."""


class PolicyRecord(Record, frozen=True, tag="policy"):
    """A bot's policy, a line of luck.jsonl; see `arena.valuation.policy`."""

    entrant: str
    boards: int
    """The number of the last board that it was learnt from."""
    games: tuple[str, ...]
    weights: tuple[float, ...]
    """Its weights, in logits, in the order of `FEATURES`."""
    choices: int
    """The plays among several that it was learnt from."""
    foreseen: float
    """The share of them, 0 to 1, that the boards of the other half foresee."""


class LearnTask(Struct):
    """Games of a bot in logs, from which its policy is to be learnt."""

    entrant: str
    logs: dict[Path, list[str]]
    boards: list[int]
    """The last boards of the policies that these games teach."""


def learn_task(
    logs: SittingLogs, entrant: str, games: Iterable[str], boards: Iterable[int] = ()
) -> LearnTask:
    """Return the task to learn a bot's policy from these games, see `LearnTask`."""
    task = LearnTask(entrant, {}, [*boards])
    for game in games:
        for path in logs.of(game):
            task.logs.setdefault(path, []).append(game)
    return task


def last_board_before(board: int, first: int) -> int:
    """Return the last board that teaches the policy for this one; 0: none does.

    `first`: the bot's first board: one that joins later learns later.
    """
    before = board - first
    return first - 1 + (1 << before.bit_length() - 1) if before >= FIRST else 0


def learn(task: LearnTask) -> list[PolicyRecord]:
    """Learn a bot's policy from its games; what a damaged log does not have teaches nothing."""
    from arena.valuation.learn_policy import Choice, choices_of, learn_policy  # They need numpy.

    played, choices = list[str](), list[Choice]()
    for path, games in task.logs.items():
        for one in read_timelines(path, games, []):
            played.append(one.logged.game.game)
            choices += choices_of(one, one.logged.sitting.seats.index(task.entrant))
    learnt = learn_policy(choices)
    found = astuple(learnt.policy), learnt.choices, learnt.foreseen
    return [PolicyRecord(task.entrant, one, tuple(played), *found) for one in task.boards]


def read_timelines(path: Path, games: Iterable[str], damage: list[str]) -> Iterator[Timeline]:
    """Yield the finished games of a log among these, up to the first damage; add that."""
    left = set(games)
    try:
        for logged in read_games(path):
            if logged.game.game in left and logged.result:
                left.remove(logged.game.game)
                yield Timeline(logged)
            if not left:
                return
    except DamagedFileError as error:
        damage.append(str(error))


Policies = dict[tuple[str, int], PolicyRecord]
"""The policies of an event's bots, by the bot and the last board that they were learnt from."""


def luck_terms(
    policies: Policies, game: str, first_board_of: Mapping[int, int] = NONE, *, deals: bool
) -> LuckTerms:
    """Return the terms of the luck of a game: the latest policies from boards before its deal's.

    `first_board_of`: for each board that repeats a deal the first board that has it.
    """
    from arena.valuation.policy import Policy

    name, *seats = game.split(".")
    board = first_board_of.get(int(name), int(name))
    earlier = [one for one in policies if one[1] < board]
    latest = [max((one for one in earlier if one[0] == bot), default=None) for bot in seats]
    known = [policies[one] for one in latest if one] if all(latest) else []
    learnt = tuple(Policy(*one.weights) for one in known)
    return LuckTerms(learnt, tuple(one.foreseen for one in known), deals)


def games_to_learn_from(
    policies: Policies,
    games: Collection[Result],
    played: Collection[Result],
    first_board_of: Mapping[int, int] = NONE,
) -> Mapping[tuple[str, int], list[Result]]:
    """Return for each policy that the luck of these games still needs the games that teach it."""
    # As it was when the first was learnt, whatever has been played since.
    first = {entrant: boards - FIRST + 1 for entrant, boards in sorted(policies, reverse=True)}
    unknown = {entrant for one in games for entrant in one.seats} - first.keys()
    for one in played if unknown else ():
        for entrant in unknown.intersection(one.seats):
            first[entrant] = min(one.board, first.get(entrant, one.board))
    needed = {
        (entrant, boards): list[Result]()
        for one in games
        for entrant in one.seats
        for board in [first_board_of.get(one.board, one.board)]
        if (boards := last_board_before(board, first.get(entrant, board)))
        and (entrant, boards) not in policies
    }
    # Nothing is needed once all have learnt: then the results, which may be many, are not read.
    every = sorted(played, key=lambda one: (one.board, one.game)) if needed else []
    for (entrant, boards), own in needed.items():
        latest = range(boards - LAST + 1, boards + 1)
        all_own = [one for one in every if one.board in latest and entrant in one.seats]
        # Spread over these boards: a bot may have played many games on each.
        taken = min(MOST_GAMES, len(all_own))
        own += [all_own[place * len(all_own) // taken] for place in range(taken)]
    return needed
