"""Bots that withdraw from a begun event: what is kept, named and refused, from file to `verify`."""

from pathlib import Path

import pytest

from arena.logs.gamelog import read_games
from tests.support.events import FOUR, boneyard, fits, ledger, run_file
from tests.support.fast_run import slow_except
from tests.support.tables import FIRST_BOT


def event_file(folder: Path, bots: str, *lines: str) -> Path:
    path = folder / "event.toml"
    entries = "".join(f'[[bots]]\nname = "{name}"\n' for name in bots.split())
    path.write_text(
        'rules = { base = "draw", target = 1 }\n' + "\n".join(lines) + f"\n{entries}"
        '[[bots]]\nname = "mine"\nrun = ["{python}", "mine.py"]\n'
    )
    return path


def cut_run(out: Path) -> set[str]:
    """Leave of an event what a kill leaves; return the games that have a result."""
    for path in out.glob("*.*"):
        if path.name not in ("event.json", "commitments.jsonl"):
            path.unlink()
    *_, last = sorted((out / "games").glob("*mine*"))
    data = last.read_bytes()
    last.write_bytes(data[: len(data) * 2 // 3])
    logs = (out / "games").iterdir()
    return {game.game.game for log in logs for game in read_games(log) if game.result}


SWISS = 'boards = 1\nformat = {{ type = "swiss", rounds = {} }}'
KNOCKOUT = 'boards = 1\nformat = { type = "knockout" }'
FORMATS = {
    "round-robin": ("boards = 1", "boards = 2"),
    "swiss": (SWISS.format(2), SWISS.format(3)),
    "knockout": (KNOCKOUT, KNOCKOUT),
}
"""The lines of an event before a bot withdraws, and after it."""


# Slow: the schedules of other formats.
@pytest.mark.parametrize("form", slow_except(["swiss"], FORMATS))
def test_a_killed_event_goes_on_without_a_withdrawn_bot(tmp_path: Path, form: str) -> None:
    out, bot = tmp_path / "out", tmp_path / "mine.py"
    bot.write_text(FIRST_BOT)
    before, after = FORMATS[form]
    bots = " ".join(FOUR[:3])
    run_file(event_file(tmp_path, bots, before), out)
    games = cut_run(out)
    bot.unlink()
    path = event_file(tmp_path, bots, after, 'withdrawn = ["mine"]')
    sentence = "mine withdrew after board "
    assert sentence in run_file(path, out)
    results = {result.game: result for result in ledger(out)}
    assert games <= results.keys()
    assert not [game for game in results.keys() - games if "mine" in game]
    assert sentence in boneyard("show", str(out))
    assert sentence in (out / "report.md").read_text()
    assert sentence in boneyard("verify", str(out))
    assert "cannot be verified yet" not in boneyard("verify", str(out))
    plan = (out / "event.json").read_bytes()
    assert sentence not in run_file(path, out).partition("\n\n")[0]
    assert (out / "event.json").read_bytes() == plan
    # It is there again, with its files, and without its line.
    bot.write_text(FIRST_BOT)
    output = run_file(event_file(tmp_path, bots, after), out, code=2)
    assert "bot mine has withdrawn and cannot come back" in output
    bot.write_text(f"{FIRST_BOT}\n# better\n")
    output = run_file(event_file(tmp_path, bots, after), out, code=2)
    assert "bot mine has withdrawn and cannot come back" in output
    assert fits(out)


def test_withdrawals_are_refused_in_a_sentence(tmp_path: Path) -> None:
    out, bot = tmp_path / "out", tmp_path / "mine.py"
    bot.write_text(FIRST_BOT)
    leaves = 'withdrawn = ["mine"]'
    output = run_file(event_file(tmp_path, "first", leaves), out, code=2)
    assert "mine cannot withdraw before the event has begun: leave it out" in output
    assert not out.exists()
    run_file(event_file(tmp_path, "first", "boards = 1"), out)
    output = run_file(event_file(tmp_path, "first", "boards = 1", leaves), out, code=2)
    assert "1 bot would be left, too few for a table of 2" in output
    unknown = event_file(tmp_path, "first", "boards = 1", 'withdrawn = ["mien"]')
    output = run_file(unknown, out, code=2)
    assert "Unknown bot in withdrawn: 'mien': did you mean mine?" in output
    output = boneyard("run", "--plan", str(event_file(tmp_path, "first", leaves)), code=2)
    assert "--plan is for an event that has not begun" in output
    assert fits(out)


def test_verify_finds_a_game_after_a_withdrawal(tmp_path: Path) -> None:
    out, bot = tmp_path / "out", tmp_path / "mine.py"
    bot.write_text(FIRST_BOT)
    run_file(event_file(tmp_path, "first greedy", "boards = 2"), out)
    run_file(event_file(tmp_path, "first greedy", "boards = 2", 'withdrawn = ["mine"]'), out)
    plan = out / "event.json"
    plan.write_text(plan.read_text().replace('"withdrawn_after": 2', '"withdrawn_after": 1'))
    output = boneyard("verify", str(out), code=1)
    assert "event.json: mine played 2.first.mine after it withdrew" in output
