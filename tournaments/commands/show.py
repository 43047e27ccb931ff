"""The command `show --separate`: the boards that would separate an event's bots."""

from collections.abc import Sequence
from pathlib import Path

from arena.ui.console import print_json, print_line, print_note
from protocol.errors import UserError
from tournaments.forecast.power import separations
from tournaments.forecast.text import separation_text
from tournaments.rating.ratings import fit
from tournaments.report.event_text import done, uneven
from tournaments.schedule.schedule import count_all_games
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import results_of
from tournaments.storage.luck_store import LuckStore
from tournaments.storage.result_store import ResultStore

INCOMPARABLE = (
    "No two neighbours in the standings took points off each other in both directions, directly "
    "or through others, so the number of boards that would separate them is unknown."
)


def print_separations(path: Path, bots: Sequence[str], in_json: bool) -> int:
    """Print how many boards would separate entrants, neighbours or these two; return the exit code.

    Raises UserError, DamagedFileError.
    """
    folder = Folder(path)
    event = load_event(folder)
    results = ResultStore(results_of(folder.ledger, event), LuckStore(folder, event))
    if not results:
        raise UserError(f"{path} has no results yet: nothing is known about its entrants.")
    pair = (bots[0], bots[1]) if bots else None
    ratings = fit(event.format.rated(event, results.first()), partners=event.rules.deal.partners)
    found = separations(ratings, len({result.board for result in results.values()}), pair)
    planned = count_all_games(event, results)
    if len(results) < planned:
        print_note(f"The event is unfinished: {done(event, len(results), planned)}")
        for notice in filter(None, [uneven(event, results.first(), planned)]):
            print_note(notice)
    if not found:
        print_note(INCOMPARABLE)
    if in_json:
        print_json(found)
    for line in () if in_json else map(separation_text, found):
        print_line(line)
    return 0
