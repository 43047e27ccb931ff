"""Fingerprint of all that decides how the self-test ends on this machine: no test is made here."""

import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from msgspec.structs import astuple

from arena.sandbox.command import find_tools
from arena.sandbox.limits import Level
from protocol.codec import encode_json

OURS = Path(__file__).parents[1]
"""Our sandbox, with the probes."""
SETTINGS = (
    "/proc/cmdline",
    "/proc/sys/kernel/random/boot_id",
    "/sys/kernel/security/lsm",
    "/proc/self/attr/current",
    "/sys/fs/selinux/enforce",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/user/max_pid_namespaces",
    "/proc/sys/user/max_net_namespaces",
    "/proc/sys/kernel/yama/ptrace_scope",
    "/proc/sys/kernel/seccomp/actions_avail",
    "/proc/sys/kernel/unprivileged_bpf_disabled",
    "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/kernel/io_uring_disabled",
    "/proc/sys/kernel/kptr_restrict",
    "/proc/sys/kernel/dmesg_restrict",
    "/proc/sys/vm/unprivileged_userfaultfd",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/dev/tty/legacy_tiocsti",
    "/proc/sys/fs/mqueue/msg_max",
    "/proc/self/uid_map",
    "/proc/self/limits",
)
"""Files in which the kernel says how it was started and set, and what it grants us."""
STATUS = ("Uid", "Gid", "Groups", "Cap", "NoNewPrivs", "Seccomp", "Cpus_allowed_list")
"""The beginnings of the lines of /proc/self/status that say what we may do."""
OTHER_TOOLS = ("sh", "python3")
"""The programs on the PATH that a level may use besides the sandbox's own."""
NAMESPACES = Path("/proc/self/ns")


def machine_fingerprint(level: Level) -> str:
    """Return a hash that changes with the machine, its kernel and settings, our rights and code.

    The folder of the event is not part of it, nor are writable cgroups: each check tries those.
    """
    facts = {
        "level": level,
        "code": _code(),
        "kernel": tuple(os.uname()),
        "settings": [_text(Path(name)) for name in SETTINGS],
        "status": [one for one in _lines("/proc/self/status") if one.startswith(STATUS)],
        "namespaces": [str(one.readlink()) for one in sorted(NAMESPACES.iterdir())],
        "cgroups": [one for one in _lines("/proc/self/mountinfo") if " - cgroup" in one],
        "controllers": [one.split(":")[1] for one in _lines("/proc/self/cgroup")],
        "tools": [*map(_file, (*astuple(find_tools()), *map(shutil.which, OTHER_TOOLS)))],
        "python": (_file(sys.executable), sys.version, sys.base_prefix),
        "folders": [_file(os.path.expanduser("~")), _file(tempfile.gettempdir())],  # noqa: PTH111
        "path": os.environ.get("PATH"),
    }
    return hashlib.sha256(encode_json(facts)).hexdigest()


@cache
def _code() -> str:
    """Return a hash of our sandbox: a version's number says too little while it is worked on."""
    code = hashlib.sha256()
    for path in sorted(OURS.rglob("*.py")):
        code.update(path.read_bytes())
    return code.hexdigest()


def _file(name: str | None) -> tuple[object, ...]:
    """Return the facts that distinguish a program or folder from another in its place."""
    with suppress(OSError):
        real = os.path.realpath(name or "")
        found = os.stat(real)  # noqa: PTH116
        changed = found.st_mtime_ns, found.st_size
        is_file = not Path(real).is_dir()
        return name, real, found.st_dev, found.st_ino, found.st_mode, is_file and changed
    return (name,)


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(errors="replace")
    return ""


def _lines(name: str) -> list[str]:
    return _text(Path(name)).splitlines()
