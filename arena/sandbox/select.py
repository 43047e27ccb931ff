"""Choice of a run's sandbox: bots are locked in where a trial proves it at the start.

The trial starts the canary as a bot, beside a control that nothing locks in.

Whoever could make the trial fail could have bots run without a sandbox. So nothing that others can
do decides a trial, an error that may pass stops the run, and a machine that has locked bots in once
never runs them without a sandbox until its user says so.
"""

import errno
import hashlib
import os
import platform
import secrets
import select
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.files import describe_error, temporary_folder
from arena.sandbox.canary import GROUPS, UNTRIED, Targets
from arena.sandbox.command import BOUNDED, LOCKED, OFF, Command, Confinement, Limits, SandboxMode
from arena.sandbox.process import SHORTAGES, Sandbox, SandboxedProcess
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.errors import UserError

# Guarantees of locked bots in sentences; knows no process.


class Guarantee(Struct, frozen=True):
    """A promise that people may rely on while every attempt at it is refused."""

    name: str
    kept: str
    """A sentence for people, if all attempts were refused."""
    missing: str
    """The words for people, if one got through; and what helps, if bots are locked in even so."""


GUARANTEES = (
    Guarantee(
        name="files",
        kept="Bots cannot read or change the event, its logs, other bots or your files.",
        missing="A bot can read or change the event's secret, the logs or other bots.",
    ),
    Guarantee(
        name="processes",
        kept="Bots cannot see or touch the referee or each other.",
        missing="A bot can see or disturb the referee and other bots, and read their memory.",
    ),
    Guarantee(
        name="inherited",
        kept="Bots get nothing from the referee but their three pipes.",
        missing="A bot inherits the referee's environment, open files or your terminal.",
    ),
    Guarantee(
        name="network",
        kept="Bots have no network.",
        missing="A bot can use the network, to other bots, this machine or the world.",
    ),
    Guarantee(
        name="shared",
        kept="Bots share no folder to write to, no memory, no key and no lock.",
        missing="Two bots can pass each other notes by folders, memory, keys or locks.",
    ),
    Guarantee(
        name="kernel",
        kept="The rarer doors of the kernel are shut.",
        missing="A bot can call rarely used parts of the kernel, where most escapes begin.",
    ),
    Guarantee(
        name="counters",
        kept="Bots cannot watch the machine's counters.",
        missing="A bot can watch the machine's load, and so guess how busy others are. "
        "Run one game at a time if it matters.",
    ),
    Guarantee(
        name="traces",
        kept="Bots leave each other no traces in the kernel.",
        missing="Bots that agreed on a code can signal to each other: `boneyard help secrets`. "
        "Only sealed bots (WebAssembly) and virtual machines prevent it.",
    ),
    Guarantee(
        name="limits",
        kept="Memory, processes and files of a bot have limits that hold.",
        missing="A bot can take more memory, processes or disk than its limits say.",
    ),
    Guarantee(
        name="outlive",
        kept="Nothing that a bot starts outlives it.",
        missing="A bot can leave a process behind that still runs in the next game.",
    ),
)


# Processes of a trial: their start, questions to them, their end. Every wait has a limit.


MAX_WAIT_S = 60.0
"""Most seconds of any one wait on a crowded machine; all of them together take about 0.05 s."""
LONGEST_LINE = 2**20
"""Most bytes of one answer."""

Popen: TypeAlias = "subprocess.Popen[bytes]"


class CannotProbeError(Exception):
    """A process could not be started or asked: nothing is known of the sandbox."""


class NoAnswerError(CannotProbeError):
    """A process gave no answer in time: it says nothing, except that the machine is busy."""


def ask_process(process: Popen, line: bytes) -> dict[str, Any]:
    """Send a line and return the one-line answer, a JSON object. Raises CannotProbeError."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write(line + b"\n")
        process.stdin.flush()
    if not (answer := read_line(process)):
        raise CannotProbeError(f"A test process ended: {_last_words(process)}")
    try:
        return decode_json(answer, dict[str, Any])
    except DamagedRecordError as error:
        raise CannotProbeError(f"A test process answered in no way known: {error}.") from None


def read_line(process: Popen) -> bytes:
    """Return the next line; empty if nobody is left to write one. Raises CannotProbeError."""
    assert process.stdout
    deadline, answer = time.monotonic() + MAX_WAIT_S, b""
    while not answer.endswith(b"\n") and len(answer) < LONGEST_LINE:
        wait = max(0.0, deadline - time.monotonic())
        if not select.select([process.stdout], [], [], wait)[0]:
            raise NoAnswerError(f"A test process gave no answer in {MAX_WAIT_S:g} s.")
        more = os.read(process.stdout.fileno(), 65_536)
        if not more:
            return b""
        answer += more
    return answer


def _last_words(process: Popen) -> str:
    assert process.stderr
    words, pipe = b"", process.stderr.fileno()
    while len(words) < 65_536 and select.select([pipe], [], [], 0.1)[0]:
        if not (more := os.read(pipe, 4096)):
            break
        words += more
    return words.decode(errors="replace").strip().rpartition("\n")[2][:200] or "it said nothing."


def close_pipes(process: Popen) -> None:
    """Close the pipes."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if pipe:
                pipe.close()


class Starter:
    """Starts and ends processes as bots are started and ended."""

    def __init__(self, confinement: Confinement, limits: Limits) -> None:
        self._sandbox = Sandbox(confinement, limits)
        self._slots: dict[int, SandboxedProcess] = {}

    def start(self, argv: tuple[str, ...], reads: tuple[str, ...]) -> Popen:
        """Start the words of a command, whose last one is its program. Raises OSError."""
        return self.start_command(Command(argv, str(Path(argv[-1]).parent), reads))

    def start_command(self, command: Command) -> Popen:
        """Start a command as a bot. Raises OSError."""
        slot = self._sandbox.new_slot()
        try:
            process = slot.start(command)
        except OSError:
            slot.close()
            raise
        self._slots[process.pid] = slot
        return process

    def slot(self, process: Popen) -> SandboxedProcess:
        """Return the place of a process that has not ended."""
        return self._slots[process.pid]

    def end(self, process: Popen) -> None:
        """Kill a process and what it started, unless that was done; its pipes stay open.

        Raises CannotProbeError.
        """
        slot = self._slots.pop(process.pid, None)
        if slot:
            slot.kill()
            try:
                process.wait(MAX_WAIT_S)
            except subprocess.TimeoutExpired as error:
                raise CannotProbeError("A test process could not be ended.") from error
            slot.close()


# The test of `network`: the listed address is reached, and nothing else, nor by another bot.


LOOPBACK = "127.0.0.1"
ALLOWED = ("tunnel", "request")
"""The ways to the listed address, which must be open."""
ATTEMPTS = """
import json, socket, sys
given = json.loads(sys.stdin.readline())
PROXY, HOME, (port, other), token = ("127.0.0.1", 3128), "127.0.0.1", given["ports"], given["token"]

def asked(line):
    with socket.create_connection(PROXY, 3) as proxy:
        proxy.sendall(line.encode() + b"\\r\\n\\r\\n")
        said = b""
        while token.encode() not in said:
            more = proxy.recv(4096)
            if not more:
                return False
            said += more
        return True

def connected(address, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as one:
        one.settimeout(1)
        one.connect(address)
        return True

def opened(*kind):
    return bool(socket.socket(*kind))

def listened():
    with socket.socket() as one:
        one.bind((HOME, 0))
        return True

attempts = {
    "tunnel": lambda: asked(f"CONNECT {HOME}:{port} HTTP/1.1"),
    "request": lambda: asked(f"GET http://{HOME}:{port}/ HTTP/1.1"),
    "tunnel-to-another-port": lambda: asked(f"CONNECT {HOME}:{other} HTTP/1.1"),
    "request-to-another-port": lambda: asked(f"GET http://{HOME}:{other}/ HTTP/1.1"),
    "another-name": lambda: asked(f"CONNECT localhost:{port} HTTP/1.1"),
    "user-in-the-name": lambda: asked(f"GET http://{HOME}:{port}@{HOME}:{other}/ HTTP/1.1"),
    "around-the-proxy": lambda: connected((HOME, port)),
    "route-outside": lambda: connected(("192.0.2.1", 53), socket.SOCK_DGRAM),
    "name-server": lambda: bool(socket.getaddrinfo("localhost.localdomain.example.com", 80)),
    "unix-socket": lambda: opened(socket.AF_UNIX),
    "netlink-socket": lambda: opened(socket.AF_NETLINK, socket.SOCK_RAW),
    "raw-socket": lambda: opened(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet-socket": lambda: opened(17, socket.SOCK_RAW),
    "socket-of-ipv6": lambda: opened(socket.AF_INET6),
    "listen": listened,
    "proxy": lambda: connected(PROXY),
}
found = {}
for name in given["names"] or attempts:
    try:
        found[name] = attempts[name]()
    except OSError:
        found[name] = False
print(json.dumps(found), flush=True)
sys.stdin.read()
"""
"""A program that runs as a bot and says which of its attempts got through."""
NEIGHBOUR = "proxy"
"""The attempt of another bot, without a network, at the same proxy."""


def network_faults() -> list[str]:
    """Return what a bot with a network reaches but should not, or should reach but does not.

    It runs locked and without a cgroup, which changes nothing of it. Takes about 0.3 s.
    Raises CannotProbeError, OSError.
    """
    token = secrets.token_hex(8)
    with _server(token) as port, _server(token) as other:
        order = {"ports": (port, other), "token": token, "names": ()}
        with (
            _bot((f"{LOOPBACK}:{port}",), order) as outcomes,
            _bot((), {**order, "names": (NEIGHBOUR,)}) as neighbours,
        ):
            wrong = [name for name in outcomes if outcomes[name] != (name in (*ALLOWED, "proxy"))]
            return wrong + [f"{name} of another bot" for name in neighbours if neighbours[name]]


@contextmanager
def _server(token: str) -> Iterator[int]:
    """Yield the port of a server that says the token to everybody."""

    def work() -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                with client, suppress(OSError):
                    client.sendall(f"{token}\r\n".encode())

    with closing(socket.create_server((LOOPBACK, 0))) as server:
        Thread(target=work, daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


@contextmanager
def _bot(network: tuple[str, ...], order: object) -> Iterator[dict[str, bool]]:
    """Yield what a bot with this network got; it lives until the block ends."""
    python, starter = os.path.realpath(sys.executable), Starter(LOCKED, Limits())
    words = (python, "-I", "-S", "-c", ATTEMPTS)
    process = starter.start_command(Command(words, "/usr", (sys.base_prefix,), network=network))
    try:
        yield ask_process(process, encode_json(order))
    finally:
        starter.end(process)
        close_pipes(process)


def describe_network() -> str:
    """Return the result of the test in a sentence."""
    try:
        wrong = network_faults()
    except (OSError, CannotProbeError) as error:
        return f"`network` does not work: {error}"
    if wrong:
        return f"`network` does not keep its promise: {', '.join(wrong)}."
    return "`network` works: a bot reached the listed address and nothing else."


# Trial of the sandbox: the canary as a bot, beside a control that nothing locks in.


CANARY_FILE = Path(__file__).with_name("canary.py")
CANARY_VARIABLE = "BONEYARD_CANARY"
"""The referee's environment variable that no bot should see."""
TRIAL_LIMITS = Limits(memory_mib=48, processes=16)
"""The limits of a trial: an attempt that exceeds them does no harm."""
CGROUP_ESCAPE = "escape-cgroup"
"""The attempt that only the referee judges: to use what the bot's cgroup does not count."""
CANARIES = {
    **{name: guarantee for guarantee, attempts in GROUPS.items() for name in attempts},
    CGROUP_ESCAPE: "limits",
}
"""For each attempt, the guarantee that it tests."""
UNSURE = frozenset(
    {"connect", "lock-file", "gain-rights", "read-load", "number-pipe"}
    | {"exceed-limits", "share-memory", CGROUP_ESCAPE}
)
"""The attempts that a machine, such as a container, may refuse to every process, bots among them.
Every other attempt must succeed in the control: else its refusal to a bot proves nothing."""


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
        starter = Starter(confinement, TRIAL_LIMITS)
        bot = starter.start(_command(programs), (sys.base_prefix, str(programs / "canary")))
        stack.callback(close_pipes, bot)
        stack.callback(starter.end, bot)
        expected = _outcomes(control, {**targets, "who": "control"})
        outcomes = _outcomes(bot, {**targets, "who": "bot"})
        slot = starter.slot(bot)
        if confinement.is_bounded:
            outcomes[CGROUP_ESCAPE] = _count(slot)
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
    end = time.monotonic() + (MAX_WAIT_S if slot.is_counted else 0)
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
    (programs / "canary" / "canary.py").write_bytes(CANARY_FILE.read_bytes())
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
    stack.callback(os.environ.pop, CANARY_VARIABLE, None)
    os.environ[CANARY_VARIABLE] = token
    # Connections wait in its queue: nobody accepts them.
    server = socket.create_server(("127.0.0.1", 0))
    stack.callback(server.close)
    return {
        # The secret: a bot that tells it has read what holds it.
        "token": token,
        "variable": CANARY_VARIABLE,
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
            "NOFILE": TRIAL_LIMITS.open_files,
            "FSIZE": TRIAL_LIMITS.file_bytes,
            "NPROC": TRIAL_LIMITS.processes,
            "DATA": TRIAL_LIMITS.wall,
            "AS": TRIAL_LIMITS.address_space,
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
    except msgspec.ValidationError as error:
        raise CannotProbeError(f"The canary answered in no way known: {error}.") from None
    if outcomes.keys() != CANARIES.keys() - {CGROUP_ESCAPE}:
        raise CannotProbeError("The canary did not make every attempt.")
    return outcomes


def _answers(process: Popen) -> bool:
    """Tell whether something that a killed process started is still there, and answers."""
    assert process.stdin
    with suppress(BrokenPipeError):
        process.stdin.write(b"\n")
        process.stdin.flush()
    return bool(read_line(process))


# The memory that this user locked bots in on this machine: a file of the user's own.
#
# A trial that fails where one succeeded is a reason to stop, not to play without a sandbox.


def remember_proof() -> None:
    """Note that bots were locked in here. A home that cannot be written to remembers nothing."""
    with suppress(OSError, KeyError):
        note = _note()
        if not note.exists():
            note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            note.touch(0o600)


def has_proved() -> bool:
    """Tell whether this user locked bots in on this machine before."""
    with suppress(OSError, KeyError, ImportError):
        return _note().exists()
    return False


def _note() -> Path:
    """Return the file's path. Raises KeyError for a user without a home.

    Not by HOME: with it `sudo` may name the folder of another user, who could remove the file.
    """
    import pwd  # Windows has none.

    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    state = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    # Machines may share a home.
    machine = platform.node()
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text()
    return state / "boneyard" / f"locked-{hashlib.sha256(machine.encode()).hexdigest()[:16]}"


# --- the choice ---


NEEDED_PROMISES = frozenset(
    {"files", "inherited", "network", "kernel", "processes", "shared", "outlive", "limits"}
)
"""The promises without which no bot is locked in."""
SANDBOX_TRIES = 3
"""Tries of a sandbox if the machine's load may have spoiled one."""
TRANSIENT_ERRORS = SHORTAGES | {errno.ENOSPC, errno.EDQUOT}
"""Errors that pass: they stop a run, and never decide how its bots run."""
SHORTAGE_WORDS = (
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "Too many open files",
)
"""The words of bubblewrap and the shell for such errors."""
LINUX_LOCKS = "Only Linux can lock them in; `--sealed` locks any Python bot in everywhere."
ADVICE = "`boneyard doctor` explains what would help." if sys.platform == "linux" else ""
UNLOCKED = (
    f"Bots run as your own user and can read, disturb and outlive what they like. {ADVICE}".rstrip()
)


class TrialResult(Struct, frozen=True):
    """The result of trying one way to confine bots on this machine."""

    confinement: Confinement
    why_not: str
    """The reason why it is not available, a sentence; empty if it is."""
    broken: tuple[Guarantee, ...] = ()
    outcomes: dict[str, ProbeResult] = {}

    @property
    def is_proven(self) -> bool:
        """Tell whether bots can be confined so."""
        return not self.why_not


def choose_sandbox(
    mode: SandboxMode, limits: Limits, folder: Path, *, was_locked: bool = False
) -> Sandbox:
    """Return the sandbox for a run whose event is in the folder.

    `was_locked`: bots of this event were locked in before. Raises UserError if they cannot be now,
    and the mode or the past forbids to play without; OSError if the machine is short of something.
    """
    if mode == "off":
        return Sandbox(replace(OFF, missing=(UNLOCKED,)), limits)
    trial = try_to_lock(folder)
    if trial.is_proven:
        remember_proof()
        return Sandbox(trial.confinement, limits)
    why_not = f"{trial.why_not} {ADVICE}".rstrip()
    if mode == "require":
        raise UserError(f"This machine cannot lock bots in (sandbox: require). {why_not}")
    if was_locked or has_proved():
        place = "of this event" if was_locked else "on this machine"
        other = "A new event (--out) may play with" if was_locked else "Or play with"
        raise UserError(
            f"The sandbox fails, and bots {place} were locked in before: {why_not} "
            f"{other} --sandbox off."
        )
    return Sandbox(replace(OFF, missing=(UNLOCKED,)), limits, trial.why_not)


def try_to_lock(folder: Path) -> TrialResult:
    """Try to lock bots in, with a cgroup where one can be had; see `examine`. Raises OSError."""
    if sys.platform != "linux":
        return TrialResult(OFF, LINUX_LOCKS)
    bounded = examine(BOUNDED, folder)
    if bounded.is_proven:
        return bounded
    locked = examine(LOCKED, folder)
    unbounded = f"Memory and processors of bots are not bounded: {bounded.why_not}"
    missing = (unbounded, *locked.confinement.missing)
    return replace(locked, confinement=replace(locked.confinement, missing=missing))


def examine(confinement: Confinement, folder: Path) -> TrialResult:
    """Try a confinement with the canary, which takes about 0.05 s; nothing of it is left.

    Raises OSError if the machine is short of something now: that says nothing about the sandbox.
    """
    for _ in range(SANDBOX_TRIES):
        trial = _try_once(confinement, folder)
        # A busy machine may have spoiled an attempt that was not made.
        if not any(_decides(name, outcome) for name, outcome in trial.outcomes.items()):
            break
    return trial


def _decides(name: str, outcome: ProbeResult) -> bool:
    """Tell whether an attempt that was not made decides against the sandbox."""
    return CANARIES[name] in NEEDED_PROMISES and outcome.detail.startswith(UNTRIED)


def _try_once(confinement: Confinement, folder: Path) -> TrialResult:
    try:
        outcomes = try_sandbox(confinement, folder)
    except OSError as error:
        if error.errno in TRANSIENT_ERRORS:
            raise
        return TrialResult(confinement, _sentence(error))
    except CannotProbeError as error:
        if isinstance(error, NoAnswerError) or any(words in f"{error}" for words in SHORTAGE_WORDS):
            raise OSError(errno.EAGAIN, f"The sandbox cannot be tried now: {error}") from error
        return TrialResult(confinement, _sentence(error))
    through = {CANARIES[name] for name, outcome in outcomes.items() if outcome.got}
    broken = tuple(promise for promise in GUARANTEES if promise.name in through)
    fatal = [promise.missing for promise in broken if promise.name in NEEDED_PROMISES]
    missing = tuple(promise.missing for promise in broken)
    why_not = " ".join(fatal) if confinement.is_locked else ""
    return TrialResult(replace(confinement, missing=missing), why_not, broken, outcomes)


def _sentence(error: Exception) -> str:
    """Return an error as a sentence, without the number that it has for programs."""
    text = describe_error(error)
    return f"{text[:1].upper()}{text[1:]}."
