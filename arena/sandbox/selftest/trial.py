"""Trial of a level: the canary as a bot at that level, beside a control that nothing locks in."""

import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.sandbox.limits import LEVELS, Level, Limits
from arena.sandbox.selftest.canary import GROUPS, UNTRIED, Targets
from arena.sandbox.selftest.processes import (
    CannotProbeError,
    Popen,
    Starter,
    ask_process,
    close_pipes,
    read_line,
)
from arena.sandbox.temporary import temporary_folder
from protocol.codec import encode_json

SCRIPT = Path(__file__).with_name("canary.py")
VARIABLE = "BONEYARD_CANARY"
"""The referee's environment variable that no bot should see."""
SMALL = Limits(memory_mib=48, processes=16)
"""The limits under which the levels are tried: an attempt that exceeds them does no harm."""
COUNTED = "escape-cgroup"
"""The attempt that the referee judges alone: its cgroup does not count what the bot uses."""
ONLY: dict[str, tuple[Level, ...]] = {COUNTED: ("A",), "same-network": ("A", "B")}
"""The attempts at a part that other levels replace by another: level C refuses all sockets."""
CANARIES = {
    **{name: guarantee for guarantee, attempts in GROUPS.items() for name in attempts},
    COUNTED: "limits",
}
"""The guarantee that each attempt is made at."""
UNSURE = frozenset(
    {"connect", "lock-file", "gain-rights", "read-load", "number-pipe"}
    | {"exceed-limits", "share-memory", COUNTED}
)
"""The attempts that a machine may refuse every process, such as a container: bots are refused too.
Of all others the control shows that they can succeed, else nothing is known."""


class ProbeResult(Struct, frozen=True):
    """The result of one attempt."""

    got: bool
    """True if it got through, or may have: only a refusal that was seen is one."""
    detail: str
    """The way in a few words; never a path or a secret."""


def try_level(level: Level, folder: Path) -> dict[str, ProbeResult]:
    """Return the outcome of each attempt at a level; `folder` is that of events. Leaves nothing.

    Raises CannotProbeError if a process does not start or answer at this level, and OSError.
    """
    with ExitStack() as stack:
        event, programs = _folders(stack, folder)
        targets = _targets(stack, event, programs)
        control = stack.enter_context(_control(programs, targets["token"]))
        targets["pid"] = control.pid
        starter = Starter(level, SMALL)
        bot = starter.start(_command(programs), (sys.base_prefix, str(programs / "canary")))
        stack.callback(close_pipes, bot)
        stack.callback(starter.end, bot)
        expected = _outcomes(control, {**targets, "who": "control"})
        found = _outcomes(bot, {**targets, "who": "bot"})
        if level == "A":
            used = starter.usage(bot)
            counted = used.cpu_ms > 0 and used.memory > 0
            found[COUNTED] = ProbeResult(not counted, "counted" if counted else "not counted")
        starter.end(bot)
        control.kill()
        control.wait()
        seen = {
            "leave-child": _answers(bot),
            "write-event": Path(targets["logs"], "bot").exists(),
            "write-tmp": Path(targets["notes"], "bot").exists(),
        }
        if not _answers(control):
            expected["leave-child"] = ProbeResult(False, "not seen")
    return {
        name: _judge(name, one, expected, seen)
        for name, one in found.items()
        if level in ONLY.get(name, LEVELS)
    }


def _judge(
    name: str, said: ProbeResult, expected: Mapping[str, ProbeResult], seen: Mapping[str, bool]
) -> ProbeResult:
    """Return an outcome in which observation outranks the report, and control a refusal."""
    if name not in UNSURE and not expected[name].got:
        return ProbeResult(True, f"{UNTRIED}: the control was refused ({expected[name].detail})")
    if said.detail.startswith(UNTRIED):
        return said
    got = seen.get(name, said.got)
    return said if got == said.got else ProbeResult(got, "seen" if got else "without effect")


def _folders(stack: ExitStack, folder: Path) -> tuple[Path, Path]:
    """Make the event's folder where events are, and the program's where temporary files are.

    Their rights are those of careless users: the sandbox must not depend on rights.
    """
    event = stack.enter_context(temporary_folder("probe", folder, shared=True))
    programs = stack.enter_context(
        temporary_folder("probe", Path(tempfile.gettempdir()), shared=True)
    )
    for open_to_all in (event / "logs", programs / "notes"):
        open_to_all.mkdir()
        open_to_all.chmod(0o777)
    (programs / "canary").mkdir()
    (programs / "canary").chmod(0o755)
    (programs / "canary" / "canary.py").write_bytes(SCRIPT.read_bytes())
    (programs / "canary" / "canary.py").chmod(0o644)
    return event, programs


def _targets(stack: ExitStack, event: Path, programs: Path) -> Targets:
    """Set up the targets of the attempts, until the stack closes."""
    token = f"boneyard-canary-{secrets.token_hex(8)}"
    for name, mode in (("event.toml", 0o644), ("secret.key", 0o600)):
        (event / name).write_text(token)
        (event / name).chmod(mode)
    ours, theirs = os.pipe()
    stack.callback(os.close, ours)
    stack.callback(os.close, theirs)
    # As a careless start would hand them down.
    os.set_inheritable(ours, True)
    stack.callback(os.environ.pop, VARIABLE, None)
    os.environ[VARIABLE] = token
    # Connections wait in its queue: nobody accepts them.
    server = socket.create_server(("127.0.0.1", 0))
    stack.callback(server.close)
    return {
        # The secret: who finds it has read its holder.
        "token": token,
        "variable": VARIABLE,
        "event_file": str(event / "event.toml"),
        "secret_key": str(event / "secret.key"),
        "logs": str(event / "logs"),
        "notes": str(programs / "notes"),
        "uid": os.getuid(),
        "namespaces": {
            name: str(Path("/proc/self/ns", name).readlink()) for name in ("user", "ipc", "net")
        },
        "port": server.getsockname()[1],
        "pipe": os.fstat(ours).st_ino,
        # By the names of the kernel.
        "limits": {
            "NOFILE": SMALL.open_files,
            "FSIZE": SMALL.file_bytes,
            "NPROC": SMALL.processes,
            "DATA": SMALL.wall,
            "AS": SMALL.address_space,
            "CORE": 0,
            "MSGQUEUE": 0,
        },
    }


def _command(programs: Path, *words: str) -> tuple[str, ...]:
    python = os.path.realpath(sys.executable)
    return (python, "-I", "-S", str(programs / "canary" / "canary.py"), *words)


@contextmanager
def _control(programs: Path, token: str) -> Iterator[Popen]:
    """Yield a plain process of the referee's user, which inherits all and has the secret's name."""
    process = subprocess.Popen(
        _command(programs, token),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        close_fds=False,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        close_pipes(process)


def _outcomes(process: Popen, targets: Targets) -> dict[str, ProbeResult]:
    said: dict[str, Any] = ask_process(process, encode_json(targets))
    try:
        found = msgspec.convert(said, dict[str, ProbeResult])
    except msgspec.ValidationError as no:
        raise CannotProbeError(f"The canary answered in no way known: {no}.") from None
    if found.keys() != CANARIES.keys() - {COUNTED}:
        raise CannotProbeError("The canary did not make every attempt.")
    return found


def _answers(process: Popen) -> bool:
    """Tell whether something that a killed process started is still there, and answers."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write(b"\n")
        process.stdin.flush()
    return bool(read_line(process))
