"""The functions of `import boneyard`: each does what its command does, also in a running loop."""

import asyncio
import signal
import subprocess
import sys
import time
from functools import cache
from math import floor
from pathlib import Path
from typing import Any

import pytest

from arena.training.policy import Question
from protocol.errors import UserError
from tests.support.events import boneyard
from tournaments.cli import notebook

SHORT = ["target=20"]
FIRST = 0
STRANGE = Path("strange")
INTERRUPTED = """
import asyncio
from tournaments.cli import entry as boneyard
async def cell():
    boneyard.run(["greedy", "random"], boards=60, seed=1, jobs=1, out="event")
try:
    asyncio.run(cell())
except KeyboardInterrupt:
    print("interrupted", flush=True)
result = boneyard.run(["greedy", "random"], boards=60, seed=1, jobs=2, out="event")
print(len(result.games["game"]))
"""


@cache
def zero(size: int) -> int:
    return FIRST * floor(size)


def _first(question: Question) -> int:
    (strange,) = {len(options) for options in [question.ask.options]}
    return nothing_of(strange)


nothing_of = zero


def choose(question: Question) -> int:
    """Choose the first option, by all kinds of names that a notebook may have."""
    return _first(question)


def strange(question: Question) -> int:
    return hash(STRANGE) % len(question.ask.options)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Play a function against a sample bot within a running loop, as a cell of a notebook does."""

    async def cell() -> notebook.EventResult:
        return notebook.run([choose, "greedy"], boards=4, seed=1, set=SHORT, out="called")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        # The browser that tests of pages share keeps a loop running in this thread.
        loop = asyncio.events._get_running_loop()
        asyncio.events._set_running_loop(None)
        try:
            return asyncio.run(cell())
        finally:
            asyncio.events._set_running_loop(loop)


def test_the_call_and_the_command_write_the_same_ledger(result: notebook.EventResult) -> None:
    home = result.folder.parent
    file = str(home / notebook.FUNCTIONS / "choose" / "choose.py")
    boneyard(
        *("run", file, "greedy", "--boards", "4", "--seed", "1", "--set", *SHORT),
        *("--out", str(home / "commanded")),
    )
    for name in ("ledger.jsonl", "results.json", "games.csv"):
        call_file, command_file = (home / folder / name for folder in ("called", "commanded"))
        assert call_file.read_bytes() == command_file.read_bytes()


def test_columns_are_those_of_the_files(result: notebook.EventResult) -> None:
    for name, columns in (("ratings", result.ratings), ("games", result.games)):
        head, *lines = (result.folder / f"{name}.csv").read_text().splitlines()
        assert head.split(",") == [*columns]
        assert {len(column) for column in columns.values()} == {len(lines)}
    assert len(result.games["game"]) == 4 * 2 * 2
    decisions = result.decisions
    assert len({len(column) for column in decisions.values()}) == 1
    mine = [
        choice
        for name, choice in zip(decisions["entrant"], decisions["choice"], strict=True)
        if name == "choose"
    ]
    assert set(mine) == {0}
    assert len({len(vector) for vector in decisions["vector"]}) == 1


def test_a_result_shows_its_report_and_its_games(result: notebook.EventResult) -> None:
    html = result._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert "choose" in html
    assert "light dark" in html
    assert result.verdict in repr(result)
    game = result.game(3)
    assert result.game(result.games["game"][2 * 3]).html == game.html
    assert result.games["game"][2 * 3] in game.html
    assert notebook.load(result.folder).verdict == result.verdict
    with pytest.raises(IndexError):
        result.game(8)


def test_a_winner_is_named_only_if_the_verdict_does(result: notebook.EventResult) -> None:
    assert (result.winner is None) == ("better" not in result.verdict)


def test_explain_prints_the_words_of_the_command(
    result: notebook.EventResult, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook.explain(result.folder, bot="greedy")
    folder = str(result.folder)
    assert capsys.readouterr().out == boneyard("explain", folder, "--bot", "greedy")


# Slow: the command's own tests check bots.
@pytest.mark.slow
def test_check_prints_the_words_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    (report,) = notebook.check("greedy", quick=True)
    assert report.verdict == "passed"
    assert "greedy passed" in capsys.readouterr().out


def test_impossible_bots_and_options_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    number = 1

    def inner(question: Question) -> int:
        return number % len(question.ask.options)

    for bot, words in (
        (strange, "STRANGE, whose value cannot be written"),
        (inner, "number of the function around it"),
        (lambda _: 0, "needs a name"),
    ):
        with pytest.raises(UserError, match=words):
            notebook.run([bot, "greedy"])
    with pytest.raises(UserError, match="board"):
        notebook.run(["greedy", "random"], board=5)
    assert not (tmp_path / "runs").exists()


# Slow: 120 games.
@pytest.mark.slow
def test_an_interrupt_stops_the_games_and_the_same_call_goes_on(tmp_path: Path) -> None:
    with subprocess.Popen(
        (sys.executable, "-c", INTERRUPTED), cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        ledger = tmp_path / "event" / "ledger.jsonl"
        while not (ledger.exists() and ledger.stat().st_size) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        words, _ = process.communicate(timeout=200)
    assert words.split() == ["interrupted", "240"]
