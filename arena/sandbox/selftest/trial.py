"""Trial of the sandbox: the canary as a bot, beside a control that nothing locks in."""

import os
import secrets
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.sandbox.limits import Confinement, Limits
from arena.sandbox.process import SandboxedProcess
from arena.sandbox.selftest.canary import GROUPS, UNTRIED, Targets
from arena.sandbox.selftest.processes import (
    PATIENCE_S,
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
"""The limits of a trial: an attempt that exceeds them does no harm."""
COUNTED = "escape-cgroup"
"""The attempt that the referee judges alone: its cgroup does not count what the bot uses."""
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


def try_sandbox(confinement: Confinement, folder: Path) -> dict[str, ProbeResult]:
    """Return the outcome of each attempt; `folder` is that of events. Leaves nothing.

    Raises CannotProbeError if a process does not start or answer, and OSError.
    """
    with ExitStack() as stack:
        event, programs = _folders(stack, folder)
        targets = _targets(stack, event, programs)
        control = stack.enter_context(_control(programs, targets["token"]))
        targets["pid"] = control.pid
        starter = Starter(confinement, SMALL)
        bot = starter.start(_command(programs), (sys.base_prefix, str(programs / "canary")))
        stack.callback(close_pipes, bot)
        stack.callback(starter.end, bot)
        expected = _outcomes(control, {**targets, "who": "control"})
        outcomes = _outcomes(bot, {**targets, "who": "bot"})
        slot = starter.slot(bot)
        if confinement.is_bounded:
            outcomes[COUNTED] = _count(slot)
        starter.end(bot)
        control.kill()
        control.wait()
        observed = {
            "leave-child": _answers(bot),
            "write-event": _has_written(slot.user, targets, "logs"),
            "write-tmp": _has_written(slot.user, targets, "notes"),
        }
        if not _answers(control):
            expected["leave-child"] = ProbeResult(False, "not seen")
    return {name: _judge(name, outcome, expected, observed) for name, outcome in outcomes.items()}


def _count(slot: SandboxedProcess) -> ProbeResult:
    """Return whether the bot escapes its cgroup's count; on a busy machine that may take a while.

    The kernel adds up what its processors counted only now and then.
    """
    end = time.monotonic() + (PATIENCE_S if slot.is_counted else 0)
    while not (used := slot.usage()).cpu_ms or not used.memory:
        if time.monotonic() >= end:
            return ProbeResult(True, "not counted")
        time.sleep(0.01)
    return ProbeResult(False, "counted") if slot.is_counted else ProbeResult(True, "outside")


def _has_written(user: int, targets: Targets, folder: str) -> bool:
    """Tell whether the bot made its file in an open folder.

    Anybody on the machine may try to make it in the bot's name: only the bot has its user and was
    told the mark.
    """
    path = Path(targets[folder], "bot")
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            is_the_bots = stat.S_ISREG(status.st_mode) and status.st_uid == user
            return is_the_bots and os.read(descriptor, 4096) == targets["mark"].encode()
        finally:
            os.close(descriptor)
    return False


def _judge(
    name: str,
    report: ProbeResult,
    expected: Mapping[str, ProbeResult],
    observed: Mapping[str, bool],
) -> ProbeResult:
    """Return an outcome in which observation outranks the report, and control a refusal."""
    if name not in UNSURE and not expected[name].got:
        return ProbeResult(True, f"{UNTRIED}: the control was refused ({expected[name].detail})")
    if report.detail.startswith(UNTRIED):
        return report
    is_through = observed.get(name, report.got)
    if is_through == report.got:
        return report
    return ProbeResult(is_through, "seen" if is_through else "without effect")


def _folders(stack: ExitStack, folder: Path) -> tuple[Path, Path]:
    """Make the event's folder where events are, and the program's where temporary files are.

    Their rights are those of careless users: the sandbox must not depend on rights.
    """
    event = stack.enter_context(temporary_folder("probe", folder, shared=True))
    programs = stack.enter_context(
        temporary_folder("probe", Path(tempfile.gettempdir()), shared=True)
    )
    (programs / "canary").mkdir()
    (programs / "canary").chmod(0o755)
    (programs / "canary" / "canary.py").write_bytes(SCRIPT.read_bytes())
    (programs / "canary" / "canary.py").chmod(0o644)
    return event, programs


def _open_folder(parent: Path) -> str:
    """Make a folder that everybody may write to, and that only the bot can find.

    Its name is a secret which no command line shows, in a folder that only its owner can list:
    other users of the machine could leave something in it.
    """
    folder = parent / secrets.token_hex(16)
    folder.mkdir()
    folder.chmod(0o777)
    return str(folder)


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
        "logs": _open_folder(event),
        "notes": _open_folder(programs),
        # What only the bot is told, and the control: unlike the token it is in no command line.
        "mark": secrets.token_hex(16),
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
    answer: dict[str, Any] = ask_process(process, encode_json(targets))
    try:
        outcomes = msgspec.convert(answer, dict[str, ProbeResult])
    except msgspec.ValidationError as no:
        raise CannotProbeError(f"The canary answered in no way known: {no}.") from None
    if outcomes.keys() != CANARIES.keys() - {COUNTED}:
        raise CannotProbeError("The canary did not make every attempt.")
    return outcomes


def _answers(process: Popen) -> bool:
    """Tell whether something that a killed process started is still there, and answers."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write(b"\n")
        process.stdin.flush()
    return bool(read_line(process))
