"""A conversation with one bot process, every wait and buffer bounded; a scripted game."""

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple, Self

import trio
from msgspec import Struct

from arena.engine.shuffle import board_seed
from arena.match import referee
from arena.match.bot_process import BotProcess
from arena.match.poller import Poller, ReplyWaiter
from arena.match.referee import GameSetup, OpenQuestion, Referee
from arena.sandbox.command import Command
from arena.sandbox.process import ResourceUsage, Sandbox
from protocol.codec import Fault, encode_line
from protocol.messages import Choose, Clock
from protocol.records import FoulRecord
from protocol.ruleset import Ruleset

# Values of the check: its extent, broken promises, results, and exceptions that end a step.


State = Literal["pass", "fail", "skip", "missed"]
"""skip: it cannot judge this bot. missed: its time was up, or this machine was too busy."""


class Violation(Struct, frozen=True):
    """A broken promise, with all that its author needs to fix it."""

    fault: str
    sent: tuple[str, ...]
    """The last lines that it was sent, cut and safe to show."""
    came: str
    """The bot's output, cut and safe to show."""
    expected: str
    mend: str
    stderr: str = ""
    gone: bool = False
    """True if the process had ended by itself."""
    late: bool = False
    """True if it ran on, but nothing whole came within its time."""


class ViolationError(Exception):
    """The bot breaks a promise of the protocol."""

    def __init__(self, finding: Violation) -> None:
        super().__init__(finding.fault)
        self.finding = finding


class SkippedError(Exception):
    """The step cannot judge this bot; the text is the reason."""

    state: State = "skip"


class UndecidedError(SkippedError):
    """The bot or a busy machine broke the promise; the text is what was seen."""

    state = "missed"


class OutOfTimeError(SkippedError):
    """The step's time was up in the middle of a game."""

    def __init__(self, questions: int) -> None:
        super().__init__(f"The step's time was up after {questions} questions.")
        self.questions = questions
        """Questions of that game that were answered."""


class EventGame(NamedTuple):
    """The game of an event."""

    rules: Ruleset
    seats: int


class Budget(Struct, frozen=True):
    """The extent and the duration of the check."""

    total_s: float = 300.0
    """Seconds after which no further step begins."""
    step_s: float = 15.0
    """Seconds after which a step asks no further question; less when many steps are to come."""
    pause_ms: int = 1_500
    """Time in which the bot is left alone before it is asked again, in ms."""
    quiet_ms: int = 100
    """Time for which the check listens if the bot must be silent, in ms."""
    is_full: bool = True
    """True for whole games and long ones; otherwise a round of each game and little more."""


class StepResult(Struct, frozen=True):
    """The result of a step."""

    number: int
    name: str
    title: str
    promise: str
    """The part of SPEC.md that demands it."""
    state: State
    note: str
    ms: int
    finding: Violation | None = None


# Advice for the language of a bot, as far as its command reveals the language.


class LanguageHints(NamedTuple):
    """A language's way to write a line at once."""

    name: str
    flush: str


COMPILED_HINTS = LanguageHints(
    "a compiled language",
    "C: fflush(stdout); C++: std::cout << ... << std::endl; Rust: io::stdout().flush(); "
    "Go: writer.Flush()",
)
LANGUAGES = {
    "python": LanguageHints("Python", "print(..., flush=True)"),
    "node": LanguageHints("JavaScript", 'process.stdout.write(text + "\\n")'),
    "java": LanguageHints(
        "Java", "System.out.flush(), or new PrintWriter(System.out, true) and println"
    ),
    "ruby": LanguageHints("Ruby", "$stdout.sync = true"),
    "perl": LanguageHints("Perl", "$| = 1;"),
    "lua": LanguageHints("Lua", "io.stdout:flush()"),
    "sh": LanguageHints("shell", "printf flushes; a filter after it may not"),
}
BY_SUFFIX = {
    ".py": "python", ".js": "node", ".mjs": "node", ".ts": "node", ".jar": "java", ".class": "java",
    ".java": "java", ".rb": "ruby", ".pl": "perl", ".lua": "lua", ".sh": "sh",
}  # fmt: skip


def language(command: Command) -> LanguageHints:
    """Return the language of a bot, by its program's name and the suffixes of its files."""
    for part in command.argv[1:]:
        if Path(part).suffix in BY_SUFFIX:
            return LANGUAGES[BY_SUFFIX[Path(part).suffix]]
    program = re.sub(r"[\d.]+$", "", Path(command.argv[0]).name)
    program = {"nodejs": "node", "bash": "sh", "dash": "sh", "deno": "node"}.get(program, program)
    suffix = BY_SUFFIX.get(Path(command.argv[0]).suffix, "")
    return LANGUAGES.get(program) or LANGUAGES.get(suffix) or COMPILED_HINTS


# A game of the real engine and referee: the bot has one seat, the script plays the others.


MAX_BOARDS_TRIED = 400

WantedQuestion = Callable[[OpenQuestion], bool]


class ScriptedSeat:
    """The bot's seat in one game: its messages and questions, and the referee's rulings."""

    def __init__(
        self,
        rules: Ruleset,
        seats: int,
        seat: int,
        number: int,
        clock: Clock,
        board: int = 1,
        wanted: WantedQuestion | None = None,
    ) -> None:
        """Begin the game on a board.

        `wanted`: until this question its seat is played here too, as if it had not been asked.
        Raises ImpossibleRulesError.
        """
        self.seat = seat
        self.rules = rules
        self.number = number
        self.asked_at = 0.0
        """The time at which its question was sent, in s, where a step notes it."""
        self._wanted = wanted
        self._chance = Random(board)
        self._lines: list[bytes] = []
        names = ("other",) * seat + ("bot",) + ("other",) * (seats - seat - 1)
        setup = GameSetup("check", number, board, names, rules, clock)
        self._referee = Referee(setup, board_seed(b"check", "check", board))
        self._go_on()

    @property
    def question(self) -> OpenQuestion | None:
        """Return the open question to the bot; None if the game is over."""
        return self._referee.awaiting

    def take_lines(self) -> list[bytes]:
        """Return, once, the messages to the bot since the last call."""
        lines, self._lines = self._lines, []
        return lines

    def receive(self, line: bytes, ms: float) -> Fault | None:
        """Take the bot's answer after this many ms; return the referee's fault, if it finds one."""
        self._referee.receive(self.seat, line, ms)
        for record in self._referee.take_records():
            if isinstance(record, FoulRecord):
                return Fault(record.foul, record.detail)
        self._go_on()
        return None

    def _go_on(self) -> None:
        self._collect()
        while question := self._referee.awaiting:
            if question.seat == self.seat:
                if self._wanted is None or self._wanted(question):
                    self._wanted = None
                    return
                del self._lines[-1]
            choice = self._chance.randrange(len(question.options))
            answer = encode_line(Choose(id=question.id, choice=choice)).rstrip()
            self._referee.receive(question.seat, answer, 1.0)
            self._collect()

    def _collect(self) -> None:
        self._lines += [line for seat, line in self._referee.take_outgoing() if seat == self.seat]


# A conversation with one bot process, bounded in every wait and buffer.


SENT_KEPT = 3
CHECKED_STDERR_BYTES = 8_192
"""The last bytes of stderr that are kept of a bot that is checked."""


TakeLine = Callable[[bytes, float], int | None]
"""A judge of a line that took this many ms; it returns the ms for the next one, None to end."""


class Exchange(ReplyWaiter):
    """The wait for one line after another, under the clock of a table; `take` judges them."""

    def __init__(self, poller: Poller, connection: "Connection", take: TakeLine) -> None:
        super().__init__(poller)
        self.is_silent = False
        """True if a line did not come: the bot is late, or gone."""
        self._connection = connection
        self._take = take

    def on_line(self, line: bytes, ms: float, *_: object) -> None:
        """Judge a line; wait for another if that is wanted."""
        if self._connection.frames:
            ms = self._connection.evidence().effort_ms()
        limit_ms = self._take(line, ms)
        if limit_ms is None:
            self.finish()
        else:
            self.expect(self._connection, limit_ms, self._connection.sent_at)

    def on_fault(self, *_: object) -> None:
        """End the wait without a line."""
        self.is_silent = True
        self.finish()

    def finish(self) -> None:
        """End the wait; the poller must not linger for a bot that has answered."""
        super().finish()
        self._poller.remove_timer(self._deadline)


class Connection(BotProcess):
    """One process, asked one question at a time; it records more than a bot in a game."""

    def __init__(
        self,
        poller: Poller,
        command: Command,
        sandbox: Sandbox,
        hello: bytes | None = None,
        code: bytes = b"",
    ) -> None:
        """Start the process and send it this hello, or by default ours.

        `code`: see `read_first`. Raises CannotStartError.
        """
        self.language = language(command)
        self.now = poller.now
        self.began = self.sent_at = poller.now()
        """The times of its start and of the last line to it, in s of the monotonic clock."""
        self.sent: deque[bytes] = deque(maxlen=SENT_KEPT)
        self._poller = poller
        self._over = trio.Event()
        super().__init__(command, sandbox, code)
        self.stderr_kept = CHECKED_STDERR_BYTES
        self.read_at = self.began
        self._register(poller)
        self.send(hello or referee.hello())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the process and all that it started."""
        # A bot with a fault is not waited for.
        self.disqualify(Fault("gone", "The check is over."))
        await self.shut_down(b"")

    # --- sending ---

    def send(self, *lines: bytes) -> None:
        """Send lines in one write; what the pipe does not take follows during the next wait."""
        self.sent.extend(lines)
        self.sent_at = self.now()
        super().send(b"".join(lines))

    def probe_with(self, data: bytes) -> None:
        """Send data that only a diagnosis uses: reports do not show it among the lines sent."""
        super().send(data)

    def unread(self) -> int:
        """Return the number of bytes sent that the process has not read yet."""
        return self._streams.unread() + len(self._outbox)

    # --- receiving ---

    async def converse(self, take: TakeLine, limit_ms: int, since: float) -> bool:
        """Give `take` its lines; return False if one did not come within its limit.

        `since`: the moment at which the time for the first line began; for others it begins when
        the last line is sent to the bot. Raises LagError, and what `take` raises.
        """
        exchange = Exchange(self._poller, self, take)
        self._listener = exchange
        exchange.expect(self, limit_ms, since)
        try:
            # It may have written before it was asked.
            exchange.hear()
            await exchange.wait()
        finally:
            self._listener = None
        if exchange.error:
            raise exchange.error
        return not exchange.is_silent

    async def read_line(self, limit_ms: int, since: float) -> bytes | None:
        """Return its next line; None if none came within the limit. Raises LagError."""
        lines: list[bytes] = []
        await self.converse(lambda line, _: lines.append(line), limit_ms, since)
        return lines[0] if lines else None

    async def read_for(self, seconds: float) -> bytes:
        """Return and forget all that it writes in this many seconds."""
        await self._wait(seconds)
        self.take_in()
        return self.rest()

    def rest(self) -> bytes:
        """Return and forget all output that was not taken yet, perhaps half a line."""
        output = self.partial_line
        self._inbox.clear()
        return output

    @property
    def partial_line(self) -> bytes:
        """Return the output that is not a whole line yet."""
        return self._censor.clean(bytes(self._inbox))

    @property
    def exit_reason(self) -> str:
        """Return the way it ended by itself, as the end of a sentence; empty while it runs."""
        return self._exit_reason() if self.fault and self.fault.foul == "gone" else ""

    @property
    def stderr_text(self) -> str:
        """Return what is kept of its stderr."""
        self._read_stderr()
        return bytes(self.stderr).decode(errors="replace")

    def usage(self) -> ResourceUsage:
        """Return the resources that it has used so far."""
        return self._usage()

    async def exits_within(self, seconds: float, goodbye: bytes = b"") -> float | None:
        """Say goodbye and close its stdin; return the ms until it left, None if it has not."""
        if goodbye:
            self.send(goodbye)
        began = self.now()
        self.close_stdin()
        await self._wait(seconds)
        return (self.now() - began) * 1000 if self.exit_reason else None

    async def _wait(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            await self._over.wait()

    def _set_fault(self, fault: Fault) -> None:
        super()._set_fault(fault)
        self._over.set()

    def on_stderr(self) -> None:
        """Read its stderr; a step judges how much it is."""
        self._read_stderr()
