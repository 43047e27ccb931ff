"""Practice, and the notes that a league writes for a bot's author alone."""

import os
import re
import subprocess
import tarfile
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.logs import checksummed
from protocol.errors import UserError
from tests.support.events import boneyard
from tests.support.made_up import PASSED
from tournaments.league import loop, practice, update
from tournaments.league.pairing import able_bots, practice_round
from tournaments.league.settings import BotPermissions, LeagueFolder
from tournaments.league.state import LeagueData, read_league

GUIDE = Path(__file__).parents[3] / "tournaments" / "LEAGUE.md"
SETTINGS = """\
house = ["first", "greedy"]
sandbox = "off"
quota = { practice_a_day = 1 }

[[divisions]]
name = "short"
rules = { base = "draw", target = 10 }
boards_a_table = 1
boards_a_week = 14
"""
BOT = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type": "hello", "name": "x", "version": "1"}', flush=True)
    elif message["type"] == "ask":
        print("SECRET of NAME \\x1b[2J", file=sys.stderr, flush=True)
        print(json.dumps({"type": "choose", "id": message["id"], "choice": CHOICE}), flush=True)
"""
SUNDAY = datetime(2026, 11, 22, 10, tzinfo=UTC)
NOW = ("--once", "--now", "2026-11-22T10:00")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a league whose pushes all pass the check."""
    monkeypatch.setattr(update, "map_apart", lambda _, pushes: ((push, PASSED) for push in pushes))
    (tmp_path / "bots").mkdir()
    (tmp_path / "league.toml").write_text(SETTINGS)
    push(tmp_path, "ada", 'against = ["ben", "greedy"]')
    push(tmp_path, "ben")
    push(tmp_path, "carl", 'against = ["adda"]', choice="99")
    return tmp_path


def push(place: Path, name: str, lines: str = "", choice: str = "0") -> None:
    """Push a bot that prints a secret for each question, and perhaps asks for practice."""
    folder = place / "bots" / name
    folder.mkdir(exist_ok=True)
    (folder / "main.py").write_text(BOT.replace("NAME", name).replace("CHOICE", choice))
    (folder / "bot.toml").write_text(f'run = ["{{python}}", "main.py"]\n[practice]\n{lines}\n')


def public_bytes(place: Path) -> bytes:
    """Return all bytes of the site, and what its logs unpack to."""
    data = BytesIO()
    for path in (place / "site").rglob("*"):
        if path.is_file():
            data.write(path.read_bytes())
    for path in (place / "site").glob("rounds/*/*/games/*"):
        with checksummed.open_any(path) as file:
            data.write(file.read() if file else b"")
    return data.getvalue()


def test_only_the_author_sees_practice_stderr_and_fouls(place: Path) -> None:
    """Once for each version, behind the rated boards, and so often a day; nothing is public."""
    boneyard("league", str(place), *NOW)
    rounds = read_league(place).divisions["short"].rounds
    log = (place / "league.log").read_text()
    assert log.index(f"over      short round {len(rounds)}") < log.index("practice of ada")
    ada, carl = place / "results" / "ada", place / "results" / "carl"
    assert place.joinpath("results").stat().st_mode & 0o77 == 0
    answer = (ada / "practice-0001.txt").read_text()
    assert ", against greedy" in answer
    assert ", against ben" in answer
    assert "did you mean ada?" in (carl / "practice-0001.txt").read_text()
    texts = [path.read_text() for path in ada.rglob("*.txt")]
    assert all("SECRET of ada \\x1b[2J" in text for text in texts)
    fouls = "".join(path.read_text() for path in (carl / "short").iterdir())
    assert "illegal: Choice 99" in fouls
    assert "a foul, against" in fouls
    for author in ("ada", "ben", "carl"):
        text = "".join(path.read_text() for path in (place / "results" / author).rglob("*.txt"))
        assert text.count("SECRET of") == text.count(f"SECRET of {author}")
    assert b"SECRET of" not in public_bytes(place)
    assert b"practice of" not in public_bytes(place)
    assert [path.name for path in (place / "practice").iterdir()] == ["ada.json"]
    assert "OK: " in boneyard("verify", str(place))
    # Another push on the same day waits, and does not cost the league another look at the old one.
    push(place, "ada", 'against = ["ben"]')
    boneyard("league", str(place), *NOW)
    assert "This one waits." in (ada / "practice-0002.txt").read_text()
    boneyard("league", str(place), "--once", "--now", "2026-11-23T10:00")
    assert ", against ben" in (ada / "practice-0002.txt").read_text()
    assert (place / "league.log").read_text().count("begun     short practice") == 2


def test_a_wrong_name_is_reported_before_the_rated_boards(place: Path) -> None:
    boneyard("league", str(place), *NOW, "--rounds", "1")
    assert "did you mean ada?" in (place / "results/carl/practice-0001.txt").read_text()
    assert not (place / "results/ada/practice-0001.txt").exists()


def test_a_half_removed_practice_is_dropped(tmp_path: Path) -> None:
    folder = LeagueFolder(tmp_path)
    (folder.practice / "ada").mkdir(parents=True)
    for text in ("torn", '{"division": 1}'):
        (folder.practice / "ada" / "round.json").write_text(text)
        assert practice.begun_practice(folder) is None
        assert not [*folder.practice.iterdir()]
        (folder.practice / "ada").mkdir()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_folder_that_cannot_be_written_keeps_nobody_waiting(place: Path, kind: str) -> None:
    results, target = place / "results", place / "outside"
    results.mkdir(mode=0o700)
    target.mkdir()
    if kind == "file":
        (results / "ada").write_text("")
    else:
        (results / "ada").symlink_to(target)
    boneyard("league", str(place), *NOW)
    assert "did you mean ada?" in (results / "carl" / "practice-0001.txt").read_text()
    assert [*(results / "carl" / "short").iterdir()]
    assert not [*target.iterdir()]


def test_house_bots_fill_the_tables_of_practice(place: Path) -> None:
    """A slow bot plays a single board; whom games may cost money is no rival of others."""
    text = SETTINGS.replace("boards_a_week", "seats = 3\nboards_a_week")
    (place / "league.toml").write_text(text.replace("boards_a_table = 1", "boards_a_table = 4"))
    boneyard("league", str(place), "--rounds", "1", *NOW[1:])
    league = read_league(place)

    def tables(league: LeagueData, *rivals: str) -> tuple[list[tuple[str, ...]], int]:
        plan, event = practice_round(
            league, league.versions["ada"], rivals, SUNDAY, partial(able_bots, league)
        )
        assert {bot.name for bot in event.entrants} == {*plan.active}
        return [table.entrants for table in plan.tables], event.boards

    assert tables(league, "ben") == ([("ada", "ben", "first")], 4)
    pair = [("ada", "ben", "greedy"), ("ada", "carl", "first")]
    assert tables(league, "ben", "greedy", "carl", "ben") == (pair, 4)
    slow = replace(league.versions["ada"], check=replace(PASSED, question_ms=60.0))
    register = [slow if entry.bot == "ada" else entry for entry in league.register]
    assert tables(replace(league, register=register), "ben")[1] == 1
    costly = replace(league, settings=replace(league.settings, bots={"ben": BotPermissions()}))
    with pytest.raises(UserError, match="ben cannot play: it has access of its own"):
        tables(costly, "ben")


def test_kills_after_practice_repeat_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is answered first and removed last; time that is up ends it."""

    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "PRACTICE_S", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "answer_practice", kill)
        boneyard("league", str(place), *NOW, code=130)
    assert not (place / "practice" / "ada.json").exists()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", kill)
        boneyard("league", str(place), *NOW, code=130)
    answer = (place / "results" / "ada" / "practice-0001.txt").read_bytes()
    assert b"Not all of its games were played." in answer
    assert (place / "practice" / "ada").exists()
    boneyard("league", str(place), *NOW)
    log = (place / "league.log").read_text()
    assert log.count("begun     short practice") == 1
    assert log.count("over      short practice") == 2, "the first time it was not answered"
    assert (place / "results" / "ada" / "practice-0001.txt").read_bytes() == answer
    assert not (place / "practice" / "ada").exists()


def test_nothing_is_reported_of_a_round_in_play(place: Path) -> None:
    """Other tables of it still meet its boards."""
    boneyard("league", str(place), "--rounds", "1", *NOW[1:])
    league = read_league(place)
    (round,) = league.rounds
    name = next(name for name in round.plan.tables[0].entrants if name not in ("first", "greedy"))
    path = place / "results" / name / "short" / "0001.txt"
    path.unlink()
    round.folder.stderr.mkdir()
    tries = round.folder.path / "private" / "tries"
    tries.write_text("0 1\n")
    practice.tell_authors(league)
    assert not path.exists()
    tries.unlink()
    practice.tell_authors(league)
    assert path.exists()
    assert not round.folder.stderr.exists()


def test_the_servers_line_lets_an_author_fetch_only_her_bots_results(tmp_path: Path) -> None:
    """The line of authorized_keys in LEAGUE.md, as the server runs it."""
    (line,) = re.findall(r'^restrict,command="(.*)" ssh-', GUIDE.read_text(), re.M)
    for name in ("ada", "ben"):
        (tmp_path / "league" / "results" / name).mkdir(parents=True)

    def fetch(words: str) -> "subprocess.CompletedProcess[bytes]":
        env = {"PATH": os.environ["PATH"], "SSH_ORIGINAL_COMMAND": words}
        argv = ("sh", "-c", line.replace('\\"', '"'))
        return subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, check=False)

    with tarfile.open(fileobj=BytesIO(fetch("results").stdout)) as archive:
        assert archive.getnames() == ["ada"]
    for words in ("results; tar cf - -C league/results ben", "results ben", "", "id"):
        done = fetch(words)
        assert done.returncode
        assert not done.stdout
