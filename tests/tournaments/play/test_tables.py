"""Bots that play at several tables at once: same results, each fault costs what it must."""

from collections import Counter
from pathlib import Path

import pytest

from arena.match.bot_pool import MultiplexedBot
from arena.match.bot_process import BotProcess
from arena.match.poller import Poller
from arena.match.referee import QUESTIONS_A_GAME
from arena.sandbox.command import OFF, Limits
from arena.sandbox.process import Sandbox
from protocol.codec import encode_line
from protocol.messages import Choose
from protocol.records import FoulRecord
from tests.support.events import boneyard, ledger, records_of, run_file
from tests.support.fast_run import slow_except
from tests.support.tables import children, sample

PROGRAM = """
import json, os, sys, time
FOLDER = os.path.dirname(os.path.abspath(__file__))
def said(name, what):
    with open(os.path.join(FOLDER, name), "a") as file:
        print(what, file=file)
def many(name):
    path = os.path.join(FOLDER, name)
    return len(open(path).readlines()) if os.path.exists(path) else 0
live, waiting, asked = set(), [], 0
said(NAME + "-starts", os.getpid())
def answer(id):
    print(json.dumps({"type": "choose", "id": id, "choice": 0}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        hello = {"type": "hello", "name": NAME, "version": "1", "tables": TABLES}
        print(json.dumps(hello), flush=True)
    elif kind == "game":
        live.add(message["game"])
        said(NAME + "-games", "%d %d" % (os.getpid(), message["game"]))
        said(NAME + "-live", len(live))
    elif kind == "end":
        live.discard(message["game"])
    elif kind == "ask":
        asked += 1
        HOW
    else:
        continue
    PATIENT
"""
AT_ONCE = "answer(message['id'])"
GATHERED = "waiting.append(message['id'])"
"""Answers come when every game that is live waits for one: the last asked is answered first."""
ALL = """if live and len(waiting) == len(live):
        while waiting: answer(waiting.pop())"""


def event(
    folder: Path,
    action: str,
    *,
    patient: str = "pass",
    tables: int = 4,
    boards: int = 6,
    more: str = "",
) -> Path:
    """Return two bots at this many tables: one is odd, the other answers at once."""
    folder.mkdir(exist_ok=True)
    names = {"odd": (action, patient), "calm": (AT_ONCE, "pass")}
    text = f'name = "cup"\nboards = {boards}\nrules = "dutch"\n{more}\n'
    for name, (does, waits) in names.items():
        source = PROGRAM.replace("NAME", repr(name)).replace("TABLES", str(tables))
        (folder / f"{name}.py").write_text(source.replace("HOW", does).replace("PATIENT", waits))
        text += f'[[bots]]\nname = "{name}"\nrun = ["{{python}}", "-I", "-S", "{name}.py"]\n'
    path = folder / "cup.toml"
    path.write_text(text)
    return path


def read_notes(folder: Path, name: str) -> list[str]:
    return (folder / name).read_text().splitlines()


# Slow: games played at once end as games played in turn, to the byte.
@pytest.mark.slow
def test_games_at_once_end_as_games_in_turn(tmp_path: Path) -> None:
    """Answers that come together, the last question first, make the same ledger to the byte."""
    run_file(event(tmp_path / "many", GATHERED, patient=ALL), tmp_path / "a")
    run_file(event(tmp_path / "one", AT_ONCE, tables=1), tmp_path / "b")
    assert (tmp_path / "a/ledger.jsonl").read_bytes() == (tmp_path / "b/ledger.jsonl").read_bytes()
    assert max(map(int, read_notes(tmp_path / "many", "odd-live"))) == 4
    assert max(map(int, read_notes(tmp_path / "one", "odd-live"))) == 1
    assert "OK: " in boneyard("verify", str(tmp_path / "a"))
    # One process a bot and sitting (and one at roll call); none meets a board twice.
    met = read_notes(tmp_path / "many", "odd-games")
    assert len(met) == len(set(met)) == 12
    assert len(read_notes(tmp_path / "many", "odd-starts")) == 1 + 2
    assert not children()


CHOOSE = '{"type": "choose", "id": %d, "choice": 900}'
WRONG = {
    "illegal": f"print('{CHOOSE}' % message['id'], flush=True)",
    "malformed": 'print("oops", flush=True)',
    "gone": "sys.exit(3)",
    "flooding": f"print(chr(10).join(['{CHOOSE}' % 5] * 20), flush=True)",
}
ONE_FOUL = """if asked == 9 and not many('odd-once'):
            said('odd-once', os.getpid())
            {}
        else: answer(message['id'])"""
"""The first process that is asked so often fouls, and no later one."""


# Slow: whatever the foul, it costs the games that the process was in and no other.
@pytest.mark.parametrize("foul", slow_except(["illegal"], WRONG))
def test_a_foul_costs_the_games_that_the_process_was_in(tmp_path: Path, foul: str) -> None:
    """It has only one process; the games after that are played by a fresh one."""
    bots = tmp_path / "bots"
    run_file(event(bots, ONE_FOUL.replace("{}", WRONG[foul])), tmp_path / "out")
    results, fouls = ledger(tmp_path / "out"), records_of(tmp_path / "out", FoulRecord)
    assert len(results) == 12
    losses = [result for result in results if result.fouls]
    assert 2 <= len(losses) <= 4
    assert {result.seats[fault.seat] for result in losses for fault in result.fouls} == {"odd"}
    kinds = Counter(record.foul for record in fouls)
    if foul == "illegal":
        assert kinds == {"illegal": 1, "gone": len(losses) - 1}
        assert any("another game" in record.detail for record in fouls)
    else:
        assert kinds == {foul: len(losses)}
    assert len(read_notes(bots, "odd-starts")) == 1 + 3
    met = read_notes(bots, "odd-games")
    assert len(met) == len(set(met)) == 12
    assert "OK: " in boneyard("verify", str(tmp_path / "out"))
    assert not children()


def test_games_are_played_in_turn_if_fouls_cost_the_sitting(tmp_path: Path) -> None:
    bots = tmp_path / "bots"
    path = event(bots, AT_ONCE, boards=2, more='[fouls]\nlose = "sitting"\nafter = 1\n')
    run_file(path, tmp_path / "out")
    assert set(read_notes(bots, "odd-live")) == {"1"}


class Piped(BotProcess):
    """Stands for a bot of whose lines nothing was read yet."""

    def __init__(self, *lines: bytes) -> None:
        self._pipe, self._read = [*lines], list[bytes]()
        self.fault, self.read_at = None, 0.0

    def take_in(self) -> None:
        self._read += self._pipe
        self._pipe = []

    def next_line(self) -> bytes | None:
        return self._read.pop(0) if self._read else None


def test_a_table_whose_time_is_up_finds_its_line_behind_those_of_other_tables() -> None:
    lines = [encode_line(Choose(id=game * QUESTIONS_A_GAME, choice=0))[:-1] for game in (1, 2)]
    channels = MultiplexedBot(Poller(), Piped(*lines))
    first, second = channels.open_channel(1), channels.open_channel(2)
    second.take_in()
    assert second.next_line() == lines[1]
    assert first.next_line() == lines[0]


def content(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_lines_to_a_bot_that_has_exited_are_dropped(tmp_path: Path) -> None:
    """Its descriptor may be another's by then: the next one to be opened gets its number."""
    bot = BotProcess(sample(), Sandbox(OFF, Limits()))
    channels = MultiplexedBot(Poller(), bot)
    channels.open_channel(1).send(b"late\n")
    await bot.shut_down(b"bye\n")
    files = [(tmp_path / f"{number}").open("wb", buffering=0) for number in range(8)]
    channels.flush_all()
    for file in files:
        file.close()
    assert content(tmp_path) == b""
