"""`git pull` in a league's folder, so that nothing in the repository is executed."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

TIMEOUT_S = 120.0
"""Time that the server of a pull may take, in s."""
MERGE_S = 600.0
"""Time that the checkout of what was fetched may take, in s. Whoever ends one in its middle leaves
a lock and half of its files, and git refuses every pull after that."""
LONGEST = 300
"""Most characters that are told of git's complaint."""
SAFE = (
    # Hooks and monitors are programs that a repository's settings may name.
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"),
    # Submodules and transports of other kinds lead to other places, and to programs.
    *("-c", "submodule.recurse=false", "-c", "protocol.ext.allow=never"),
    # Large files that are kept elsewhere would be fetched from there.
    *("-c", "filter.lfs.smudge=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"),
    *("-c", "fetch.fsckObjects=true", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
)
"""Settings under which git executes no program that authors could choose."""


class PullError(Exception):
    """The failure of a pull; the text says why."""


def pull(folder: Path) -> str | None:
    """Pull the bots, if their folder is a checkout of its own, or else the whole league.

    Return the new commit, or None if there is nothing new. Raises PullError.
    """
    place = folder / "bots" if (folder / "bots" / ".git").exists() else folder
    before = _git(place, "rev-parse", "HEAD")
    _git(place, "fetch", "--quiet", "--no-recurse-submodules")
    _git(place, "merge", "--ff-only", "--quiet")
    after = _git(place, "rev-parse", "HEAD")
    return None if after == before else after[:10]


def _git(folder: Path, *words: str) -> str:
    """Run git; return what it writes. Raises PullError."""
    timeout = MERGE_S if words[0] == "merge" else TIMEOUT_S
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_LFS_SKIP_SMUDGE": "1"}
    quiet |= {"GIT_SSH_COMMAND": os.environ.get("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")}
    try:
        process = subprocess.Popen(
            ("git", "-C", f"{folder}", *SAFE, *words),
            env=os.environ | quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise PullError(f"git cannot be started: {error.strerror}") from error
    with process:
        try:
            said, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise PullError(f"git {words[0]} took longer than {timeout:g} s") from None
        except KeyboardInterrupt:
            if words[0] == "merge":
                process.communicate(timeout=timeout)
            raise
        finally:
            # Its helpers too: a transport may wait for ever.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    text = said.decode(errors="replace").strip()
    if process.returncode:
        raise PullError(f"git {words[0]}: {text[-LONGEST:] or process.returncode}")
    return text
