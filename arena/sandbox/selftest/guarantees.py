"""Guarantees of the levels, and the probes that test each; knows no process."""

from collections.abc import Iterable

from msgspec import Struct


class Guarantee(Struct, frozen=True):
    """A promise that people may rely on while every probe of it is refused."""

    name: str
    """One word."""
    kept: str
    """A sentence for people, if all probes were refused."""
    missing: str
    """A sentence for people, if one got through."""
    remedy: str
    """The remedy, a sentence."""
    probes: tuple[str, ...]
    """The attempts that must be refused, in the order of probes.py."""


GUARANTEES = (
    Guarantee(
        name="files",
        kept="Bots cannot read or change the event, its logs, other bots or your files.",
        missing="A bot can read or change the event's secret, the logs or other bots.",
        remedy="Install bubblewrap.",
        probes=(
            "read-secret-key",
            "read-event-file",
            "list-game-logs",
            "read-game-log",
            "write-game-log",
            "read-other-bots-program",
            "write-other-bots-program",
            "write-other-bots-folder",
            "write-own-program",
            "write-own-folder",
            "write-interpreter-folder",
            "list-home",
            "write-home",
            "read-through-referee-root",
            "read-through-referee-folder",
            "read-through-launcher-root",
            "read-through-other-bots-root",
        ),
    ),
    Guarantee(
        name="processes",
        kept="Bots cannot see or touch the referee or each other.",
        missing="A bot can see or disturb the referee and other bots, and read their memory.",
        remedy="Install bubblewrap.",
        probes=(
            "see-referee",
            "see-other-bot",
            "list-sockets",
            "referee-command-line",
            "referee-environment",
            "referee-memory-file",
            "referee-memory-call",
            "referee-memory-map",
            "referee-descriptor-list",
            "referee-descriptor-open",
            "referee-descriptor-take",
            "referee-hold",
            "referee-signal",
            "referee-compare",
            "referee-renice",
            "referee-pin",
            "referee-limit",
            "referee-oom-score",
            "referee-trace",
            "other-bot-command-line",
            "other-bot-memory-file",
            "other-bot-memory-call",
            "other-bot-environment",
            "other-bot-descriptor-open",
            "other-bot-descriptor-take",
            "other-bot-signal",
            "other-bot-renice",
            "other-bot-pin",
            "other-bot-limit",
            "other-bot-oom-score",
            "other-bot-processor-time",
            "other-bot-processor-clock",
            "other-bot-reads-and-writes",
            "other-bot-system-call",
            "other-bot-session",
            "other-bot-trace",
        ),
    ),
    Guarantee(
        name="inherited",
        kept="Bots get nothing from the referee but their three pipes.",
        missing="A bot inherits the referee's environment, open files or your terminal.",
        remedy="Report it: no level should let it.",
        probes=(
            "environment",
            "descriptors",
            "terminal-open",
            "terminal-push",
        ),
    ),
    Guarantee(
        name="network",
        kept="Bots have no network.",
        missing="A bot can use the network, to other bots, this machine or the world.",
        remedy="Install bubblewrap.",
        probes=(
            "same-network",
            "tcp-referee",
            "udp-referee",
            "unix-referee",
            "abstract-unix-referee",
            "tcp-other-bot",
            "abstract-unix-other-bot",
            "tcp-listen",
            "route-outside",
            "raw-socket",
            "packet-socket",
            "virtual-machine-socket",
        ),
    ),
    Guarantee(
        name="shared",
        kept="Bots cannot leave each other notes by folders, memory, keys or locks.",
        missing="Two bots can pass each other notes by folders, memory, keys or locks.",
        remedy="Install bubblewrap on a kernel with seccomp.",
        probes=(
            "note-in-tmp",
            "note-in-own-tmp",
            "note-in-var-tmp",
            "note-in-shared-memory",
            "note-in-run",
            "note-in-run-lock",
            "system-v-memory",
            "system-v-semaphore",
            "system-v-message",
            "system-v-list",
            "posix-message",
            "session-keyring",
            "user-keyring",
            "key-list",
            "file-lock",
            "record-lock",
            "open-file-lock",
            "lease",
            "folder-notice",
            "file-watch",
            "read-time",
            "write-times",
            "write-attribute",
            "write-device-times",
            "write-hint",
            "drop-pages",
            "read-ahead",
            "read-if-in-memory",
            "list-pages-in-memory",
            "count-pages-in-memory",
            "place-of-a-page",
            "advise-cold",
            "advise-page-out",
            "advise-read-ahead",
            "advise-populate",
            "advise-merge",
            "futex-wake",
            "futex-requeue",
            "futex-wake-by-new-call",
            "futex-wait-by-new-call",
            "path-in-memory",
            "flush-disk",
            "asynchronous-reads",
            "huge-page",
            "terminal",
            "descriptor-on-its-way",
            "choose-core",
            "interrupt-cores",
        ),
    ),
    Guarantee(
        name="kernel",
        kept="The rarer doors of the kernel are shut.",
        missing="A bot can call rarely used parts of the kernel, where most escapes begin.",
        remedy="Use a kernel with seccomp.",
        probes=(
            "user-namespace-by-clone",
            "mount",
            "change-root",
            "enter-namespace",
            "bpf",
            "perf-events",
            "page-faults",
            "io-uring",
            "own-key",
            "open-by-handle",
            "watch-file-system",
            "netlink-socket",
            "kernel-log",
            "kernel-log-device",
            "kernel-addresses",
            "kernel-settings",
            "capabilities",
            "set-user-id",
            "old-system-calls",
            "rename-machine",
            "make-device",
            "own-control-group",
            "user-namespace",
        ),
    ),
    Guarantee(
        name="counters",
        kept="Bots cannot watch the machine's counters.",
        missing="A bot can watch the machine's load, and so guess how busy others are.",
        remedy="No level hides these; run one game at a time if it matters.",
        probes=(
            "load",
            "load-by-call",
            "processor-counters",
            "memory-counters",
            "page-counters",
            "disk-counters",
            "interrupt-counters",
            "pressure",
            "lock-list",
            "terminal-counter",
            "open-file-counter",
            "key-counter",
            "disk-space",
            "machine-name",
        ),
    ),
    Guarantee(
        name="traces",
        kept="Bots leave each other no traces in the kernel.",
        missing=(
            "Two bots that run at once and agreed on it can pass each other bits: by which pages "
            "of a library are in use, by threads that end, by the numbers of pipes and eventfds."
        ),
        remedy="No level hides these; a virtual machine for each bot does.",
        probes=(
            "page-sharing",
            "end-of-a-thread",
            "numbers-of-pipes",
            "numbers-of-eventfds",
        ),
    ),
    Guarantee(
        name="limits",
        kept="Memory, processes and files of a bot have limits that hold.",
        missing="A bot can take more memory, processes or disk than its limits say.",
        remedy="Give the user a writable control group.",
        probes=(
            "processes-limit",
            "open-files-limit",
            "file-size-limit",
            "memory-limit",
            "shared-memory-limit",
            "memory-file-limit",
            "tmp-limit",
            "shared-folder-limit",
            "core-dump",
            "message-queue-limit",
            "raise-limit",
            "real-time",
            "raise-priority",
        ),
    ),
    Guarantee(
        name="outlive",
        kept="Nothing that a bot starts outlives it.",
        missing="A bot can leave a process behind that still runs in the next game.",
        remedy="Install bubblewrap.",
        probes=(
            "outlive-child",
            "outlive-group",
            "outlive-stubborn",
            "outlive-daemon",
        ),
    ),
)
"""Every promise, the most important first."""

PROBES = {probe: promise for promise in GUARANTEES for probe in promise.probes}
"""The promise that each probe belongs to."""

COSTLY = frozenset(
    {
        "processes-limit",
        "memory-limit",
        "shared-memory-limit",
        "memory-file-limit",
        "tmp-limit",
        "shared-folder-limit",
        "end-of-a-thread",
    }
)
"""Probes that fill memory, folders or the table of processes, or wait."""
CHEAP = tuple(probe for probe in PROBES if probe not in COSTLY)
"""All others: together they take less than the start of the processes that make them."""


def missing_guarantees(got: Iterable[str]) -> tuple[Guarantee, ...]:
    """Return the promises that are broken if these probes got through, each once.

    Raises KeyError for a name that is not a probe's.
    """
    broken = {PROBES[probe].name for probe in got}
    return tuple(promise for promise in GUARANTEES if promise.name in broken)
