"""Targets of the probes: the referee sets them up before a run, and removes them again."""

import contextlib
import ctypes
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from arena.files import temporary_folder
from arena.sandbox.select import (
    MAX_WAIT_S,
    TRIAL_LIMITS,
    CannotProbeError,
    Popen,
    ask_process,
    close_pipes,
)
from protocol.codec import encode_json
from tests.attacks.probes import OUTLIVE, Targets, network_cookie

Start = Callable[[tuple[str, ...], tuple[str, ...]], Popen]
"""A function that starts a command with three pipes, as a bot is at the level that is tried. The
first argument is the command, the second the files and folders that it must be able to read. It is
called twice: for another bot first, then for the bot that probes, each in a process of its own."""
End = Callable[[Popen], None]
"""A function that kills and reaps a process, as a bot at that level is."""
FOLDER = Path(__file__).parent
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock")
VARIABLE = "BONEYARD_PROBE"
IPC_RMID = 0
REFEREE_PARTS = ("memory", "secret_file", "tcp", "udp", "abstract", "unix")
BOT_PARTS = (
    *("memory", "memfd", "tcp", "abstract", "notes", "locks", "hint", "waiter", "pipe", "eventfd"),
    *("segment", "semaphore", "messages", "queue", "keys"),
)
TRIED = replace(TRIAL_LIMITS, memory_mib=2 * TRIAL_LIMITS.memory_mib)
"""The limits that the probes try to exceed by a little; levels set the same."""
NOTHING = dict.fromkeys(("address", "tcp", "udp", "pipe", "eventfd"), 0) | {"descriptor": -1}
"""The report of a stand-in on the parts that its level forbids."""
Aim = dict[str, Any]
"""A stand-in as probes are told of it: its pid and command line, and what it has set up."""


class ProbeScene(Struct, frozen=True):
    """The targets, both stand-ins, and the bot that makes the probes, until the context ends."""

    targets: Targets
    referee: Popen
    other: Popen
    probing: Popen


class _Places(Struct, frozen=True):
    """The folders of one scene: the event's where events are, the programs' where all can read."""

    event: Path
    programs: Path

    @property
    def shared(self) -> Path:
        return self.programs / "shared" / "library.txt"

    def reads(self, bot: str) -> tuple[str, ...]:
        return (sys.base_prefix, str(self.programs / bot), str(self.shared.parent))

    def command(self, bot: str, script: str, *words: str) -> tuple[str, ...]:
        python = os.path.realpath(sys.executable)
        return (python, "-I", "-S", str(self.programs / bot / script), *words)


@contextlib.contextmanager
def scene(
    start: Start, end: End, folder: Path, names: tuple[str, ...] = ()
) -> Iterator[ProbeScene]:
    """Set up everything that the probes try to reach, around the folder of events.

    On leaving, also by an exception, nothing of it is left. Raises CannotProbeError, OSError.
    """
    token = f"boneyard-probe-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        places = _Places(_folder(stack, folder), _folder(stack, Path(tempfile.gettempdir())))
        _fill(places, token)
        _open_to_children(stack, places.event / "secret.key", token)
        common = _common(places, token, names)
        # All three start at once: each needs longer to start than for all that it then does.
        referee = _start_referee(stack, places, token)
        other = _start_other(stack, places, common, start, end)
        probing = start(places.command("probing", "probes.py"), places.reads("probing"))
        stack.callback(close_pipes, probing)
        stack.callback(end, probing)
        aims = {
            "other": _other_aim(other, common),
            "referee": _ready(referee, REFEREE_PARTS, f"{token}-referee", common),
        }
        yield ProbeScene(targets={**common, **aims}, referee=referee, other=other, probing=probing)


def _folder(stack: contextlib.ExitStack, parent: Path) -> Path:
    return stack.enter_context(temporary_folder("probe", parent, shared=True))


def _fill(places: _Places, token: str) -> None:
    """Write the files with the rights of careless users: the sandbox must not depend on rights."""
    texts = {
        places.event / "event.toml": token,
        places.event / "logs" / "game.jsonl": token + "\n",
        places.programs / "other" / "standin.py": (FOLDER / "decoy.py").read_text(),
        places.programs / "other" / "weights.txt": token,
        places.programs / "probing" / "probes.py": (FOLDER / "probes.py").read_text(),
        places.shared: "read by all",
    }
    for path, text in texts.items():
        path.parent.mkdir(mode=0o755, exist_ok=True)
        path.parent.chmod(0o755)
        path.write_text(text)
        path.chmod(0o644)
    (places.event / "secret.key").write_text(token)
    (places.event / "secret.key").chmod(0o600)


def _open_to_children(stack: contextlib.ExitStack, path: Path, token: str) -> None:
    """Set a variable and open a descriptor as a careless start would hand them down."""
    before = os.environ.get(VARIABLE)
    stack.callback(_set_variable, before)
    _set_variable(token)
    descriptor = os.open(path, os.O_RDONLY)
    stack.callback(os.close, descriptor)
    os.set_inheritable(descriptor, True)


def _set_variable(value: str | None) -> None:
    os.environ.pop(VARIABLE, None)
    if value is not None:
        os.environ[VARIABLE] = value


def _common(places: _Places, token: str, names: tuple[str, ...]) -> Targets:
    read_at = int(time.time()) - 1000
    os.utime(places.shared, (read_at, read_at))
    sign = secrets.token_hex(5)
    home = os.path.expanduser("~")  # noqa: PTH111 (Path.home() raises for a user without a home)
    return {
        # The secret: a probe that finds it has read its holder.
        "token": token,
        # The environment variable that holds it too.
        "variable": VARIABLE,
        # For the referee's user only, unlike the next three, whose rights are open to all.
        "secret_key": str(places.event / "secret.key"),
        "event_file": str(places.event / "event.toml"),
        "logs": str(places.event / "logs"),
        "game_log": str(places.event / "logs" / "game.jsonl"),
        "other_program": str(places.programs / "other" / "weights.txt"),
        "other_folder": str(places.programs / "other"),
        "home": home,
        "home_identity": _identity(home),
        "unix": str(places.event / "referee.sock"),
        # A file that both bots read, and the time when it was last read and written, in s since
        # 1970, unless somebody did since.
        "shared": str(places.shared),
        "shared_read_at": read_at,
        # What the other bot leaves: the name of its notes, queues and keys, the key of its System V
        # objects, the value of its semaphore, and its hint on the use of the shared file.
        "note": f"boneyard-note-{secrets.token_hex(6)}",
        "key": secrets.randbelow(2**30) + 2**20,
        "semaphore": secrets.randbelow(30_000) + 1,
        "hint": secrets.randbelow(4) + 2,
        # The referee's namespaces and its network, as the kernel names and numbers them.
        "pid_namespace": str(Path("/proc/self/ns/pid").readlink()),
        "uts_namespace": str(Path("/proc/self/ns/uts").readlink()),
        "network": network_cookie(),
        "machine_name": os.uname().nodename,
        # The names of the processes that try to outlive the bot, by probe.
        "outlive": {name: f"{sign}-{index}" for index, name in enumerate(OUTLIVE)},
        "limits": TRIED,
        # The only probes to make; all if empty.
        "names": names,
        # The script stays a while afterwards, to be killed.
        "linger": True,
    }


def _identity(home: str) -> tuple[int, int]:
    """Return the device and number of a home; zeros without a home, which no home has."""
    try:
        status = Path(home).stat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _start_referee(stack: contextlib.ExitStack, places: _Places, token: str) -> Popen:
    process = subprocess.Popen(
        [*places.command("other", "standin.py"), f"{token}-referee"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=places.event,
        env={**os.environ, VARIABLE: token},
        start_new_session=True,
    )
    stack.callback(kill_group, process)
    stack.callback(dismiss, process)
    return process


def _start_other(
    stack: contextlib.ExitStack, places: _Places, common: Mapping[str, Any], start: Start, end: End
) -> Popen:
    stack.callback(_sweep, common["note"], common["key"])
    command = places.command("other", "standin.py", f"{common['token']}-other")
    process = start(command, places.reads("other"))
    stack.callback(close_pipes, process)
    stack.callback(end, process)
    stack.callback(dismiss, process)
    return process


def _other_aim(process: Popen, common: Mapping[str, Any]) -> Aim:
    aim = _ready(process, BOT_PARTS, f"{common['token']}-other", common)
    return {**aim, "pid": _pid_outside(process.pid, aim)}


def _ready(process: Popen, parts: tuple[str, ...], argument: str, common: Mapping[str, Any]) -> Aim:
    abstract = f"boneyard-{secrets.token_hex(8)}"
    order = {**common, "parts": parts, "places": PLACES, "abstract": abstract}
    if "locks" not in parts:
        del order["shared"]
    ready = ask_process(process, encode_json(order))
    return {**NOTHING, "argument": argument, "abstract": abstract, **ready}


def _pid_outside(started_pid: int, aim: Aim) -> int:
    """Return the process id of the bot itself, inside its wrappers, as we see it."""
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            if aim["argument"].encode() not in (status.parent / "cmdline").read_bytes():
                continue
            numbers = status.read_text().partition("NSpid:")[2].partition("\n")[0].split()
            if numbers[-1:] == [str(aim["pid"])]:
                return int(numbers[0])
    return started_pid


def _sweep(note: str, key: int) -> None:
    """Remove the leftovers of a stand-in that was killed before it could."""
    for place in PLACES:
        with contextlib.suppress(OSError):
            Path(place, note).unlink()
    libc = ctypes.CDLL(None)
    for get, control, words in (
        (libc.shmget, libc.shmctl, (IPC_RMID, None)),
        (libc.semget, libc.semctl, (0, IPC_RMID, 0)),
    ):
        if (number := get(key, 0, 0)) >= 0:
            control(number, *words)
    if (number := libc.msgget(key, 0)) >= 0:
        libc.msgctl(number, IPC_RMID, None)
    libc.mq_unlink(f"/{note}".encode())
    libc.mq_unlink(f"/{note}-own".encode())


def dismiss(process: Popen) -> None:
    """Let a stand-in remove what it made, if it still can."""
    with contextlib.suppress(CannotProbeError, OSError, ValueError):
        ask_process(process, b"end")


def kill_group(process: Popen) -> None:
    """Kill the process group of what `started` started, reap it, close its pipes."""
    if process.returncode is None:  # Else its number may be another's.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(MAX_WAIT_S)
    close_pipes(process)
