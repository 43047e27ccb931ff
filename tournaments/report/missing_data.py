"""What a folder has lost from which its report was made: results of the ledger, game logs."""

from collections.abc import Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct

from arena.logs.checksummed import DamagedFileError
from protocol.errors import UserError
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.report.log_facts import log_facts
from tournaments.report.timing import Times
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import retired_games, sittings
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import past_sittings, results_of
from tournaments.storage.result_store import ResultStore


def published(folder: Folder) -> int:
    """How many games results.json tells of: the ledger had as many when it was written.

    Raises OSError, msgspec.MsgspecError.
    """

    class Played(Struct):
        played: int

    return msgspec.json.decode(folder.results.read_bytes(), type=Played).played


def reported(folder: Folder) -> int:
    """The same, or 0 where results.json says nothing."""
    with suppress(OSError, msgspec.MsgspecError, ValueError):
        return published(folder)
    return 0


def shortened(folder: Folder, before: int, has: int) -> str | None:
    """What is the matter with a ledger that has so many results, where a report told of others.

    More are none: a run was killed, or goes on. One that was killed while it put the ledger of a
    longer plan in order is told too, until it goes on.
    """
    if has >= before:
        return None
    if not folder.ledger.exists():
        return f"{folder.ledger} is missing"
    return f"{folder.ledger} has {has} of the {before} results that {folder.results.name} tells of"


def has_enough_logs(folder: Folder, event: Event) -> ResultStore:
    """The ledger's results, of which a report would tell no less than the one that is there.

    Raises UserError, DamagedFileError.
    """
    before = reported(folder)
    results = ResultStore(results_of(folder.ledger, event))
    _refuse_unplanned(folder, event, results)
    if short := shortened(folder, before, len(results)):
        raise UserError(
            f"{short}: the same `boneyard run` as before makes it again from the game logs."
        )
    refuse_fewer_logs(folder, event, results)
    return results


def _refuse_unplanned(folder: Folder, event: Event, results: ResultStore) -> None:
    """Refuse results of games that the plan does not have.

    Raises DamagedFileError.
    """
    planned = GameIndex((*past_sittings(folder, event), *sittings(event, results)), lambda *_: None)
    if stray := next((game for game in results if game not in planned), None):
        raise DamagedFileError(
            f"{folder.ledger}: game {stray} is not one of the plan in {folder.event.name}, nor has "
            "an earlier version's log it: one of them is damaged, or that log is gone."
        )


def missing_results(folder: Folder, results: ResultStore) -> str | None:
    """What is to be said before games are played that a report told of: their seeds may be known.

    Raises UserError when neither the ledger nor the logs have a single one left.
    """
    gone = reported(folder) - len(results)
    if gone <= 0:
        return None
    if not results:
        raise UserError(
            f"{folder.results} tells of {gone} games, and neither {folder.ledger.name} nor the "
            "game logs have any: put them back, or choose another folder (--out)."
        )
    games, they = ("1 game is", "it is") if gone == 1 else (f"{gone} games are", "they are")
    return (
        f"{games} lost that a report told of: {they} played again, on deals that may be known by "
        "now."
    )


def refuse_fewer_logs(folder: Folder, event: Event, results: ResultStore) -> None:
    """Refuse to write what the logs alone know while some of them are gone, if that loses anything.

    Damage in a log that is there stops no report: `verify` names it. Raises UserError.
    """
    timed = _timed(folder)
    game = _without_log(folder, event, results) if timed else None
    if game and timed > _games(log_facts(folder, results).times):
        raise UserError(
            f"The log of {game} is gone, and what {folder.times} and {folder.page.name} tell of it "
            f"stands nowhere else: put the logs back, or remove {folder.times.name} to do without."
        )


def _timed(folder: Folder) -> int:
    """Of how many games times.json tells, each counted for every seat; 0 where it says nothing."""
    with suppress(OSError, msgspec.MsgspecError, ValueError):
        return _games(msgspec.json.decode(folder.times.read_bytes(), type=Times))
    return 0


def _games(times: Times) -> int:
    return sum(one.games for one in times.entrants)


def _without_log(folder: Folder, event: Event, results: Mapping[str, Result]) -> str | None:
    """A game that has a result and whose log is not there."""
    there = set(folder.logs())
    for plan in sittings(event, results):
        if folder.log(plan.name) not in there:
            for game in plan.games:
                if game.name in results:
                    return game.name
    logged = GameIndex(past_sittings(folder, event), lambda plan, _: plan)
    return next((game for game in retired_games(event, results) if game not in logged), None)
