"""The probes that this machine can try, and those that a sandbox must stop."""

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.attacks.probes import PROBES

ROOT = os.geteuid() == 0


def setting(name: str) -> int:
    try:
        return int(Path("/proc/sys", name).read_text())
    except (OSError, ValueError):
        return 0


def status(field: str) -> str:
    text = Path("/proc/self/status").read_text()
    return text.partition(f"{field}:")[2].partition("\n")[0].strip()


def may(capability: int) -> bool:
    return bool(int(status("CapEff"), 16) >> capability & 1)


def mounted_with(flag: int) -> bool:
    return bool(os.statvfs(tempfile.gettempdir()).f_flag & flag)


def without_user_namespaces() -> bool:
    try:
        namespaces = int(Path("/proc/sys/user/max_user_namespaces").read_text())
        allowed = Path("/proc/sys/kernel/unprivileged_userns_clone")
        return not namespaces or (allowed.exists() and not int(allowed.read_text()))
    except OSError:
        return True


def release() -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


def without_files(*paths: str) -> bool:
    return not all(Path(path).exists() for path in paths)


NEEDS_ROOT = (
    "bpf change-root enter-namespace capabilities kernel-addresses kernel-log-device "
    "kernel-settings make-device mount note-in-run open-by-handle packet-socket raise-priority "
    "raw-socket real-time rename-machine write-interpreter-folder"
)
TRACING = (
    "referee-trace other-bot-trace referee-memory-call referee-memory-file other-bot-memory-call "
    "other-bot-memory-file referee-descriptor-take other-bot-descriptor-take"
)
LACKING: dict[str, tuple[Callable[[], bool], str]] = {
    **dict.fromkeys(NEEDS_ROOT.split(), (lambda: not ROOT, "needs root, or may")),
    **dict.fromkeys(
        TRACING.split(),
        (lambda: not may(19) and setting("kernel/yama/ptrace_scope") > 0, "only children here"),
    ),
    "set-user-id": (lambda: status("NoNewPrivs") == "1", "given up already"),
    "raise-limit": (lambda: not may(24), "no capability over limits"),
    "own-control-group": (
        lambda: without_files("/sys/fs/cgroup/cgroup.procs") or not ROOT,
        "no control groups of the second version, or not ours",
    ),
    "read-time": (lambda: mounted_with(os.ST_NOATIME), "the file system keeps no read times"),
    "io-uring": (lambda: setting("kernel/io_uring_disabled") > 0, "switched off"),
    "perf-events": (lambda: not ROOT and setting("kernel/perf_event_paranoid") > 2, "switched off"),
    "kernel-log": (lambda: not ROOT and setting("kernel/dmesg_restrict") > 0, "switched off"),
    "terminal-push": (
        lambda: not may(21) and not setting("dev/tty/legacy_tiocsti"),
        "switched off in this kernel",
    ),
    "user-namespace": (without_user_namespaces, "switched off"),
    "user-namespace-by-clone": (without_user_namespaces, "switched off"),
    "old-system-calls": (lambda: os.uname().machine != "x86_64", "only x86-64 has them"),
    "virtual-machine-socket": (lambda: without_files("/dev/vsock"), "no such sockets"),
    "count-pages-in-memory": (lambda: release() < (6, 5), "not in this kernel"),
    "futex-wake-by-new-call": (lambda: release() < (6, 7), "not in this kernel"),
    "futex-wait-by-new-call": (lambda: release() < (5, 16), "not in this kernel"),
    "path-in-memory": (lambda: release() < (5, 12), "not in this kernel"),
    "advise-populate": (lambda: release() < (5, 14), "not in this kernel"),
    "advise-merge": (lambda: without_files("/sys/kernel/mm/ksm"), "not in this kernel"),
    "huge-page": (lambda: without_files("/proc/sys/vm/nr_hugepages"), "not in this kernel"),
    "place-of-a-page": (lambda: without_files("/proc/self/numa_maps"), "not in this kernel"),
    "page-sharing": (lambda: without_files("/proc/self/smaps"), "not in this kernel"),
    "pressure": (lambda: without_files("/proc/pressure/cpu"), "not in this kernel"),
    "note-in-run-lock": (lambda: not os.access("/run/lock", os.W_OK), "no such folder"),
    "route-outside": (lambda: len(Path("/proc/net/route").read_text().splitlines()) < 2, "no net"),
}


def lacks(name: str) -> str | None:
    test, reason = LACKING.get(name, (lambda: False, ""))
    return reason if test() else None


TRACES = frozenset({"page-sharing", "end-of-a-thread", "numbers-of-pipes", "numbers-of-eventfds"})
"""Facts that the kernel shows to everybody: only a virtual machine for each bot would hide them."""
BLOCKED = sorted(PROBES.keys() - TRACES)
"""The probes that are refused to locked bots."""
