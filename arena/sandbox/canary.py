"""A bot that tries each mechanism of the sandbox once; this file runs as a bot and as its control.

One self-contained file, because it must run where a bot runs: `python -I -S canary.py`. A line of
stdin holds the targets (see `select`), a line of stdout the outcome of each attempt, `{"got":
true|false, "detail": …}`: only a refusal that was seen is one. It takes milliseconds and fills
nothing. The child that it leaves behind answers each line of stdin, and ends when stdin does.
"""

import errno
import json
import mmap
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

if sys.platform != "win32":  # Its names are imported everywhere.
    import fcntl
    import resource

LIFE_S = 600
"""Seconds after which it ends in any case, and the child that it leaves behind: far more than any
stop of a busy machine, for a canary that ends too soon proves nothing."""
CONNECT_S = 0.5
MOST_PIPES = 10_000_000
"""The largest distance of two pipes' numbers from one counter."""
MOST_FILES = 4096
UNTRIED = "not tried"
"""The beginning of the detail of an attempt that could not be made: it counts as got through."""

Targets = dict[str, Any]
Attempt = Callable[[Targets], str]
"""An attempt that returns what it got; it raises Repelled or OSError if it was refused."""


class Repelled(Exception):  # noqa: N818 - the usual outcome, not an error
    """The attempt did not get through."""


def require(condition: object, otherwise: str) -> None:
    """Raise Repelled, with the reason, unless the condition holds."""
    if not condition:
        raise Repelled(otherwise)


def read(path: str) -> str:
    """Return the beginning of a file."""
    with open(path, errors="replace") as file:
        return file.read(65_536)


def secret_in(targets: Targets, path: str) -> str:
    """Succeed only if the file has the secret."""
    require(targets["token"] in read(path), "something else was there")
    return "read the secret"


def write_in(targets: Targets, folder: str) -> str:
    """Make a file with the mark; the referee looks who made it, and whether it has the mark."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{targets['who']}", "x") as file:
        file.write(targets["mark"])
    return "made a file"


def read_link(name: str) -> str:
    """Return one of our own namespaces."""
    try:
        return os.readlink(f"/proc/self/ns/{name}")
    except OSError as no:
        raise LookupError(name) from no  # Nothing is known of it then.


def share(targets: Targets, namespace: str) -> str:
    """Be in one of the referee's namespaces: of users, of memory and queues, of the network."""
    require(read_link(namespace) == targets["namespaces"][namespace], "a namespace of its own")
    return "the referee's namespace"


def same_user(targets: Targets) -> str:
    """Be the referee's user, in the same namespace of users."""
    require(os.getuid() == targets["uid"], "another user")
    return share(targets, "user")


def inherit(targets: Targets) -> str:
    """Find a variable or a descriptor of the referee."""
    if os.environ.get(targets["variable"]) == targets["token"]:
        return "its environment"
    require(targets["inherited"], "nothing")
    return f"{len(targets['inherited'])} descriptors"


def reach_listener(targets: Targets) -> str:
    """Reach a listener of the referee."""
    with socket.socket() as stream:
        stream.settimeout(CONNECT_S)
        stream.connect(("127.0.0.1", targets["port"]))
    return "connected"


def take_lock(_: Targets) -> str:
    """Make a call that every Python has and the filter refuses."""
    with open(sys.argv[0]) as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return "made a call that bots do not need"


def may_gain_rights(_: Targets) -> str:
    """Have a capability, or be able to gain one from a setuid program."""
    status = dict(line.partition(":")[::2] for line in read("/proc/self/status").splitlines())
    if int(status["CapEff"], 16):
        return "has capabilities"
    require(status["NoNewPrivs"].strip() == "0", "none")
    return "may become another user"


def read_load(_: Targets) -> str:
    """Read how busy the machine is."""
    require(read("/proc/loadavg"), "empty")
    return "read it"


def number_pipe(targets: Targets) -> str:
    """See in the number of a pipe how many others have made."""
    ours, theirs = os.pipe()
    number = os.fstat(ours).st_ino
    os.close(ours)
    os.close(theirs)
    require(abs(number - targets["pipe"]) <= MOST_PIPES, "another count")
    return "the same count"


def exceed_limits(targets: Targets) -> str:
    """Have a higher limit than the bot's, or open more files than it says."""
    for name, most in targets["limits"].items():
        hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1]
        if hard == resource.RLIM_INFINITY or hard > most:
            return f"a higher limit: {name}"
    files = list[int]()
    try:
        while len(files) < min(targets["limits"]["NOFILE"], MOST_FILES):
            files.append(os.dup(0))
    finally:
        for descriptor in files:
            os.close(descriptor)
    return f"{len(files)} open"


def share_memory(_: Targets) -> str:
    """Get memory that stays when no process of ours maps it."""
    mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS).close()
    return "has it"


def leave_child(_: Targets) -> str:
    """Leave a child behind that answers after our end; the referee asks it."""
    ours, theirs = os.pipe()
    if os.fork():
        os.close(theirs)
        require(os.read(ours, 1), "it ended")
        os.close(ours)
        return "began"
    try:
        signal.alarm(LIFE_S)
        for polite in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(polite, signal.SIG_IGN)
        leave_group()
        parent = os.getppid()
        os.write(theirs, b"!")
        while os.read(0, 1):
            if os.getppid() != parent:
                os.write(1, b"alive\n")
    finally:
        os._exit(0)


def leave_group() -> None:
    """Leave the session, or at least the group, where that is allowed."""
    for leave in (os.setsid, os.setpgrp):
        with suppress(OSError):
            leave()
            return


GROUPS: dict[str, dict[str, Attempt]] = {
    "files": {
        # A namespace of mounts.
        "read-event": lambda t: secret_in(t, t["event_file"]),
        "write-event": lambda t: write_in(t, t["logs"]),
        # As root, a user of its own too.
        "read-secret": lambda t: secret_in(t, t["secret_key"]),
    },
    "processes": {
        # A namespace of processes.
        "see-referee": lambda t: secret_in(t, f"/proc/{t['pid']}/cmdline"),
        "same-user": same_user,
    },
    "inherited": {"inherit": inherit},
    "network": {"connect": reach_listener, "same-network": lambda t: share(t, "net")},
    "shared": {
        "write-tmp": lambda t: write_in(t, t["notes"]),
        "same-ipc": lambda t: share(t, "ipc"),
    },
    "kernel": {
        # The filter of system calls; no_new_privs and capabilities.
        "lock-file": take_lock,
        "gain-rights": may_gain_rights,
    },
    "counters": {"read-load": read_load},
    "traces": {"number-pipe": number_pipe},
    "limits": {"exceed-limits": exceed_limits, "share-memory": share_memory},
    "outlive": {"leave-child": leave_child},
}


def outcome(attempt: Attempt, targets: Targets) -> dict[str, Any]:
    """Return one attempt's outcome; only an observed refusal is one."""
    try:
        return {"got": True, "detail": attempt(targets)}
    except Repelled as no:
        return {"got": False, "detail": str(no)}
    except OSError as no:
        return {"got": False, "detail": errno.errorcode.get(no.errno or 0, type(no).__name__)}
    except Exception as bug:
        return {"got": True, "detail": f"{UNTRIED}: {type(bug).__name__}"}


def open_descriptors() -> list[int]:
    """Return the descriptors that are open beyond the three."""
    descriptors = []
    for descriptor in range(3, 256):
        with suppress(OSError):
            os.fstat(descriptor)
            descriptors.append(descriptor)
    return descriptors


def attempt_all() -> None:
    """Read targets, print outcomes, stay to be killed, or until nobody is left to do it."""
    signal.alarm(LIFE_S)
    inherited = open_descriptors()
    targets: Targets = json.loads(sys.stdin.readline())
    targets["inherited"] = inherited
    outcomes = {
        name: outcome(attempt, targets)
        for attempts in GROUPS.values()
        for name, attempt in attempts.items()
    }
    print(json.dumps(outcomes), flush=True)
    # Nothing is written to it before it is killed.
    os.read(0, 1)


if __name__ == "__main__":
    attempt_all()
