"""The agent's seat: its tools by themselves, and played by the reference client of the protocol."""

import json
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
import trio
import trio.testing

from arena.analysis.frames import LiveFrames
from arena.match.player import HumanPlayer
from arena.match.referee import GameSetup, Referee
from arena.ui import agent
from arena.ui.agent import TURN_WAIT_S, AgentSeat, AgentWay, ToolError, agent_address
from protocol.errors import UserError
from protocol.messages import Bye, Clock
from tests.support.bots import HELLO, ask, game
from tests.support.events import BONEYARD, boneyard, fits, games_of, start_run
from tests.support.fast_run import slow_except
from tests.support.games import SMALL

if TYPE_CHECKING:
    from mcp.client.client import Client

HAND = [(6, 5), (2, 1), (3, 3)]


@pytest.fixture
async def seat(nursery: trio.Nursery) -> tuple[AgentSeat, HumanPlayer]:
    """Return a seat that follows its player."""
    seat, player = AgentSeat(), HumanPlayer()
    nursery.start_soon(seat.follow, player, Bye)
    await trio.testing.wait_all_tasks_blocked()
    return seat, player


async def tell(player: HumanPlayer, *lines: bytes) -> None:
    for line in lines:
        player.send(line)
    await trio.testing.wait_all_tasks_blocked()


async def test_a_question_shows_what_happened_and_numbered_options(
    seat: tuple[AgentSeat, HumanPlayer],
) -> None:
    tools, player = seat
    await tell(player, game(), ask(1, HAND))
    first, question, *options, _ = (await tools.call("question", {})).split("\n")
    assert json.loads(first)["type"] == "game"
    assert json.loads(question)["hand"] == [list(tile) for tile in HAND]
    assert options[0] == "0: [6|5]"
    assert "Each player" in await tools.call("rules", {})


async def test_the_first_answer_of_several_clients_counts(
    seat: tuple[AgentSeat, HumanPlayer],
) -> None:
    tools, player = seat
    await tell(player, game(), ask(1, HAND))
    assert "Taken" in await tools.call("choose", {"id": 1, "choice": 2})
    with pytest.raises(ToolError, match="Question 1 is closed"):
        await tools.call("choose", {"id": 1, "choice": 0})
    assert json.loads(player.next_line() or b"")["choice"] == 2


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("choose", {"id": 2, "choice": 0}, "Question 1 is open; its options are 0 to 3"),
        ("choose", {"id": 1, "choice": 4}, "its options are 0 to 3"),
        ("choose", {"id": 1, "choice": -1}, "its options are 0 to 3"),
        ("choose", {"id": 1, "choice": True}, "two whole numbers"),
        ("choose", {"id": 1, "choice": "0"}, "two whole numbers"),
        ("choose", {"id": 1, "choice": 10**400}, "its options are 0 to 3"),
        ("choose", {"id": 1}, "two whole numbers"),
        ("question", {"seat": 1}, "takes no arguments"),
        ("peek", {}, "There is no tool 'peek'"),
    ],
)
async def test_a_wrong_call_says_why_and_changes_nothing(
    seat: tuple[AgentSeat, HumanPlayer], tool: str, arguments: dict[str, Any], why: str
) -> None:
    tools, player = seat
    await tell(player, game(), ask(1, HAND))
    with pytest.raises(ToolError, match=re.escape(why)):
        await tools.call(tool, arguments)
    assert player.question


async def test_a_question_says_again_what_happened_and_how_much_time_is_left(
    seat: tuple[AgentSeat, HumanPlayer], autojump_clock: trio.testing.MockClock
) -> None:
    """A client may have given up on the call before."""
    tools, player = seat
    await tell(player, game(), ask(1, HAND))
    first = (await tools.call("question", {})).split("\n")
    autojump_clock.jump(0.5)
    second = (await tools.call("question", {})).split("\n")
    assert second[:-1] == first[:-1]
    left = [int(re.findall(r"\d+", lines[-1])[0]) for lines in (first, second)]
    assert left[0] - left[1] == 500


async def test_the_game_waits_for_its_agent(nursery: trio.Nursery) -> None:
    tools, person, ready = AgentSeat(), HumanPlayer(), trio.Event()
    live = LiveFrames(Referee(GameSetup("g", 1, 1, ("a", "b"), SMALL, Clock()), b"seed"), 0)
    nursery.start_soon(tools.show, person, live, ready)
    await trio.testing.wait_all_tasks_blocked()
    assert not ready.is_set()
    with pytest.raises(ToolError):
        await tools.call("rules", {})
    await ready.wait()


async def test_a_question_that_does_not_come_is_waited_for_as_long_as_clients_wait(
    seat: tuple[AgentSeat, HumanPlayer], autojump_clock: trio.testing.MockClock
) -> None:
    tools, _ = seat
    began = autojump_clock.current_time()
    assert "call this again" in await tools.call("question", {})
    assert autojump_clock.current_time() - began == TURN_WAIT_S


# --- real processes ---


async def play(calls: "Client", answers: dict[int, int]) -> None:
    """Take the first option of each question until the end, and note the answers."""
    while True:
        lines = content_text(await calls.call_tool("question", {})).split("\n")
        questions = [json.loads(line) for line in lines if line.startswith('{"type":"ask"')]
        for question in questions:
            result = await calls.call_tool("choose", {"id": question["id"], "choice": 0})
            assert not result.is_error, result
            answers[question["id"]] = 0
        if not questions:
            assert lines[-1] == "That was all."
            return


def content_text(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def bot_command(state: Path, port: int, *changes: str) -> list[str]:
    """Return the command of a bot for agents that keeps its secret there, with other changes."""
    keeps = f"agent.secret_folder = lambda: Path({f'{state}'!r})"
    parts = ("from pathlib import Path", "import arena.ui.agent as agent", keeps, *changes)
    program = "; ".join((*parts, BONEYARD[-1]))
    return [*BONEYARD[:-1], program, "play", "--mcp", "bot", "--port", f"{port}"]


async def test_the_reference_client_plays_a_game_by_the_commands_own_pipe(tmp_path: Path) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    words = ("play", "first", "--sandbox", "off", "--set", "target=1", "--out", f"{tmp_path}")
    command = StdioServerParameters(
        command=sys.executable, args=[*BONEYARD[1:], *words, "--mcp", "stdio"]
    )
    answers: dict[int, int] = {}
    async with Client(stdio_client(command)) as calls:
        names = [tool.name for tool in (await calls.list_tools()).tools]
        assert names == ["rules", "question", "choose"]
        refusal = await calls.call_tool("choose", {"id": 1})
        assert refusal.is_error
        await play(calls, answers)
    assert answers
    assert boneyard("verify", f"{tmp_path}").startswith("OK: 1 game")


# Slow: each of its three processes loads the protocol's package, for a second.
@pytest.mark.slow
async def test_an_agent_plays_an_event_as_a_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sitting has a process of its own; the agent goes on with the next at one address."""
    from mcp.client.client import Client

    monkeypatch.setattr(agent, "secret_folder", lambda: tmp_path / "state")
    out, answers = tmp_path / "event", dict[int, int]()
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    await listener.aclose()
    bot = shlex.join(bot_command(tmp_path / "state", port))
    words = (bot, "greedy", "--boards", "1", "--set", "target=1", "--move-ms", "60000")
    with start_run(out, *words) as process:
        while process.poll() is None:
            # The next process may not be there yet.
            with suppress(ExceptionGroup):
                async with Client(agent_address(port)) as calls:
                    await play(calls, answers)
            await trio.sleep(0.05)
    assert answers
    assert fits(out)
    assert [logged.result and logged.result.fouls for logged in games_of(out)] == [()] * 2


def test_the_address_of_a_bot_stays_and_is_its_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent, "secret_folder", lambda: tmp_path / "state/agents")
    address = agent_address(8124)
    assert address == agent_address(8124)
    assert address.rsplit("/", 2)[1] != agent_address(8125).rsplit("/", 2)[1]
    assert (tmp_path / "state/agents/secret").stat().st_mode & 0o077 == 0
    (tmp_path / "state/agents").chmod(0o777)
    with pytest.raises(UserError, match="not yours alone"):
        agent_address(8124)


@pytest.mark.parametrize(
    ("port", "line", "why"),
    slow_except(
        [(8124, "junk\n", "hears a referee")],
        [(8124, "junk\n", "hears a referee"), (0, "", "name a --port")],
    ),
)
def test_a_bot_without_referee_or_port_says_so_at_once(
    tmp_path: Path, port: int, line: str, why: str
) -> None:
    command = bot_command(tmp_path / "state", port)
    process = subprocess.run(command, input=line, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stdout) == (2, "")
    assert why in process.stderr
    assert "Traceback" not in process.stderr


def test_a_bot_whose_port_is_taken_ends_with_the_reason(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = bot_command(tmp_path / "state", port, "agent.PORT_WAIT_S = 0")
        with start_piped(command) as bot:
            assert bot.stdin
            assert bot.stderr
            bot.stdin.write(b"".join(line + b"\n" for line in (HELLO, game(), ask(1, HAND))))
            bot.stdin.flush()
            assert b"Cannot listen on port" in bot.stderr.read()
            assert bot.wait() == 2


def start_piped(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


@pytest.mark.parametrize("number", slow_except([signal.SIGINT], [signal.SIGINT, signal.SIGTERM]))
def test_a_signal_ends_the_seat_while_its_client_is_silent(
    tmp_path: Path, number: signal.Signals
) -> None:
    words = ("play", "first", "--sandbox", "off", "--out", f"{tmp_path}", "--mcp", "stdio")
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with start_piped((*BONEYARD, *words)) as seat:
        assert seat.stdin
        assert seat.stdout
        seat.stdin.write(json.dumps(request).encode() + b"\n")
        seat.stdin.flush()
        seat.stdout.readline()
        seat.send_signal(number)
        assert seat.wait(timeout=60) == 130


@pytest.mark.parametrize("way", get_args(AgentWay))
def test_without_its_packages_a_seat_names_the_line_that_installs_them(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "pip install '.[agents]'" in boneyard("play", "--mcp", way, code=2)
