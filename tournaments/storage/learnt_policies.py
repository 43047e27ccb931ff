"""Policies of an event's bots, learnt from their games on earlier boards, for the luck of games.

Playouts of a board use policies that were learnt on the boards before it alone: so no correction
has seen its own future, and what is known stays as it is when more is played.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple

from arena.analysis.timeline import Timeline
from arena.logs.catalog import SittingLogs
from arena.logs.checksummed import DamagedFileError
from arena.logs.gamelog import read_games
from protocol.records import Record, Result

LAST = 32
"""The last board that is learnt from: later ones teach little."""
MOST_GAMES = 64
"""The most games that a policy is learnt from: two or three thousand choices."""
FIRST = 4
"""The boards before a policy is learnt for the first time."""


class PolicyRecord(Record, frozen=True, tag="policy"):
    """A bot's policy, a line of luck.jsonl; see `arena.valuation.policy`."""

    entrant: str
    boards: int
    """The number of the last board that it was learnt from."""
    games: tuple[str, ...]
    """The games that it was learnt from."""
    weights: tuple[float, ...]
    """Its weights, in logits, in the order of `FEATURES`."""
    choices: int
    """The plays among several that it was learnt from."""
    foreseen: float
    """The share of them that it thinks best, 0 to 1."""


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


def last_board_before(board: int) -> int:
    """Return the last board from which the policies for this one are learnt; 0: none is."""
    return 0 if board <= FIRST else min(LAST, 1 << (board - 1).bit_length() - 1)


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


def policies_of(policies: Policies, game: str) -> tuple[PolicyRecord, ...]:
    """Return each seat's policy for the luck of a game; empty: the usual ones."""
    board, *seats = game.split(".")
    known = [policies.get((entrant, last_board_before(int(board)))) for entrant in seats]
    return tuple(one for one in known if one) if all(known) else ()


def games_to_learn_from(
    policies: Policies, games: Iterable[Result], played: Iterable[Result]
) -> Mapping[tuple[str, int], list[Result]]:
    """Return for each policy that the luck of these games still needs the games that teach it."""
    needed = {
        (entrant, boards): list[Result]()
        for one in games
        if (boards := last_board_before(one.board))
        for entrant in one.seats
        if (entrant, boards) not in policies
    }
    if not needed:
        return {}
    most = max(boards for _, boards in needed)
    early = sorted(
        (one for one in played if one.board <= most), key=lambda one: (one.board, one.game)
    )
    for (entrant, boards), own in needed.items():
        all_own = [one for one in early if entrant in one.seats and one.board <= boards]
        own += all_own[:MOST_GAMES]
    return needed
