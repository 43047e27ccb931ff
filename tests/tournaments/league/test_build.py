"""Tests of `tournaments.league.update`: hostile builds in real sandboxes."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.sandbox.command import BOUNDED, LOCKED, OFF, Confinement, Limits
from arena.sandbox.process import Sandbox
from tournaments.league.push import RefusedPushError, TreeBounds, TreeItem, remove_tree, write_tree
from tournaments.league.settings import LeagueFolder, load_settings
from tournaments.league.state import Admitted
from tournaments.league.update import build_bot, entrant_of, update_register
from tournaments.plan.bots import BotFile

BOUNDS = TreeBounds(files=50, size=2**20)


def can_use(confinement: Confinement) -> bool:
    try:
        Sandbox(confinement, Limits())
    except OSError:
        return False
    return True


needs_lock = pytest.mark.skipif(not can_use(LOCKED), reason="bots cannot be locked in here")
ATTACK = """
try() { "$@" >>took 2>/dev/null && echo "$*" >>done; }
: >done; : >took
try cat {league}/league.toml {league}/register.jsonl {league}/versions/other@1/main.py
try cat {league}/rounds/draw/0001/private/secret.key {league}/bots/mine/main.sh
try ls {league}/bots {league}/rounds
for folder in {league} {league}/versions {league}/versions/mine@1 {league}/bots/mine /usr /etc /
do try sh -c ": >$folder/here"
done
try sh -c 'echo x >>{league}/versions/mine@1/main.sh'
try sh -c 'exec 3<>/dev/tcp/127.0.0.1/22'
try kill -9 1
(sleep 1000 &) >/dev/null 2>&1
ps >>took
env >seen
chmod +x main.sh
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Return a folder in which versions are written, which can be removed at the end."""
    versions = tmp_path / "versions"
    versions.mkdir()
    yield versions
    for version in versions.iterdir():
        remove_tree(version)


def build(place: Path, script: str, confinement: Confinement, seconds: float = 20.0) -> Path:
    """Build a bot by a script of its own; return the folder with the result."""
    source, target = place / "mine@1", place / "mine@1.built"
    write_tree({"make.sh": TreeItem("file", script.encode())}, source)
    bot = BotFile(run=("./bot",), build=("sh", "make.sh"))
    build_bot(bot, source, target, Sandbox(confinement, Limits()), BOUNDS, seconds)
    return target


@pytest.mark.slow
@needs_lock
def test_build_sees_and_changes_nothing_but_its_own_folder(tmp_path: Path) -> None:
    """A build that reads and writes wherever it can finds no file of the league or of others."""
    league = LeagueFolder(tmp_path)
    league.settings.write_text("[[divisions]]\nname = 'draw'\n")
    settings = load_settings(league.settings)
    list(update_register(league, settings, datetime.now(UTC)))
    private = league.round("draw", 1) / "private"
    private.mkdir(parents=True)
    (private / "secret.key").write_text("secret")
    private.chmod(0o755)
    neighbour, mine = league.versions / "other@1", league.bots / "mine"
    mine.mkdir(parents=True)
    neighbour.mkdir(parents=True)
    (neighbour / "main.py").write_text("other")
    template = Path("sample_bots/random_bot.sh").read_text()
    (mine / "main.sh").write_text(template)
    (mine / "attack.sh").write_text(ATTACK.replace("{league}", f"{tmp_path}"))
    (mine / "bot.toml").write_text('build = ["sh", "attack.sh"]\nrun = ["{build}/main.sh"]\n')
    (entry,) = update_register(league, settings, datetime.now(UTC))
    assert isinstance(entry, Admitted), entry
    assert entry.check
    assert entry.check.verdict == "passed"
    folder = league.versions / "mine@1.built"
    assert (folder / "done").read_text() == ""
    assert not list(tmp_path.rglob("here"))
    assert (league.version("mine") / "main.sh").read_text() == template
    assert "secret" not in (folder / "took").read_text()
    assert "TOKEN" not in (folder / "seen").read_text()
    entrant = entrant_of(league, settings, entry)
    assert entrant.command.argv == (f"{folder / 'main.sh'}",)
    assert not (folder / "main.sh").stat().st_mode & 0o222
    for version in league.versions.iterdir():
        remove_tree(version)


@pytest.mark.slow
@needs_lock
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("exit 3", "it failed with exit status 3. It printed nothing."),
        ("echo no main; exit 1", "it failed with exit status 1. It printed:\nno main"),
        ("printf '\\033[2J\\033]0;x\\007'; exit 1", r"\x1b[2J\x1b]0;x\x07"),
        ("sleep 60", "it takes longer than 2 s."),
        ("trap '' TERM HUP; sleep 60 & wait", "it takes longer than 2 s."),
        ("yes", "it prints more than 16 MiB"),
        ("head -c 9000000 /dev/zero >x", "it leaves more than 2 MiB"),
        ("i=0; while [ $i -lt 200 ]; do i=$((i+1)); : >f$i; done", "more files than it may"),
        ("ln -s /etc/passwd x", "which is an absolute path"),
        ("ln -s ../../league.toml x", "which leads out of the bot's folder"),
        ("mkfifo x", "which is neither a file nor a folder"),
        ("rm -rf * ; cd / ; kill -9 $PPID", "it failed with exit status"),
        ("truncate -s 600M x", "It printed:\nFile size limit exceeded"),
        ("f() { f | f & }; f; sleep 9", "it "),
    ],
)
def test_hostile_build_is_stopped_with_a_sentence(script: str, sentence: str, place: Path) -> None:
    """A build that hangs, floods, fills the disk, forks or lies is refused in a sentence."""
    is_timed = sentence.startswith("it takes") or "f | f" in script
    with pytest.raises(RefusedPushError) as refused:
        build(place, script, LOCKED, 2.0 if is_timed else 120.0)
    assert sentence in str(refused.value)
    assert [path.name for path in place.iterdir()] == ["mine@1"]


@pytest.mark.slow
@pytest.mark.parametrize("confinement", [BOUNDED, LOCKED, OFF])
def test_result_is_at_the_path_that_the_build_got(confinement: Confinement, place: Path) -> None:
    """A program that keeps the path of its folder finds its files there when it plays."""
    if not can_use(confinement):
        pytest.skip("bots cannot be confined so here")
    script = "mkdir -p sub && echo made >sub/data && printf '#!/bin/sh\\ncat %s/sub/data' $PWD >bot"
    folder = build(place, f"{script} && chmod +x bot", confinement)
    assert f"cat {folder}/sub/data" in (folder / "bot").read_text()
    assert (folder / "sub" / "data").read_text() == "made\n"
    assert (folder / "make.sh").is_file()


def test_machine_that_cannot_lock_a_build_in_runs_none(place: Path) -> None:
    sandbox = Sandbox(OFF, Limits(), "bubblewrap is not installed.")
    with pytest.raises(RefusedPushError, match="machine cannot lock a build in"):
        build_bot(BotFile(run=("./bot",), build=("sh",)), place, place, sandbox, BOUNDS, 1.0)
