"""An agent's seat: tools of the Model Context Protocol that show the questions and answer them.

At a table of `play` it is a person's seat; in an event it is a bot that waits for its agent.

The tools tell what the referee tells the seat, and nothing else. Several clients may share a seat:
the first answer to a question counts. A client that leaves may come back until the clock runs out.
"""

import hmac
import os
import secrets
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, redirect_stdout
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import trio

from arena.analysis.frames import LiveFrames
from arena.analysis.text import option_words
from arena.files import (
    describe_error,
    hold_lock,
    is_ours,
    make_private,
    read_file,
    write_atomic,
)
from arena.match.player import COME_S, HumanPlayer, Player
from arena.rules.explain import explain_ruleset
from arena.ui.local_address import LOCAL_HOST, listen_here
from arena.ui.terminal_player import read_ready
from protocol import __version__
from protocol.codec import (
    DamagedRecordError,
    decode_from_bot,
    encode_json,
    encode_line,
    printable_lines,
)
from protocol.errors import UserError
from protocol.messages import (
    Ask,
    BotHello,
    Bye,
    FromBot,
    GameOver,
    GameStarts,
    Hello,
    ToBot,
    UnknownMessage,
)

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult

AgentWay = Literal["stdio", "http", "bot"]
TURN_WAIT_S = 25.0
"""Seconds that `question` waits for the seat's turn: clients give up on a tool after 30 to 60."""
OWNER_ONLY = 0o600
"""The mode of the file with the secret: whoever has it may play."""
MAX_INPUT_LINE = 1 << 20
"""Bytes of a line that is read from stdin, a client's or a referee's."""
PORT_WAIT_S = 10.0
"""Seconds to wait for a port: a bot is started again while the process before it ends."""
MOST_MESSAGES_KEPT = 16
"""The most messages between two questions that are kept; a round or a game ends with one."""
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
CHOICE_ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "choice": {"type": "integer", "minimum": 0}},
    "required": ["id", "choice"],
    "additionalProperties": False,
}
TOOLS = {
    "rules": ("Explain the rules of this game of dominoes.", NO_ARGUMENTS),
    "question": (
        "Wait for your turn. Returns what happened and the question as JSON: your hand, the line, "
        "and your numbered options. Call it again if nobody asks you yet.",
        NO_ARGUMENTS,
    ),
    "choose": (
        "Answer a question: its `id`, and the number of your option, from 0.",
        CHOICE_ARGUMENTS,
    ),
}
"""Each tool's description, and the schema of its arguments."""
NO_AGENTS = (
    "An agent's seat takes the packages mcp and hypercorn: pip install '.[agents]' in the clone."
)


class ToolError(Exception):
    """A call that a tool refuses; the text says why."""


class AgentSeat:
    """A seat that agents play by calling tools."""

    def __init__(self) -> None:
        self._player: HumanPlayer | None = None
        self._game: GameStarts | None = None
        self._messages = deque[ToBot](maxlen=MOST_MESSAGES_KEPT)
        self._is_over = False
        self._called, self._changed = trio.Event(), trio.Event()
        self._asked: Ask | None = None
        """The last question."""
        self._asked_at = 0.0
        self._following = trio.CancelScope()
        self.closed = trio.Event()
        """Set once no client can come any more."""

    async def show(self, person: HumanPlayer, _: LiveFrames, ready: trio.Event) -> bool:
        """Play a game to its end; return False if the agent leaves before, or never comes."""
        with self._following:
            with trio.move_on_after(COME_S):
                await self._called.wait()
                # The clock runs from here.
                ready.set()
            if ready.is_set():
                await self.follow(person, GameOver)
        return self._is_over

    async def follow(self, player: HumanPlayer, end: type[GameOver | Bye]) -> None:
        """Tell agents what the referee tells this player, until a message of this kind."""
        self._player = player
        async for message in player.messages:
            self._take(message)
            if isinstance(message, end):
                self._is_over = True
                self._wake()
                return

    def leave(self) -> None:
        """Stop following: no client can come any more."""
        self.closed.set()
        self._following.cancel()

    def _take(self, message: ToBot) -> None:
        if isinstance(message, GameStarts):
            self._game = message
        if isinstance(message, Ask):
            self._asked, self._asked_at = message, trio.current_time()
        else:
            self._messages.append(message)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool answers. Raises ToolError."""
        self._called.set()
        match tool:
            case "rules" if not arguments:
                return self._rules()
            case "question" if not arguments:
                return await self._question()
            case "choose":
                return self._choose(arguments)
            case "rules" | "question":
                raise ToolError(f"`{tool}` takes no arguments.")
            case _:
                raise ToolError(f"There is no tool {tool!r:.40}: {', '.join(TOOLS)}.")

    def _rules(self) -> str:
        if self._game is None:
            raise ToolError("No game has begun yet. Call `question` first.")
        parts = explain_ruleset(self._game.rules).items()
        return "\n".join(
            f"{heading}: {' '.join(sentence.text for sentence in sentences)}"
            for heading, sentences in parts
        )

    async def _question(self) -> str:
        with trio.move_on_after(TURN_WAIT_S):
            while self._open is None and not self._is_over:
                await self._changed.wait()
        # They stay until the next answer: a client may have given up on an earlier call.
        news = [encode_json(message).decode() for message in self._messages]
        if question := self._open:
            left_ms = question.time_ms - 1000 * (trio.current_time() - self._asked_at)
            return "\n".join([*news, *_question_lines(question, max(0, round(left_ms)))])
        ended = "That was all." if self._is_over else "Nobody asks you yet: call this again."
        return "\n".join([*news, ended])

    @property
    def _open(self) -> Ask | None:
        return self._player.question if self._player else None

    def _choose(self, arguments: Mapping[str, Any]) -> str:
        number, choice = arguments.get("id"), arguments.get("choice")
        if len(arguments) != 2 or type(number) is not int or type(choice) is not int:
            raise ToolError("`choose` takes two whole numbers: `id` and `choice`.")
        question = self._open
        if question is None or self._player is None:
            if self._asked and number == self._asked.id:
                raise ToolError(f"Question {number} is closed: it was answered, or its time is up.")
            raise ToolError("No question is open now. Call `question`.")
        if not self._player.choose(number, choice):
            last = len(question.options) - 1
            raise ToolError(f"Question {question.id} is open; its options are 0 to {last}.")
        self._messages.clear()
        return "Taken. Call `question` for the next one."


def _question_lines(question: Ask, left_ms: int) -> list[str]:
    options = [f"{index}: {option_words(option)}" for index, option in enumerate(question.options)]
    return [
        encode_json(question).decode(),
        *options,
        f"Answer within {left_ms} ms: choose(id={question.id}, choice=...)",
    ]


def need_agents() -> None:
    """Raise UserError if the packages for agents are not installed."""
    if not (find_spec("mcp") and find_spec("hypercorn")):
        raise UserError(NO_AGENTS)


def _server(seat: AgentSeat) -> "Server[dict[str, Any]]":
    from mcp.server.lowlevel import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

    async def list_tools(*_: object) -> "ListToolsResult":
        return ListToolsResult(
            tools=[
                Tool(name=name, description=description, input_schema=schema)
                for name, (description, schema) in TOOLS.items()
            ]
        )

    async def call_tool(_: object, call: "CallToolRequestParams") -> "CallToolResult":
        try:
            words, refused = await seat.call(call.name, call.arguments or {}), False
        except ToolError as error:
            words, refused = str(error), True
        content = TextContent(type="text", text=printable_lines(words))
        return CallToolResult(content=[content], is_error=refused)

    return Server("boneyard", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


async def _input_lines() -> AsyncIterator[bytes]:
    """Yield the lines of stdin; stop at its end, or at a line that is too long."""
    rest = b""
    while len(rest) < MAX_INPUT_LINE and (data := await read_ready(0, MAX_INPUT_LINE)):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line


class _ClientLines:
    """The lines of a client at stdin, in the form that the package reads."""

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in _input_lines():
            yield line.decode(errors="replace")


class _ClientPipe:
    """The pipe to a client at stdout: a client that is gone is an OSError, and no wait for one.

    It does without Python's buffer: a thread that was left in one would hold its lock, and Python
    aborts if that is so when it exits.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        """Send a message. Raises OSError."""
        data = text.encode()
        while data:
            write = partial(os.write, self._descriptor, data)
            data = data[await trio.to_thread.run_sync(write, abandon_on_cancel=True) :]

    async def flush(self) -> None:
        """Do nothing: `write` has sent everything."""


@asynccontextmanager
async def serve_pipe(seat: AgentSeat) -> AsyncIterator[None]:
    """Serve the client at stdin and stdout while the block runs; what we print goes to stderr."""
    from mcp.server.stdio import stdio_server

    # With its own streams the package would ignore a signal until the client's next line.
    streams: Any = _ClientLines(), _ClientPipe(sys.stdout.fileno())

    async def serve() -> None:
        try:
            async with stdio_server(*streams) as (reader, writer):
                await server.run(reader, writer, server.create_initialization_options())
        except* OSError:
            pass  # The client has closed its end.
        seat.leave()

    server = _server(seat)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        with redirect_stdout(sys.stderr):
            yield
        nursery.cancel_scope.cancel()


class _BotPipe:
    """The listener of a seat that is a bot: it writes each answer to stdout."""

    def __init__(self, player: HumanPlayer) -> None:
        self._player = player

    def hear(self) -> None:
        """Write the answer that was just given."""
        if line := self._player.next_line():
            _write(line + b"\n")

    def hear_line(self, player: Player, line: bytes, message: FromBot | None = None) -> None:
        """Do nothing: `hear` writes an agent's answer."""


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def secret_folder() -> Path:
    """Return the folder of the secret of agents' keys. Raises UserError for a user without a home.

    The home is the account's, not HOME: a bot has another, and reads the same secret.
    """
    try:
        import pwd  # Windows has none.

        home = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError) as error:
        raise UserError(
            "An agent's key needs a home folder of yours, on Linux or macOS."
        ) from error
    return Path(home) / ".local/state/boneyard/agents"


def agent_address(port: int) -> str:
    """Return the address of a bot that waits for its agent at this port: the same at each start.

    Its key follows from a secret in a folder of the user's, which nobody else can write or read.
    Raises UserError without such a folder.
    """
    folder = secret_folder()
    try:
        make_private(folder)
        if not is_ours(folder.stat()):
            raise UserError(f"{folder} is not yours alone: an agent's key cannot be kept there.")
        with hold_lock(folder / "lock"):
            if not (file := folder / "secret").exists():
                write_atomic(file, [secrets.token_bytes()], OWNER_ONLY)
            key = hmac.digest(read_file(file), b"%d" % port, "sha256").hex()
    except OSError as error:
        why = f"An agent's key cannot be kept in {folder}: {describe_error(error)}."
        raise UserError(f"{why} No agent reaches a locked bot: it takes --sandbox off.") from error
    return f"http://{LOCAL_HOST}:{port}/{key}/mcp"


async def sit_as_bot(port: int) -> None:
    """Play as a bot on stdin and stdout for the agents that come to a port.

    Raises UserError if the port stays taken, or for lines that are no referee's.
    """
    seat, player, began = AgentSeat(), HumanPlayer(), trio.Event()
    player.set_listener(_BotPipe(player))
    address, error = agent_address(port), None

    async def serve() -> None:
        # The next sitting's bot greets while this one's still has the port.
        await began.wait()
        async with _serve(seat, await listen_here(port, PORT_WAIT_S), address):
            await trio.sleep_forever()

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve)
            nursery.start_soon(seat.follow, player, Bye)
            async for line in _input_lines():
                _hear_referee(player, line)
                if player.question:
                    began.set()
            nursery.cancel_scope.cancel()
    except* UserError as group:
        error = group.exceptions[0]
    if error:
        raise error


def _hear_referee(player: HumanPlayer, line: bytes) -> None:
    try:
        message = decode_from_bot(line)
    except DamagedRecordError as error:
        raise UserError("`--mcp bot` hears a referee: name it as a bot of an event.") from error
    if isinstance(message, Hello):
        _write(encode_line(BotHello(name="agent", version=__version__)))
    elif not isinstance(message, UnknownMessage):
        player.send(line)


@asynccontextmanager
async def serve_port(seat: AgentSeat, port: int) -> AsyncIterator[str]:
    """Serve clients of this machine while the block runs; yield the address, which has a key.

    With port 0 the machine chooses one. Raises UserError if the port is not available.
    """
    listener = await listen_here(port)
    number = listener.socket.getsockname()[1]
    address = f"http://{LOCAL_HOST}:{number}/{secrets.token_urlsafe()}/mcp"
    async with _serve(seat, listener, address):
        yield address


@asynccontextmanager
async def _serve(
    seat: AgentSeat, listener: trio.SocketListener, address: str
) -> AsyncIterator[None]:
    from hypercorn.config import Config
    from hypercorn.trio import serve

    config = Config()
    config.bind, config.errorlog = [f"fd://{listener.socket.detach()}"], None
    app: Any = _server(seat).streamable_http_app(
        # Without sessions a client may go on with the next process of a bot.
        streamable_http_path=urlsplit(address).path,
        stateless_http=True,
        json_response=True,
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(serve, app, config, shutdown_trigger=trio.sleep_forever))
        yield
        nursery.cancel_scope.cancel()


def serve_agents(
    seat: AgentSeat, way: AgentWay, port: int
) -> AbstractAsyncContextManager[str | None]:
    """Serve agents at stdin and stdout, or on a port; yield the address of the port."""
    return serve_pipe(seat) if way == "stdio" else serve_port(seat, port)
