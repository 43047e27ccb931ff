"""`boneyard new`: in every language that this machine has, a bot that plays all games at once."""

import io
import json
import resource
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from arena.conformance.runner import run_steps
from arena.conformance.runner import select_steps as chosen_steps
from arena.conformance.session import Session
from arena.rules.load import MAX_TOML_BYTES
from arena.rules.variants import VARIANTS, derive, find_variant
from arena.sandbox.command import Command, Confinement, Limits
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from protocol.errors import UserError
from protocol.ruleset import Ruleset, playable_seat_counts
from tests.support.bots import PATIENT_CHECK
from tests.support.events import PLAIN, boneyard
from tests.support.fast_run import slow_except
from tests.support.tables import QUICK, failed, play, sample
from tournaments.plan import scaffold
from tournaments.plan.bots import own_bots, prepare_entrant, sample_folder
from tournaments.plan.event import WrittenBot

LANGUAGES = scaffold.languages()
TEMPLATES = sample_folder() / "templates"


# Slow: the template of every language builds, answers and passes `check`, which plays every game.
@pytest.fixture(scope="module", params=slow_except(["c", "python"], LANGUAGES))
def bot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Return a new bot, as an event starts it."""
    language = request.param
    folder = tmp_path_factory.mktemp("new")
    new_bot = scaffold.make_bot(language, "mine", folder)
    if new_bot.missing:
        pytest.skip(f"{LANGUAGES[language].title}: {new_bot.missing}")
    return prepare_entrant(WrittenBot("mine"), folder, folder / "build").command


@pytest.fixture(scope="module")
def confinement() -> Confinement:
    """Return how this machine confines bots."""
    return choose_sandbox("auto", Limits(), Path(tempfile.gettempdir())).confinement


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one_round(name: str) -> Ruleset:
    """Return a named game, over after a round."""
    return derive(
        find_variant(name),
        name,
        {"max_rounds": 1, "rounds": min(1, find_variant(name).game.rounds)},
    )


@pytest.mark.parametrize("bot", ["c", "python"], indirect=True)
async def test_a_new_bot_plays_every_named_game_without_a_foul(
    bot: Command, confinement: Confinement, tmp_path: Path
) -> None:
    """The bot plays in the sandbox, in one process, for two; the check has larger tables."""
    rules = [one_round(name) for name in VARIANTS if 2 in playable_seat_counts(find_variant(name))]
    games = 2 * len(rules)
    results = await play(
        [bot, sample()], tmp_path / "log", games=games, rules=rules, confinement=confinement
    )
    assert len(results) == games
    assert not [result.fouls for result in results if result.fouls]


@pytest.mark.slow
def test_a_new_bot_passes_the_check_at_once(bot: Command, confinement: Confinement) -> None:
    desk = Session(bot, Sandbox(confinement, Limits()), PATIENT_CHECK, QUICK)
    assert failed(run_steps(desk, chosen_steps(()))) == []


def test_every_template_has_a_language_and_every_language_another_word() -> None:
    assert {path.name for path in TEMPLATES.iterdir() if path.is_dir()} == set(LANGUAGES)
    words = [word for key, language in LANGUAGES.items() for word in (key, *language.also)]
    assert len(words) == len(set(words))


def test_a_new_bot_is_found_by_its_name(folder: Path) -> None:
    output = boneyard("new", "py", "mine")
    assert f"{Path('mine', 'bot.py')}" in output
    readme = (folder / "mine" / "README.md").read_text()
    assert readme.startswith("# mine\n")
    assert len(readme.splitlines()) <= 11
    assert not [
        word for word in (scaffold.NAME_PLACEHOLDER, "LANGUAGE", "FILE", "BUILT") if word in readme
    ]
    assert "mine" in boneyard("help", "bots")
    short_game = ("--boards", "1", "--set", "target=10", *PLAIN)
    boneyard("run", "mine", "first", *short_game, "--out", "out")
    ledger = (folder / "out" / "ledger.jsonl").read_text()
    assert ledger.count('"seats":["mine","first"]') == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pyton", "x"), "did you mean python"),
        (("python", "taken"), "already exists"),
        (("python", "greedy"), "There is a bot greedy already"),
        (("python", "a b"), "letters a to z, digits"),
        (("python", "../x"), "letters a to z, digits"),
        (("python", "x" * 33), "1 to 32"),
        (("python", ""), "Missing bot name"),
        (("mine", ""), "Name the language first, as in: boneyard new python mine"),
    ],
)
def test_an_impossible_bot_is_refused_and_leaves_nothing(
    folder: Path, words: tuple[str, str], message: str
) -> None:
    (folder / "taken").touch()
    before = sorted(folder.rglob("*"))
    assert message in boneyard("new", *words, code=2)
    assert sorted(folder.rglob("*")) == before


def test_a_full_disk_is_reported_and_the_same_words_go_on(folder: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(UserError, match="cannot be written"):
            scaffold.make_bot("python", "mine", folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (folder / "mine").exists()
    scaffold.make_bot("python", "mine", folder)
    assert list(own_bots(folder)) == ["mine"]


@pytest.mark.parametrize(
    "entry", ["run = []", 'run = "x"', "run = 1", "run =", "#" * MAX_TOML_BYTES]
)
def test_a_broken_bot_toml_stops_who_names_it_and_nobody_else(folder: Path, entry: str) -> None:
    scaffold.make_bot("python", "mine", folder)
    (folder / "two").mkdir()
    (folder / "two" / "bot.toml").write_text(f"{entry}\n")
    output = boneyard("check", "two", code=2)
    assert output.count("\n") == 1
    assert "two/bot.toml" in output
    assert "mine" in boneyard("help", "bots")


PLAYS = """{"options": [
    {"do": "play", "tile": [6, 1], "end": "left"}, {"do": "play", "tile": [4, 3], "end": "left"},
    {"do": "play", "tile": [4, 3], "end": "right"}]}"""
REQUESTS: list[tuple[Any, ...]] = [
    ([4, 3], "right"), ([3, 4], "left"), ([1, 6],), ([1, 6], "right"), ([5, 2],)
]  # fmt: skip
"""Tiles and ends of another program, either way round, of which one cannot be played there."""


def test_another_programs_tile_and_end_are_mapped_to_an_option() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO())
        index_of = runpy.run_path(f"{TEMPLATES / 'python' / 'bot.py'}")["index_of"]
    assert [index_of(json.loads(PLAYS), *words) for words in REQUESTS] == [2, 1, 0, None, None]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_helper_of_javascript_maps_the_same_options() -> None:
    source = (TEMPLATES / "javascript" / "bot.mjs").read_text()
    ask = f"{json.dumps(REQUESTS)}.map((words) => indexOf({PLAYS}, ...words))"
    words = ("node", "--input-type=module", "-e", f"{source}\nconsole.log(JSON.stringify({ask}));")
    done = subprocess.run(words, input=b"", capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout) == [2, 1, 0, -1, -1]
