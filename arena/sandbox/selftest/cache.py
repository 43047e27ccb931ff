"""Outcomes of earlier self-tests on this machine, in a folder that only our own user writes to.

Nobody else can forge them: a bot is another user, or sees no home, or may write nowhere. Only where
nothing locks it in (level D as a plain user, or off) a bot could, and there it could change our
programs too. `sandbox: require` and `doctor` believe nothing that is kept here.
"""

import os
import stat
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from arena.files import is_ours, user_cache
from arena.sandbox.selftest.guarantees import PROBES
from arena.sandbox.selftest.runner import ProbeResult
from protocol.codec import DamagedRecordError, decode_json, encode_json

OLDEST_S = 86_400.0
"""Seconds after which a self-test is made again: a day."""
MOST_BYTES = 2**18
"""Bytes that are read of one file; it has about 12,000."""
MOST_FILES = 32
"""Files that are kept: one for each level, machine and version; the oldest go first."""


class SelfTest(Struct, frozen=True, forbid_unknown_fields=True):
    """One self-test as it is kept."""

    at: float
    """The time of its end, in s since 1970."""
    outcomes: dict[str, ProbeResult]
    """The outcome of every probe."""


def load_outcomes(fingerprint: str) -> dict[str, ProbeResult] | None:
    """Return a self-test's outcomes; None if there was none, or too long ago, or it is not ours."""
    folder = user_cache("selftest")
    if folder is None:
        return None
    with suppress(OSError, DamagedRecordError):
        kept = decode_json(_read_ours(folder / f"{fingerprint}.json"), SelfTest)
        if kept.outcomes.keys() == PROBES.keys() and 0 <= time.time() - kept.at < OLDEST_S:
            return kept.outcomes
    return None


def save_outcomes(fingerprint: str, outcomes: Mapping[str, ProbeResult]) -> None:
    """Keep a self-test's outcomes, if there is a folder to keep them in."""
    folder = user_cache("selftest")
    if folder is None:
        return
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(encode_json(SelfTest(time.time(), dict(outcomes))))
        Path(name).replace(folder / f"{fingerprint}.json")
        _sweep(folder)


def _read_ours(path: Path) -> bytes:
    """Return a file's bytes. Raises OSError if another user owns it or could have written it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not is_ours(found):
            raise PermissionError(f"Another user could have written it: {path}")
        return file.read(MOST_BYTES)


def _sweep(folder: Path) -> None:
    """Remove the oldest files."""
    newest_first = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[MOST_FILES:]:
        path.unlink(missing_ok=True)
