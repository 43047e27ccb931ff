"""Earlier plans of an extended event, so that every commitment made under them stays checkable.

The report follows from the last plan alone, as if the event had been played at once, except for
the bots that joined when deals were public.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

from arena.files import write_atomic
from arena.logs.checksummed import damaged, read_lines
from protocol.codec import DamagedRecordError, decode_json, encode_json
from tournaments.plan.event import Event
from tournaments.storage.folder import Folder
from tournaments.storage.public_deals import Before, board_spans


def remember(folder: Folder, old: Event, public: Iterable[int]) -> None:
    """Add the plan that is about to be replaced, once, with the boards whose deals are public.

    Raises DamagedFileError, OSError.
    """
    entrants = {entrant.name: entrant.fingerprint for entrant in old.entrants}
    digest = sha256(folder, old.all_boards)
    before = Before(old.all_boards, digest, board_spans(public), entrants)
    known = list(read_history(folder))
    # An earlier call may have been killed between this line and the new plan.
    if before not in known[-1:]:
        write_atomic(folder.history, (encode_json(plan) + b"\n" for plan in (*known, before)))


def read_history(folder: Folder) -> Iterator[Before]:
    """Yield the earlier plans, the oldest first. Raises DamagedFileError."""
    for line in read_lines(folder.history):
        try:
            yield decode_json(line.data, Before)
        except DamagedRecordError as error:
            raise damaged(folder.history, line, error) from error


def sha256(folder: Folder, boards: int) -> str:
    """Return the SHA-256 of the commitments to the first boards, in hex."""
    lines = (line.data for line in islice(read_lines(folder.commitments), boards))
    return hashlib.sha256(b"".join(lines)).hexdigest()


def broken_promises(folder: Folder) -> Iterator[str]:
    """Yield a sentence for each earlier plan whose commitments have changed since.

    Raises DamagedFileError.
    """
    for before in read_history(folder):
        if sha256(folder, before.boards) != before.sha256:
            yield (
                f"{folder.commitments}: the SHA-256 of its first {before.boards} lines is not the "
                f"one in {folder.history.name}"
            )
