"""Detection of results or logs that went missing since the report was written."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from arena.files import read_file
from arena.logs.checksummed import DamagedFileError
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError, suggestion
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.report.log_facts import Times, log_facts
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import retired_games, sittings
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import load_results, past_sittings
from tournaments.storage.result_store import ResultStore

NEAR = 1000
"""Games of a plan among which the nearest to an unknown one is sought."""


def reported(folder: Folder) -> int:
    """Return the number of games in results.json, which the ledger had when it was written.

    0 if it cannot be read.
    """

    class Played(Struct):
        played: int

    with suppress(OSError, DamagedRecordError):
        return decode_json(read_file(folder.results), Played).played
    return 0


def shortened(folder: Folder, before: int, has: int) -> str | None:
    """Describe what the ledger lost if it has fewer results than the report; else None.

    More results are no loss: a run was killed, or goes on. A run that was killed while it reordered
    the ledger for a longer plan is reported too, until it goes on.
    """
    if has >= before:
        return None
    if not folder.ledger.exists():
        return f"{folder.ledger} is missing"
    return f"{folder.ledger} has {has} of the {before} results that {folder.results.name} reports"


def has_enough_logs(folder: Folder, event: Event) -> ResultStore:
    """Return the ledger's results after checking that a new report would lose nothing.

    Raises UserError, DamagedFileError.
    """
    before = reported(folder)
    results = load_results(folder, event)
    refuse_unplanned(folder, event, results)
    if short := shortened(folder, before, len(results)):
        raise UserError(
            f"{short}. The same `boneyard run` as before restores it from the game logs."
        )
    refuse_fewer_logs(folder, event, results)
    return results


def refuse_unplanned(folder: Folder, event: Event, results: ResultStore) -> None:
    """Refuse results of games that the plan does not have. Raises DamagedFileError."""
    planned = GameIndex((*past_sittings(folder, event), *sittings(event, results)), lambda *_: None)
    if stray := next((game for game in results if game not in planned), None):
        nearest = suggestion(stray, islice(planned, NEAR))
        raise DamagedFileError(
            f"{folder.ledger}: game {stray} is neither in the plan of {folder.event.name} nor in "
            "the log of an earlier version: a file is damaged, or that log is missing "
            f"({nearest})"
        )


def missing_results(folder: Folder, results: ResultStore) -> str | None:
    """Return a warning that reported games are played again: their seeds may be known.

    None if no game is missing. Raises UserError when neither the ledger nor the logs have any left.
    """
    gone = reported(folder) - len(results)
    if gone <= 0:
        return None
    if not results:
        raise UserError(
            f"{folder.results} reports {gone} games, but neither {folder.ledger.name} nor the game "
            "logs have any. Restore them, or choose another folder (--out)."
        )
    games = "1 reported game is" if gone == 1 else f"{gone} reported games are"
    return f"{games} missing and will be replayed, on deals that may already be known."


def refuse_fewer_logs(folder: Folder, event: Event, results: ResultStore) -> None:
    """Refuse to write facts from the logs if some logs are missing and facts would be lost.

    Damage in a log that is there stops no report: `verify` names it. Raises UserError.
    """
    timed = _timed(folder)
    game = _without_log(folder, event, results) if timed else None
    if game and timed > _games(log_facts(folder, results).times):
        raise UserError(
            f"The log of {game} is missing, and only {folder.times} and {folder.page.name} have "
            f"its times. Restore the log, or remove {folder.times.name} to drop them."
        )


def _timed(folder: Folder) -> int:
    """Return the number of games in times.json, each counted for every seat; 0 if unreadable."""
    with suppress(OSError, DamagedRecordError):
        return _games(decode_json(read_file(folder.times), Times))
    return 0


def _games(times: Times) -> int:
    return sum(one.games for one in times.entrants)


def _without_log(folder: Folder, event: Event, results: Mapping[str, Result]) -> str | None:
    """Return the first game that has a result and no log; None if there is none."""
    there = set(folder.logs())
    for plan in sittings(event, results):
        if folder.log(plan.name) not in there:
            for game in plan.games:
                if game.name in results:
                    return game.name
    logged = GameIndex(past_sittings(folder, event), lambda plan, _: plan)
    return next((game for game in retired_games(event, results) if game not in logged), None)
