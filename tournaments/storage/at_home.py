"""Events of bots on the command line: a bot is what lies there now; earlier games are set aside.

A league and an event file keep every version of a bot in one ledger: see `extend`. At home a bot
whose files change begins anew, and `earlier/` keeps the event of the files before, whole.

A run may be killed at any moment. Before the plan changes, the last folder in `earlier/` has all
that the event has; as long as the plan is not written, `bring_back` restores the event from there.
"""

import os
import shutil
from collections.abc import Iterable
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from arena.files import write_atomic
from arena.logs.compression import actual_path
from arena.rules.english import count_in_digits, join_words
from arena.ui.console import shown_path
from tournaments.plan.event import Event, as_json
from tournaments.plan.from_options import WrittenPlan
from tournaments.storage import review_log
from tournaments.storage.folder import (
    Folder,
    board_seeds,
    content,
    load_event,
    make_private,
    read_event,
)
from tournaments.storage.history import remember
from tournaments.storage.luck_store import LuckStore
from tournaments.storage.open_event import commitments
from tournaments.storage.public_deals import public_boards


def open_at_home(
    folder: Folder, plan: WrittenPlan, event: Event, *, boards_asked: bool
) -> tuple[Event, list[str]]:
    """Prepare the folder for bots as they are now; return the event to open and notes.

    `event`: the plan's, with its bots. `boards_asked`: True if the user named a number of boards.
    Raises UserError, OSError.
    """
    bring_back(folder, event)
    if not folder.event.is_file():
        return event, []
    old = load_event(folder)
    changed = [] if old.retired or not folder.logs() else _changed(old, event)
    said = []
    if not (changed and boards_asked) and event.boards < old.boards:
        event = plan.with_boards_of(old).event(event.entrants)
        if boards_asked:
            said = [f"It has {count_in_digits(old.boards, 'board')} already; all of them count."]
    if changed:
        # Without the file nobody ever reviewed the event.
        reviewed = folder.review_lock.exists()
        with review_log.held_review(folder) if reviewed else nullcontext():
            kept = shown_path(_renew(folder, old, event, changed))
        said.append(
            f"{join_words(changed)} changed; the games of the files before are in {kept} "
            "(--versions)."
        )
    return event, said


def earlier_folders(folder: Folder) -> list[Folder]:
    """Return the folders of the events before, oldest first."""
    found = [path for path in folder.earlier.glob("*") if path.name.isdecimal()]
    return [Folder(path) for path in sorted(found, key=lambda path: int(path.name))]


def bring_back(folder: Folder, wanted: Event | None = None) -> None:
    """Restore the event that was last set aside, if the plan that replaces it was not written.

    Also if nothing was played by that plan and the bots are again those of the `wanted` event: its
    plan would be equal to the one set aside, as if it had never been replaced.
    """
    for last in earlier_folders(folder)[-1:]:
        undone = wanted and not folder.logs() and _has_bots_of(last, wanted)
        if undone or content(folder.event) in (b"", content(last.event)):
            _clear(folder)
            _copy(last, folder)
            # By its name half a folder would be taken for a whole one.
            over = last.path.with_suffix(".over")
            shutil.rmtree(over, ignore_errors=True)
            last.path.rename(over)
            shutil.rmtree(over)


def _changed(old: Event, new: Event) -> list[str]:
    """Return the bots of both plans whose files differ."""
    before = {one.name: one.fingerprint for one in old.entrants}
    return [
        one.name for one in new.entrants if before.get(one.name, one.fingerprint) != one.fingerprint
    ]


def _renew(folder: Folder, old: Event, new: Event, changed: list[str]) -> Path:
    """Set the event aside and prepare the folder for other files; return where the old event is."""
    kept = _set_aside(folder)
    again = [one for one in earlier_folders(folder)[:-1] if _has_bots_of(one, new)]
    others = [path for path in folder.logs() if not set(changed) & set(path.stem.split("."))]
    if again:
        _clear(folder)
        _copy(again[-1], folder)
    elif not others or not old.format.IS_STATIC or new.boards < old.boards:
        _clear(folder)
    elif not old.has_drawn_seeds:
        # There are no more deals that nobody has seen.
        _clear(folder)
    else:
        _replace(folder, old, new, changed)
    return kept


def _replace(folder: Folder, old: Event, new: Event, changed: list[str]) -> None:
    """Keep the games of the other bots; the changed ones play on deals that nobody has seen."""
    public = public_boards(folder)
    remember(folder, old, public)
    now = {one.name: one for one in new.entrants if one.name in changed}
    first = max(public, default=0) + 1
    entrants = (
        replace(now[one.name], first_board=first) if one.name in now else one
        for one in old.entrants
    )
    plan = replace(old, entrants=tuple(entrants))
    LuckStore(folder, old).drop_games_of(changed)
    review_log.drop_games_of(folder, changed)
    for path in folder.logs():
        if set(changed) & set(path.stem.split(".")):
            actual_path(path).unlink()
    # The ledger and the reports follow from the logs that are left.
    for path in (folder.ledger, folder.results, folder.times):
        path.unlink(missing_ok=True)
    _remove(folder.pages)
    write_atomic(folder.commitments, commitments(plan, board_seeds(folder, plan)))
    write_atomic(folder.event, [as_json(plan)])


def _has_bots_of(folder: Folder, new: Event) -> bool:
    """Tell whether an event has exactly these bots with these files."""
    bots = {(one.name, one.fingerprint) for one in new.entrants}
    return {(one.name, one.fingerprint) for one in read_event(folder).entrants} == bots


def _set_aside(folder: Folder) -> Path:
    """Copy the event into the next folder of `earlier/`; return that."""
    number = max((int(one.path.name) for one in earlier_folders(folder)), default=0) + 1
    path = folder.earlier / f"{number}"
    half = Folder(path.with_suffix(".new"))
    shutil.rmtree(half.path, ignore_errors=True)
    _copy(folder, half)
    half.path.rename(path)
    _wait_for_disk((folder.earlier, folder.private))
    return path


def _copy(source: Folder, target: Folder) -> None:
    """Copy an event, the plan last, and wait each time until the disk has the copies."""
    make_private(target)
    for parts in ([one for one in source.parts() if one != source.event], [source.event]):
        places = [target.path / part.relative_to(source.path) for part in parts]
        for part, place in zip(parts, places, strict=True):
            if part.is_dir():
                shutil.copytree(part, place, symlinks=True)
            else:
                shutil.copy2(part, place, follow_symlinks=False)
        below = chain.from_iterable(place.rglob("*") for place in places)
        _wait_for_disk((*below, *places, target.private, target.path))


def _wait_for_disk(paths: Iterable[Path]) -> None:
    """Return when the disk has these files, and what the folders list. Raises OSError."""
    for path in (one for one in paths if not one.is_symlink()):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _clear(folder: Folder) -> None:
    """Remove the files and folders of an event."""
    for part in folder.parts():
        _remove(part)


def _remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
