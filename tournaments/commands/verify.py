"""The command `verify`: prints the problems of an event or of game logs. Plays nothing."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from arena.analysis.find import logs, refuse_others
from arena.rules.english import count_in_digits
from arena.ui.console import print_line
from protocol.errors import UserError
from tournaments.storage.folder import Folder, digest
from tournaments.storage.history import read_history
from tournaments.storage.public_deals import count
from tournaments.verification.event_check import unchecked, verify_folder, verify_log


def verify_event(path: Path, seeds: Path | None) -> int:
    """Check an event, its logs or one log, and print the problems; return the exit code.

    Raises UserError.
    """
    folder, faults = Folder(path), 0
    # An event that lost its plan is not a folder of logs: its other files would go unchecked.
    event = folder.event.is_file() or folder.ledger.is_file()
    for fault in _verify_shown(folder) if event else _verify_logs(path, seeds):
        print_line(fault)
        faults += 1
    if faults:
        print_line(count_in_digits(faults, "problem found.", "problems found."))
        return 1
    print_line("OK: everything verified.")
    if event:
        _tell_what_is_left(folder)
    return 0


def _verify_shown(folder: Folder) -> Iterator[str]:
    """Yield the problems of an event; show on a terminal how many games are replayed."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Games replayed", total=None)
        yield from verify_folder(
            folder, lambda done, of: bar.update(task, completed=done, total=of)
        )


def _verify_logs(path: Path, seeds: Path | None) -> Iterator[str]:
    """Yield the problems of a log, or of all logs in a folder that holds no event.

    Raises UserError.
    """
    refuse_others(path)
    found = logs(path)
    if not found:
        raise UserError(f"{path} has no event and no game logs.")
    for log in found:
        yield from verify_log(log, seeds)


def _tell_what_is_left(folder: Folder) -> None:
    """Print what nobody can check yet, and what only witnesses of the start can check."""
    if waiting := unchecked(folder):
        print_line(f"{waiting} games need their boards' seeds: finish the event to verify them.")
    print_line(f"The commitments' SHA-256 is {digest(folder)}:")
    print_line("compare it with the one that was published before the first game.")
    for before in read_history(folder):
        print_line(
            f"Before an extension the event had {before.boards} boards, committed to by "
            f"{before.sha256}, and {', '.join(before.entrants)}; the deals of "
            f"{count(before.public)} were public."
        )
