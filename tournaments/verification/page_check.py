"""The check of an event's replay pages: each follows from its log, with the reviews in it."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from arena.files import has_content
from arena.logs.catalog import PAGES
from arena.logs.checksummed import DamagedFileError
from arena.ui.replay_files import (
    is_reviewed,
    page_name,
    pages,
    placeholder,
)
from tournaments.plan.event import Event
from tournaments.storage.folder import Folder
from tournaments.storage.history import read_history
from tournaments.verification.log_check import usable_cores
from tournaments.verification.processes import map_batches


class PagesToCheck(NamedTuple):
    """The pages of a log."""

    log: Path
    folder: Path
    orders: tuple[tuple[str, ...], ...]
    """The entrants of each plan of the event: their order is that of the emblems."""
    reviewed: bool
    """True if the pages have reviews."""


def page_faults(folder: Folder, event: Event, logs: Sequence[Path]) -> Iterator[str]:
    """Yield the replay pages that do not show what their finished log says.

    Pages are made when somebody asks for them: an event has those of some logs, or none. Those that
    were made under an earlier plan have its entrants' emblems. Those of another version may look
    different for the same log; a page is not asked which made it, for a forger can change that.
    """
    place, not_made = folder.path / PAGES, placeholder().encode()
    earlier: list[tuple[str, ...]] = []
    with suppress(DamagedFileError):  # The promises' check tells of it.
        earlier = [tuple(plan.entrants) for plan in read_history(folder)]
    orders = tuple({tuple(one.name for one in event.entrants): None} | dict.fromkeys(earlier))
    tasks = list[PagesToCheck]()
    for log in logs:
        # The first page is written last, so that all others are there.
        first = place / page_name(log.stem, 1)
        if first.exists() and not has_content(first, [not_made]):
            tasks.append(PagesToCheck(log, place, orders, is_reviewed(first)))
    for wrong in _on_all_cores(tasks):
        for page in wrong:
            yield (
                f"{page}: does not follow from its log, or another version of Boneyard wrote it. "
                f"Write it again: `boneyard replay {folder.path} --html`"
            )


def _on_all_cores(tasks: list[PagesToCheck]) -> Iterator[list[Path]]:
    """Yield the wrong pages of each log, in order; only reviews are worth more than one process."""
    count = min(len(tasks), usable_cores())
    if count < 2 or not any(task.reviewed for task in tasks):
        return map(wrong_pages, tasks)
    return map_batches(wrong_pages, ([task] for task in tasks), count)


def wrong_pages(task: PagesToCheck) -> list[Path]:
    """Return the pages of a log that do not follow from it. Raises DamagedFileError, OSError."""
    made = [dict(pages(task.log, order, reviewed=task.reviewed)) for order in task.orders]
    return [
        task.folder / name
        for name in made[0]
        if not any(has_content(task.folder / name, [one[name].encode()]) for one in made)
    ]
