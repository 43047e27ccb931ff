"""The command `verify`: prints the problems of an event or of game logs. Plays nothing."""

from pathlib import Path
from typing import TypeVar

from arena.analysis.find import logs, refuse_others
from arena.rules.english import count_in_digits
from arena.ui.console import print_json, print_line, print_note
from arena.ui.progress import track, working
from protocol.errors import UserError
from tournaments.storage.folder import Folder, digest, read_event
from tournaments.storage.public_deals import count, read_history
from tournaments.verification.event_check import (
    Checked,
    Verified,
    unchecked,
    verify_folder,
    verify_log,
)

T = TypeVar("T")

PLANS_SHOWN = 3
"""Earlier plans of an extended event that are told one by one."""


def verify_event(path: Path, seeds: Path | None, as_json: bool) -> int:
    """Check an event, its logs or one log, and print the problems; return the exit code.

    Raises UserError.
    """
    folder = Folder(path)
    # An event that lost its plan is not a folder of logs: its other files would go unchecked.
    event = folder.event.is_file() or folder.ledger.is_file()
    checked = _verify_shown(folder) if event else _verify_logs(path, seeds)
    faults, verified = print_faults(checked, as_json)
    if as_json:
        waiting = unchecked(folder) if event else 0
        print_json({"problems": faults, **verified._asdict(), "waiting": waiting})
    if faults or as_json:
        return 1 if faults else 0
    if event:
        _tell_what_is_left(folder)
    print_line(f"OK: {describe_extent(verified)}.")
    return 0


def print_faults(checked: Checked[T], in_json: bool) -> tuple[list[str], T]:
    """Print all faults and their number; return them, and what the check returns."""
    faults: list[str] = []
    while True:
        try:
            faults.append(next(checked))
        except StopIteration as end:
            if faults and not in_json:
                print_line(count_in_digits(len(faults), "problem found.", "problems found."))
            verified: T = end.value
            return faults, verified
        if not in_json:
            print_line(faults[-1])


def describe_extent(of: Verified) -> str:
    """Return the extent of a check in words."""
    if not of.games:
        return "no game can be replayed yet"
    deals = "1 board's deals" if of.boards == 1 else f"{of.boards:,} boards' deals"
    games = f"{of.games:,} {'game' if of.games == 1 else 'games'}"
    equal = f"{', ratings equal' * of.ratings}{', luck equal' * of.luck}"
    return f"{games} replayed, {deals} recomputed{equal}"


def _verify_shown(folder: Folder) -> Checked[Verified]:
    """Yield the problems of an event; show on a terminal how many games are replayed."""
    with working("Games replayed") as tell:
        return (yield from verify_folder(folder, tell))


def _verify_logs(path: Path, seeds: Path | None) -> Checked[Verified]:
    """Yield the problems of a log, or of all logs in a folder that holds no event.

    Raises UserError.
    """
    refuse_others(path)
    found = logs(path)
    if not found:
        raise UserError(f"{path} has no event and no game logs.")
    games = boards = 0
    for log in track(found, "Logs checked", len(found)):
        verified = yield from verify_log(log, seeds)
        if not verified.games:
            print_note(f"{log} has no finished game: nothing in it can be checked.")
        games, boards = games + verified.games, boards + verified.boards
    return Verified(games, boards)


def _tell_what_is_left(folder: Folder) -> None:
    """Print what nobody can check yet, and what only witnesses of the start can check."""
    event = read_event(folder)
    if event.deals_set:
        print_line("The deals were set by the organiser, who knew them; commitments bind them too.")
    if event.deals_with:
        print_line(f"The first deal of each board satisfies {' and '.join(event.deals_with)}.")
    if waiting := unchecked(folder):
        why = "not all games on their boards were played, so their seeds are secret"
        print_line(f"{waiting:,} games cannot be verified yet: {why}.")
    print_line(f"The commitments' SHA-256 is {digest(folder)}:")
    print_line("if one was published before the first game, compare it with that.")
    plans = list(read_history(folder))
    if len(plans) > PLANS_SHOWN:
        print_line(f"{folder.history} has {len(plans)} earlier plans; the last of them:")
    for before in plans[-PLANS_SHOWN:]:
        print_line(
            f"Before an extension the event had {before.boards} boards, committed to by "
            f"{before.sha256}, and {', '.join(before.entrants)}; the deals of "
            f"{count(before.public)} were public."
        )
