"""The memory that this user locked bots in on this machine: a file of the user's own.

A trial that fails where one succeeded is a reason to stop, not to play without a sandbox.
"""

import hashlib
import os
import platform
import pwd
from contextlib import suppress
from pathlib import Path


def remember_proof() -> None:
    """Note that bots were locked in here. A home that cannot be written to remembers nothing."""
    with suppress(OSError, KeyError):
        note = _note()
        if not note.exists():
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.touch(0o600)


def has_proved() -> bool:
    """Tell whether this user locked bots in on this machine before."""
    with suppress(OSError, KeyError):
        return _note().exists()
    return False


def _note() -> Path:
    """Return the file's path. Raises KeyError for a user without a home.

    Not by HOME: with it `sudo` may name the folder of another user, who could remove the file.
    """
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    state = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    # Machines may share a home.
    machine = platform.node()
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text()
    return state / "boneyard" / f"locked-{hashlib.sha256(machine.encode()).hexdigest()[:16]}"
