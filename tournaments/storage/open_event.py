"""Begin an event in its folder, or continue it with the same plan or an extended one."""

import hashlib
import secrets
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Literal

from arena.engine.shuffle import commitment
from arena.files import has_content, write_atomic
from arena.logs.board_promises import published_seeds
from arena.logs.gamelog import read_games
from arena.rules.english import count_in_digits
from arena.ui.console import shown_path
from arena.ui.progress import track
from protocol.codec import encode_line
from protocol.errors import UserError
from protocol.records import Commitment
from tournaments.plan.deals.deals_file import SetBoard, SetDeals, too_few_deals
from tournaments.plan.deals.draw_seeds import draw_seed
from tournaments.plan.event import Event, as_json
from tournaments.storage.extend import (
    delayed,
    incompatibility,
    new_versions,
    newcomers,
    resolve_versions,
)
from tournaments.storage.folder import (
    SECRET,
    Folder,
    SeedOf,
    board_seeds,
    check_not_readable,
    load_event,
    make_private,
    secret_of,
    seed_lines,
)
from tournaments.storage.history import remember
from tournaments.storage.public_deals import public_boards

FreshBoards = Literal["newcomers", "versions", ""]
"""The bots that play only boards whose deals nobody has seen: all that join now, those of a bot
whose files changed (unless the deals are set, for there may be no others), or none."""


class CannotExtendError(UserError):
    """The plan cannot extend the event in its folder."""


def open_event(
    folder: Folder,
    event: Event,
    seed: int | None,
    deals: SetDeals | None = None,
    fresh: FreshBoards = "",
) -> tuple[Event, list[str]]:
    """Write the event, its secret and its commitments; return the event and notes for the user.

    An event that the folder holds already is continued: unchanged, or extended, with versions of
    its entrants. `deals`: those that the organiser sets. `fresh`: the bots that play only boards
    whose deals nobody has seen.

    Raises CannotExtendError, UserError and DamagedFileError.
    """
    check_not_readable(folder, event.entrants, event.sandbox, deals and deals.source)
    if not folder.event.exists():
        # Whatever a killed run left here was never published.
        _write_secret(folder, seed)
        seed_of = _planned_seeds(folder, event, deals)
        _write_boards(folder, event, seed_of)
        # Last, so that a folder with an event has all other files.
        write_atomic(folder.event, [as_json(event)])
        return event, []
    old = load_event(folder)
    event = resolve_versions(old, event, _Played(folder))
    public = public_boards(folder) if _matters(old, event) else set()
    if fresh and public:
        late = newcomers(old, event)
        if fresh == "versions":
            late &= {after for _, after in new_versions(old, event) if event.has_drawn_seeds}
        event = delayed(event, late, max(public) + 1)
    if forbidden := incompatibility(old, event):
        raise CannotExtendError(
            f"{shown_path(folder.path)} has an event that this plan cannot extend: {forbidden}. "
            "Choose another folder (--out)."
        )
    seed_of = _planned_seeds(folder, event, deals)
    _check_promises(folder, old, event, seed_of)
    if seed is not None and secret_of(folder) != seeded(seed):
        raise UserError(
            f"{folder.path} has an event with another --seed. Choose another folder (--out)."
        )
    return event, _go_on(folder, old, event, public, seed_of)


def _planned_seeds(folder: Folder, event: Event, deals: SetDeals | None) -> SeedOf:
    """Return the function from a board to its seed. Raises UserError, DamagedFileError."""
    if event.has_drawn_seeds:
        return board_seeds(folder, event)
    secret, boards = secret_of(folder), range(1, event.all_boards + 1)
    given = deals.boards if deals else (SetBoard(),) * len(boards)
    if deals and len(given) < len(boards):
        raise too_few_deals(deals, len(boards))
    # Drawing deals for a filter can take long.
    seeds = {} if deals else published_seeds(folder.deals) if folder.event.exists() else {}
    return {
        board: seeds.get(board) or draw_seed(event, secret, board, given[board - 1])
        for board in track(boards, "Deals drawn", len(boards))
    }.__getitem__


def _write_boards(folder: Folder, event: Event, seed_of: SeedOf) -> None:
    """Write the seeds that are not just drawn, and then the commitments to all."""
    if not event.has_drawn_seeds:
        seeds = {board: seed_of(board) for board in range(1, event.all_boards + 1)}
        write_atomic(folder.deals, seed_lines(seeds), 0o600)
    write_atomic(folder.commitments, commitments(event, seed_of))


def _check_promises(folder: Folder, old: Event, event: Event, seed_of: SeedOf) -> None:
    """Refuse to play deals that differ from those committed to."""
    # A killed extension may have left more lines than the old plan has.
    for boards in (old.all_boards, event.all_boards):
        if has_content(folder.commitments, islice(commitments(event, seed_of), boards)):
            break
    else:
        if event.deals_set:
            raise UserError(
                f"{shown_path(folder.path)} has an event with other deals than those given now. "
                "Restore its deals, or choose another folder (--out)."
            )
        raise UserError(
            f"{folder.commitments} does not match {folder.secret.name}: one of them is damaged."
        )


def _go_on(
    folder: Folder, old: Event, event: Event, public: Collection[int], seed_of: SeedOf
) -> list[str]:
    """Replace the plan, after adding the old one to the history; return notes for the user."""
    said: list[str] = []
    if event != old:
        said = list(_changes(old, event, public))
        if _matters(old, event):
            remember(folder, old, public)
    _write_boards(folder, event, seed_of)
    write_atomic(folder.event, [as_json(event)])
    return said


def _matters(old: Event, event: Event) -> bool:
    """Tell whether there are new boards to commit to, or new entrants."""
    return old.all_boards != event.all_boards or bool(newcomers(old, event))


def _changes(old: Event, event: Event, public: Collection[int]) -> Iterator[str]:
    for before, after in new_versions(old, event):
        yield (
            f"The files of bot {before} have changed. The new version plays as {after}; the "
            f"results of {before} are kept and rated separately."
        )
    new = [one for one in event.entrants if one.name in newcomers(old, event)]
    if met := [one.name for one in new if any(board >= one.first_board for board in public)]:
        boards = count_in_digits(len(public), "board")
        yield (
            f"Note: {' and '.join(met)} will also play {boards} whose deals were already public. "
            "With --fresh-boards new bots play only on boards that nobody has seen."
        )


class _Played:
    """Entrants that have a result in the game logs."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def __contains__(self, name: object) -> bool:
        logs = (path for path in self._folder.logs() if name in path.stem.split("."))
        return any(game.result for path in logs for game in read_games(path))


def _write_secret(folder: Folder, seed: int | None) -> None:
    secret = secrets.token_bytes(SECRET) if seed is None else seeded(seed)
    make_private(folder)
    write_atomic(folder.secret, [secret], 0o600)


def seeded(seed: int) -> bytes:
    """Return the secret that a --seed determines."""
    return hashlib.sha256(f"boneyard seed|{seed}".encode()).digest()


def commitments(event: Event, seed_of: SeedOf) -> Iterator[bytes]:
    """Yield the lines that commit to the event's deals."""
    for board in range(1, event.all_boards + 1):
        yield encode_line(Commitment(board, commitment(seed_of(board))))
