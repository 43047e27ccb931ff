"""The agent's seat: its tools by themselves, and played by the reference client of the protocol."""

import json
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

import pytest
import trio
import trio.testing
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from arena.match.player import HumanPlayer
from arena.ui.agent import TURN_WAIT_S, AgentSeat, AgentWay, ToolError
from protocol.messages import Bye
from tests.support.bots import ask, game
from tests.support.events import BONEYARD, boneyard, fits, games_of, started

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
    with pytest.raises(ToolError, match="No question is open"):
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


async def test_a_question_that_does_not_come_is_waited_for_as_long_as_clients_wait(
    seat: tuple[AgentSeat, HumanPlayer], autojump_clock: trio.testing.MockClock
) -> None:
    tools, _ = seat
    began = autojump_clock.current_time()
    assert "call this again" in await tools.call("question", {})
    assert autojump_clock.current_time() - began == TURN_WAIT_S


# --- real processes ---


async def play(calls: Client, answers: dict[int, int]) -> None:
    """Take the first option of each question until the end, and note the answers."""
    while True:
        lines = said(await calls.call_tool("question", {})).split("\n")
        questions = [json.loads(line) for line in lines if line.startswith('{"type":"ask"')]
        for question in questions:
            result = await calls.call_tool("choose", {"id": question["id"], "choice": 0})
            assert not result.is_error, result
            answers[question["id"]] = 0
        if not questions:
            assert lines[-1] == "That was all."
            return


def said(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


async def test_the_reference_client_plays_a_game_by_the_commands_own_pipe(tmp_path: Path) -> None:
    words = ("play", "first", "--sandbox", "off", "--set", "target=10", "--out", f"{tmp_path}")
    command = StdioServerParameters(
        command=sys.executable, args=[*BONEYARD[1:], *words, "--mcp", "stdio"]
    )
    answers: dict[int, int] = {}
    async with Client(stdio_client(command)) as calls:
        names = [tool.name for tool in (await calls.list_tools()).tools]
        assert names == ["rules", "question", "choose"]
        wrong = await calls.call_tool("choose", {"id": 1})
        assert wrong.is_error
        await play(calls, answers)
    assert answers
    assert boneyard("verify", f"{tmp_path}").startswith("OK: 1 game")


async def test_an_agent_plays_an_event_as_a_bot(tmp_path: Path) -> None:
    """Each sitting has a process of its own; the agent goes on with the next at one address."""
    address, out, answers = tmp_path / "a/agent.url", tmp_path / "event", dict[int, int]()
    bot = shlex.join([*BONEYARD, "play", "--mcp", "bot", "--out", f"{address.parent}"])
    words = (bot, "greedy", "--boards", "2", "--set", "target=10", "--move-ms", "60000")
    with started(out, *words) as process:
        while process.poll() is None:
            # The next process may not be there yet.
            with suppress(FileNotFoundError, ExceptionGroup):
                async with Client(address.read_text().strip()) as calls:
                    await play(calls, answers)
            await trio.sleep(0.05)
    assert answers
    assert address.stat().st_mode & 0o077 == 0
    assert fits(out)
    assert [logged.result and logged.result.fouls for logged in games_of(out)] == [()] * 4


@pytest.mark.parametrize("way", get_args(AgentWay))
def test_without_its_packages_a_seat_names_the_line_that_installs_them(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert "pip install 'boneyard-arena[agents]'" in boneyard("play", "--mcp", way, code=2)
