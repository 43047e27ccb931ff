"""Guarantees of locked bots in sentences; knows no process."""

from msgspec import Struct


class Guarantee(Struct, frozen=True):
    """A promise that people may rely on while every attempt at it is refused."""

    name: str
    kept: str
    """A sentence for people, if all attempts were refused."""
    missing: str
    """A sentence for people, if one got through."""
    remedy: str


GUARANTEES = (
    Guarantee(
        name="files",
        kept="Bots cannot read or change the event, its logs, other bots or your files.",
        missing="A bot can read or change the event's secret, the logs or other bots.",
        remedy="Install bubblewrap.",
    ),
    Guarantee(
        name="processes",
        kept="Bots cannot see or touch the referee or each other.",
        missing="A bot can see or disturb the referee and other bots, and read their memory.",
        remedy="Install bubblewrap.",
    ),
    Guarantee(
        name="inherited",
        kept="Bots get nothing from the referee but their three pipes.",
        missing="A bot inherits the referee's environment, open files or your terminal.",
        remedy="Report it: locked bots should get nothing.",
    ),
    Guarantee(
        name="network",
        kept="Bots have no network.",
        missing="A bot can use the network, to other bots, this machine or the world.",
        remedy="Install bubblewrap.",
    ),
    Guarantee(
        name="shared",
        kept="Bots share no folder to write to, no memory, no key and no lock.",
        missing="Two bots can pass each other notes by folders, memory, keys or locks.",
        remedy="Install bubblewrap on a kernel with seccomp.",
    ),
    Guarantee(
        name="kernel",
        kept="The rarer doors of the kernel are shut.",
        missing="A bot can call rarely used parts of the kernel, where most escapes begin.",
        remedy="Use a kernel with seccomp.",
    ),
    Guarantee(
        name="counters",
        kept="Bots cannot watch the machine's counters.",
        missing="A bot can watch the machine's load, and so guess how busy others are.",
        remedy="Run one game at a time if it matters.",
    ),
    Guarantee(
        name="traces",
        kept="Bots leave each other no traces in the kernel.",
        missing=(
            "Bots that agreed on it can pass each other bits: by which pages of a library are in "
            "use, by threads that end, by the numbers of pipes and eventfds. And a bot can leave "
            "notes for its later processes by asking for names that no file has, which the "
            "kernel remembers: in a trial, who played a board from the other seat knew 489 of 493 "
            "hands of the opponent."
        ),
        remedy=(
            "Only sealed bots (WebAssembly) cannot read these, and processes in a virtual machine "
            "each."
        ),
    ),
    Guarantee(
        name="limits",
        kept="Memory, processes and files of a bot have limits that hold.",
        missing="A bot can take more memory, processes or disk than its limits say.",
        remedy="Give the user a writable control group.",
    ),
    Guarantee(
        name="outlive",
        kept="Nothing that a bot starts outlives it.",
        missing="A bot can leave a process behind that still runs in the next game.",
        remedy="Install bubblewrap.",
    ),
)
