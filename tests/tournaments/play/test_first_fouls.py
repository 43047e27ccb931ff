"""A bot that fouls in each of its first games: the run of its author stops and names it."""

from itertools import chain
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.logs.gamelog import read_games
from protocol.errors import UserError
from protocol.records import FoulClass, Result, SeatFoul
from tests.support.events import PLAIN, boneyard, copy_of
from tests.support.fast_run import slow_except
from tests.support.made_up import game
from tests.support.tables import FIRST_BOT
from tournaments.event.book import Book
from tournaments.event.folder import Folder, load_event
from tournaments.play.runner import MIN_FOULED_GAMES, FoulWatch

CRASH = "typo crashes: NameError: name 'jsno' is not defined (typo.py, line 15)."


@pytest.fixture
def typo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "typo.py"
    path.write_text(FIRST_BOT.replace("json.dumps", "jsno.dumps"))
    return path


def the_event() -> Folder:
    (plan,) = Path("runs").resolve().glob("*/event.json")
    return Folder(plan.parent)


def games_played() -> int:
    games = chain.from_iterable(map(read_games, the_event().logs()))
    return sum(game.result is not None for game in games)


def test_run_stops_at_a_bot_that_crashes_in_each_of_its_first_games(typo: Path) -> None:
    words = ("run", "typo.py", "greedy", "--boards", "10", "--set", "target=1", *PLAIN)
    assert f"{CRASH} Try `boneyard check typo.py`." in boneyard(*words, code=2)
    games = games_played()
    assert MIN_FOULED_GAMES <= games < 20
    # It would crash again: nothing more is played until its file changes.
    assert CRASH in boneyard(*words, code=2)
    assert games_played() == games
    typo.write_text(FIRST_BOT)
    assert "typo@2" in boneyard(*words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    slow_except(
        [('"choice": 0', '"choice": 99', "Choice 99 of")],
        [
            ("    print(json", "    print('thinking')\n        print(json", "It wrote: thinking"),
            ('"choice": 0', '"choice": 99', "Choice 99 of"),
        ],
    ),
)
def test_run_stops_at_a_bot_with_other_fouls(typo: Path, old: str, new: str, words: str) -> None:
    assert old in FIRST_BOT
    typo.write_text(FIRST_BOT.replace(old, new))
    run = ("run", "typo.py", "greedy", "--boards", "10", "--set", "target=1")
    text = boneyard(*run, *PLAIN, code=2)
    assert "typo lost each of its first 5 games by a foul: " in text
    assert words in text
    assert "Try `boneyard check typo.py`." in text
    assert MIN_FOULED_GAMES <= games_played() < 20


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FoulWatch:
    folder = Folder(copy_of("round-robin", tmp_path / "event"))
    event = load_event(folder)
    monkeypatch.setattr("tournaments.play.runner.read_foul", lambda *_: "words")
    return FoulWatch(Book(folder, event), stops=True)


def fouled_game(number: int, watch: FoulWatch, foul: FoulClass) -> Result:
    """Return a game that the first bot of the event lost by a foul against the second."""
    first, second, *_ = watch.fouls
    result = game(number, (first, second), (0, 9))
    return replace(result, why="foul", fouls=(SeatFoul(0, foul),))


async def test_fouls_of_several_classes_stop_the_run(watch: FoulWatch) -> None:
    name, *_ = watch.fouls
    fouls: tuple[FoulClass, ...] = "late", "gone", "illegal", "malformed"
    for number, foul in enumerate(fouls, 1):
        await watch.add(fouled_game(number, watch, foul))
    with pytest.raises(UserError, match=f"{name} lost each of its first 5 games by a foul: words"):
        await watch.add(fouled_game(5, watch, "late"))


async def test_only_a_bots_own_fouls_count_against_it(watch: FoulWatch) -> None:
    first, second, *_ = watch.fouls
    for number in range(20):
        await watch.add(fouled_game(number, watch, "forfeit"))
    await watch.add(fouled_game(20, watch, "late"))
    assert watch.fouls[first] == ["words"]
    assert watch.fouls[second] == [], "The other's foul ended its games."
    await watch.add(game(21, (first, second), (9, 0)))
    assert first not in watch.fouls
    assert second not in watch.fouls
