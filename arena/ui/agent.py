"""An agent's seat: tools of the Model Context Protocol that show the questions and answer them.

At a table of `play` it is a person's seat; in an event it is a bot that waits for its agent.

The tools tell what the referee tells the seat, and nothing else. Several clients may share a seat:
the first answer to a question counts. A client that leaves may come back until the clock runs out.
"""

import re
import secrets
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import trio

from arena.analysis.frames import LiveFrames
from arena.analysis.text import option_words
from arena.files import describe_error, read_file, write_atomic
from arena.match.player import HumanPlayer, Player
from arena.rules.explain import explain_ruleset
from protocol import __version__
from protocol.codec import decode_from_bot, encode_json, encode_line, printable_lines
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
ADDRESS_KEY = re.compile(r"/([\w-]{20,100})/mcp")
"""The key in an address of a seat."""
OWNER_ONLY = 0o600
"""The mode of the file with the address: whoever has it may play."""
HOST = "127.0.0.1"
PORT_WAIT_S, PORT_LOOK_S = 10.0, 0.1
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
    "An agent's seat takes the packages mcp and hypercorn: pip install 'boneyard-arena[agents]'."
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
        self._changed = trio.Event()
        self._following = trio.CancelScope()
        self.closed = trio.Event()
        """Set once no client can come any more."""

    async def show(self, person: HumanPlayer, _: LiveFrames, ready: trio.Event) -> bool:
        """Play a game to its end; return False if the agent leaves before."""
        ready.set()
        await self.follow(person, GameOver)
        return self._is_over

    async def follow(self, player: HumanPlayer, end: type[GameOver | Bye]) -> None:
        """Tell agents what the referee tells this player, until a message of this kind."""
        self._player = player
        with self._following:
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
        if not isinstance(message, Ask):
            self._messages.append(message)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool answers. Raises ToolError."""
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
        news = [encode_json(message).decode() for message in self._messages]
        self._messages.clear()
        if question := self._open:
            return "\n".join([*news, *_question_lines(question)])
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
            raise ToolError("No question is open now. Call `question`.")
        if not self._player.choose(number, choice):
            last = len(question.options) - 1
            raise ToolError(f"Question {question.id} is open; its options are 0 to {last}.")
        return "Taken. Call `question` for the next one."


def _question_lines(question: Ask) -> list[str]:
    options = [f"{index}: {option_words(option)}" for index, option in enumerate(question.options)]
    return [
        encode_json(question).decode(),
        *options,
        f"Answer within {question.time_ms} ms: choose(id={question.id}, choice=...)",
    ]


def need_agents() -> None:
    """Raise UserError if the packages for agents are not installed."""
    try:
        import hypercorn  # noqa: F401
        import mcp  # noqa: F401
    except ModuleNotFoundError as error:
        raise UserError(NO_AGENTS) from error


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


class _Pipe:
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


def _kept_key(file: Path) -> str:
    with suppress(FileNotFoundError):
        key = ADDRESS_KEY.search(read_file(file).decode(errors="replace"))
        return key[1] if key else ""
    return ""


async def sit_as_bot(port: int, file: Path) -> None:
    """Play as a bot on stdin and stdout for the agents that come to a port; write its address.

    The file is for its owner alone. A bot that is started again finds its key in it, so that an
    agent may stay. Raises UserError.
    """
    seat, player, began = AgentSeat(), HumanPlayer(), trio.Event()
    player.set_listener(_Pipe(player))

    async def serve() -> None:
        # The next sitting's bot greets while this one's still has the port.
        await began.wait()
        async with serve_port(seat, port, _kept_key(file)) as address:
            file.parent.mkdir(exist_ok=True)
            write_atomic(file, [f"{address}\n".encode()], OWNER_ONLY)
            await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        nursery.start_soon(seat.follow, player, Bye)
        async for line in trio.wrap_file(sys.stdin.buffer):
            message = decode_from_bot(line)
            if isinstance(message, Hello):
                _write(encode_line(BotHello(name="agent", version=__version__)))
            elif not isinstance(message, UnknownMessage):
                player.send(line)
                began.set()
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def serve_pipe(seat: AgentSeat) -> AsyncIterator[None]:
    """Serve the client at stdin and stdout while the block runs; what we print goes to stderr."""
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        await server.run(reader, writer, server.create_initialization_options())
        seat.leave()

    server = _server(seat)
    async with stdio_server() as (reader, writer), trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        with redirect_stdout(sys.stderr):
            yield
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def serve_port(seat: AgentSeat, port: int, key: str = "") -> AsyncIterator[str]:
    """Serve clients of this machine while the block runs; yield the address, which has a key.

    With port 0 the machine chooses one. Raises UserError if the port is not available.
    """
    from hypercorn.config import Config
    from hypercorn.trio import serve

    path, config = f"/{key or secrets.token_urlsafe()}/mcp", Config()
    listener = await _listen(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}{path}"
    config.bind, config.errorlog = [f"fd://{listener.detach()}"], None
    app: Any = _server(seat).streamable_http_app(
        # Without sessions a client may go on with the next process of a bot.
        streamable_http_path=path,
        stateless_http=True,
        json_response=True,
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(serve, app, config, shutdown_trigger=trio.sleep_forever))
        yield address
        nursery.cancel_scope.cancel()


async def _listen(port: int) -> trio.socket.SocketType:
    """Return a socket on a port of this machine, once the process before has left it."""
    give_up_at = trio.current_time() + PORT_WAIT_S
    while True:
        try:
            return (await trio.open_tcp_listeners(port, host=HOST))[0].socket
        except OSError as error:
            if trio.current_time() > give_up_at:
                reason = describe_error(error)
                raise UserError(f"Cannot serve on port {port}: {reason}.") from error
            await trio.sleep(PORT_LOOK_S)


def serve_agents(
    seat: AgentSeat, way: AgentWay, port: int
) -> AbstractAsyncContextManager[str | None]:
    """Serve agents at stdin and stdout, or on a port; yield the address of the port."""
    return serve_pipe(seat) if way == "stdio" else serve_port(seat, port)
