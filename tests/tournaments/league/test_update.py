"""Tests of `tournaments.league.update`: pushes become versions, or are refused."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from errno import ENOSPC
from pathlib import Path
from typing import TypeVar

import pytest

from arena.sandbox.command import Command
from arena.sealed.module import PYTHON
from protocol.errors import UserError
from tournaments.league import update
from tournaments.league.push import FileTree, FolderBots, remove_tree, write_tree
from tournaments.league.settings import LeagueFolder, load_settings
from tournaments.league.state import (
    Admitted,
    AnyEntry,
    CheckedStep,
    CheckSummary,
    Refused,
    Withdrawn,
    read_league,
    read_register,
)
from tournaments.league.update import entrant_of, update_register
from tournaments.plan.bots import sample_folder

P = TypeVar("P", bound=update._Push)
R = TypeVar("R")
E = TypeVar("E", Admitted, Refused, Withdrawn)
NOW = datetime(2026, 11, 22, 20, tzinfo=UTC)
SETTINGS = 'house = ["greedy"]\nsandbox = "off"\n[[divisions]]\nname = "draw"\n'


class League:
    """A league in a folder, whose check is a fake: a bot with the word FAIL in it fails."""

    def __init__(self, path: Path) -> None:
        self.folder = LeagueFolder(path)
        self.now = NOW
        self.checked: list[str] = []
        self.batches: list[list[str]] = []
        self.during: Callable[[], object] = lambda: None
        (path / "league.toml").write_text(SETTINGS)
        (path / "bots").mkdir()

    def check(self, command: Command, *_: object) -> CheckSummary:
        """Return a verdict without a process."""
        main = Path(command.folder, "main.py").read_text()
        self.checked.append(main)
        self.during()
        verdict = "failed" if "FAIL" in main else "passed"
        step = CheckedStep("hello", verdict, f"fault: {main}")
        return CheckSummary(verdict=verdict, steps=(step,), sandbox="off", seconds=0.1)

    def map_apart(
        self, work: Callable[[P], R], pushes: Sequence[P]
    ) -> Iterator[tuple[P, R | None]]:
        """Yield the checks of pushes as if each had a process, of which the system kills some."""
        mains = [(push, (push.folder / "main.py").read_text()) for push in pushes]
        self.batches.append([main for _, main in mains])
        is_short = "KILL" in self.batches[-1]
        for push, main in mains:
            yield push, None if main == "KILL" or (is_short and main == "BIG") else work(push)

    def push(self, main: str, bot: str = "mine", toml: str = "") -> None:
        """Put a bot's files where its author puts them."""
        folder = self.folder.bots / bot
        folder.mkdir(exist_ok=True)
        (folder / "main.py").write_text(main)
        (folder / "bot.toml").write_text(toml or 'run = ["{python}", "main.py"]\n')

    def turn(self) -> list[AnyEntry]:
        """Update the register; return what is new."""
        self.now += timedelta(minutes=1)
        return list(update_register(self.folder, load_settings(self.folder.settings), self.now))

    def entry(self, kind: type[E]) -> E:
        """Update the register; return its only new line, which must be of this kind."""
        (entry,) = self.turn()
        assert isinstance(entry, kind)
        return entry

    @property
    def active(self) -> list[str]:
        """Return the versions that play."""
        return read_league(self.folder.path).active("draw")

    def versions(self) -> dict[str, str]:
        """Return the main file of each version on the disk."""
        paths = self.folder.versions.glob("*/main.py")
        return {path.parent.name: path.read_text() for path in paths}


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[League]:
    """Return a league with its house bot."""
    league = League(tmp_path)
    monkeypatch.setattr(update, "examine_version", league.check)
    # Other processes know nothing of the fake.
    monkeypatch.setattr(update, "map_apart", league.map_apart)
    league.turn()
    yield league
    remove_tree(tmp_path / "versions")


def test_house_bot_is_pinned_and_its_name_is_taken(league: League) -> None:
    """The sample ladder plays from a copy of its own, and nobody pushes in its name."""
    (entry,) = read_register(league.folder.register)
    assert isinstance(entry, Admitted)
    assert entry.house
    assert (league.folder.version("greedy") / "greedy.py").is_file()
    league.push("x", "greedy")
    league.push("x", "montecarlo")
    entries = league.turn()
    assert [type(entry) for entry in entries] == [Refused, Refused]
    assert "has the name of a sample bot" in str(entries[0])
    assert league.active == ["greedy"]
    assert not league.turn()


def test_each_push_of_a_bot_is_a_new_version_until_it_withdraws(league: League) -> None:
    """A push is a version, a change the next one, also one back to earlier files: its rating begins
    anew, or an author would go back to the copy that was lucky."""
    league.push("one")
    first = league.entry(Admitted)
    assert (first.version, first.check and first.check.outcome) == (
        "mine",
        "Passed the check (1 step)",
    )
    assert not league.turn()
    league.push("two")
    second = league.entry(Admitted)
    assert second.version == "mine@2"
    assert league.versions() == {"mine@1": "one", "mine@2": "two"}
    league.push("one")
    assert league.entry(Admitted).version == "mine@3"
    assert league.active == ["greedy", "mine@3"]
    shutil.rmtree(league.folder.bots / "mine")
    assert league.entry(Withdrawn).version == "mine@3"
    assert not league.turn()
    league.push("two")
    assert league.entry(Admitted).version == "mine@4"
    league.push("two", toml='run = ["{python}", "main.py"]\nwithdrawn = true\n')
    league.entry(Withdrawn)
    assert not league.turn()
    assert league.active == ["greedy"]
    assert league.checked == ["one", "two", "one", "two"]


def test_failed_push_is_refused_once_and_the_earlier_version_plays(league: League) -> None:
    """The author gets the check's words; the push is not checked again until it changes."""
    league.push("one")
    league.turn()
    league.push("FAIL")
    refused = league.entry(Refused)
    assert refused.why.endswith("First failing step: hello:\nfault: FAIL")
    assert refused.check
    assert not league.turn()
    league.push("one")
    assert not league.turn()
    league.push("FAIL")
    assert not league.turn()
    assert league.checked == ["one", "FAIL"]
    assert league.versions() == {"mine@1": "one"}
    assert league.active == ["greedy", "mine"]
    league.push("two")
    assert league.entry(Admitted).version == "mine@2"


@pytest.mark.parametrize("moment", ["check", "line"])
def test_killed_admission_begins_again(
    moment: str, league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill before the line of the register leaves files that never played: they are replaced."""

    def kill(*_: object) -> None:
        raise KeyboardInterrupt

    league.push("one")
    with monkeypatch.context() as patch:
        # A kill runs no `finally`.
        patch.setattr(update._Update, "_remove", lambda *_: None)
        if moment == "check":
            league.during = kill
        else:
            patch.setattr(update, "append_entry", kill)
        with pytest.raises(KeyboardInterrupt):
            league.turn()
    league.during = lambda: None
    assert league.versions() == {"mine@1": "one"}
    league.push("two")
    entry = league.entry(Admitted)
    assert entry.version == "mine"
    assert league.versions() == {"mine@1": "two"}


def test_full_disk_costs_nothing_but_the_try(
    league: League, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A copy that does not fit leaves nothing behind, and other bots are not kept waiting."""
    league.push("one")
    league.push("other", "other")

    def full(tree: FileTree, folder: Path) -> None:
        if folder.name == "mine@1":
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        write_tree(tree, folder)

    with monkeypatch.context() as disk:
        disk.setattr(update, "write_tree", full)
        assert [entry.bot for entry in league.turn()] == ["other"]
    assert "mine waits for the next turn" in "".join(capsys.readouterr())
    assert [entry.bot for entry in league.turn()] == ["mine"]


def test_push_in_its_middle_is_read_again(league: League) -> None:
    """A push that changed while it was checked is no version; the next turn takes it whole."""
    league.push("half")
    league.during = lambda: league.push("whole")
    refusal = league.entry(Refused)
    assert "changed while it was read" in refusal.why
    assert not league.versions()
    league.during = lambda: None
    league.entry(Admitted)
    assert league.versions() == {"mine@1": "whole"}


def test_bot_that_changes_all_the_time_costs_a_bounded_number_of_checks(league: League) -> None:
    """An author who pushes each minute is checked so many times a day, and no more."""
    most = load_settings(league.folder.settings).quota.pushes_a_day
    entries: list[AnyEntry] = []
    for number in range(2 * most):
        league.push(f"{number}")
        entries += league.turn()
    assert len(league.checked) == most
    assert len(entries) == most + 1
    assert (
        "changed 12 times in a day. It is looked at again after 2026-11-23T20:02:00Z"
        in f"{entries}"
    )
    league.now += timedelta(days=1) - timedelta(minutes=2 * most)
    league.turn()
    assert len(league.checked) == most + 1


def test_files_that_no_program_reads_make_no_version_and_are_in_no_copy(league: League) -> None:
    """A bot could else play by files that its fingerprint does not cover."""
    toml = 'run = ["{python}", "main.py"]\nignore = ["notes/*.txt", "*.log", "bot.toml"]\n'
    league.push("one", toml=toml)
    assert league.entry(Admitted).version == "mine"
    folder = league.folder.bots / "mine"
    for name in ("README.md", ".DS_Store", ".git/HEAD", "a.log", "notes/a.txt", "b/.main.py.swp"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("known deals")
    assert isinstance(league.entry(Admitted), Admitted)  # The folders notes and b are new.
    assert sorted(path.name for path in league.folder.version("mine@2").rglob("*")) == [
        *("b", "bot.toml", "main.py", "notes")
    ]
    for path in (folder / "README.md", folder / "a.log", folder / "notes" / "a.txt"):
        path.write_text("more deals")
    assert not league.turn()
    (folder / "notes" / "a.py").write_text("a program")
    assert league.entry(Admitted).version == "mine@3"


def test_a_turn_checks_for_a_bounded_time_and_the_oldest_push_first(
    league: League, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a flood of pushes nor a name at the head of the alphabet takes anybody's turn."""
    monkeypatch.setattr(update, "BUILD_TURN_S", 0.0)
    monkeypatch.setattr(update, "CHECKS_AT_ONCE", 1)
    order = ("zoe", "b", "a")
    monkeypatch.setattr(FolderBots, "time", lambda _, bot: order.index(bot))
    for bot in order:
        league.push("one", bot)
    assert [[entry.bot for entry in league.turn()] for _ in range(4)] == [["zoe"], ["b"], ["a"], []]
    league.push("two", "zoe")
    assert [entry.bot for entry in league.turn()] == ["zoe"]


def test_pushes_are_checked_side_by_side(tmp_path: Path) -> None:
    """Each check has a process of its own; its outcome does not touch the others."""
    league = League(tmp_path)
    league.push((sample_folder() / "greedy.py").read_text(), "good")
    league.push("raise SystemExit", "bad")
    entries = {entry.bot: entry for entry in league.turn()}
    assert isinstance(entries["good"], Admitted)
    refused = entries["bad"]
    assert isinstance(refused, Refused)
    assert "First failing step: hello (sends hello in time):" in refused.why
    assert sorted(league.versions()) == ["good@1"]


def test_flood_of_other_folders_is_bounded(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would have a line in the register and a page for ever; real bots are looked at."""
    monkeypatch.setattr(update, "MOST_STRANGERS", 2)
    for name in ("a", "b c", "d", "e"):
        (league.folder.bots / name).mkdir()
    league.push("one", "zoe")
    assert [entry.bot[:7] for entry in league.turn()] == ["a", "d", "zoe"]
    assert not league.turn()
    league.now += timedelta(days=1)
    assert [entry.bot[:7] for entry in league.turn()] == ["e", "illegal"]


def test_lost_files_of_the_league_are_no_withdrawals(league: League) -> None:
    """Without bots/, versions/ or the register nothing is decided: the organiser restores them."""
    league.push("one")
    league.turn()
    league.folder.bots.rename(league.folder.path / "elsewhere")
    with pytest.raises(UserError, match="all bots would be withdrawn"):
        league.turn()
    league.folder.bots.touch()
    with pytest.raises(UserError, match="bots cannot be read: Not a directory"):
        league.turn()
    league.folder.bots.unlink()
    (league.folder.path / "elsewhere").rename(league.folder.bots)
    league.folder.versions.rename(league.folder.path / "elsewhere")
    with pytest.raises(UserError, match="versions is missing"):
        league.turn()
    (league.folder.path / "elsewhere").rename(league.folder.versions)
    league.folder.register.unlink()
    league.folder.round("draw", 1).mkdir(parents=True)
    with pytest.raises(UserError, match=r"register\.jsonl is missing"):
        league.turn()


def test_odd_folder_names_are_refused_under_names_of_ours(league: League) -> None:
    """Odd names are refused under a name of ours; .git and bots.toml are no bots."""
    league.push("one", "Mine")
    league.turn()
    for name in ("a b", "-x", "mine", "x" * 41, ".git"):
        league.push("x", name)
    (league.folder.bots / "bots.toml").write_text("Hello")
    (league.folder.bots / "file").write_text("Hello")
    reasons = {entry.bot: entry.why for entry in league.turn() if isinstance(entry, Refused)}
    assert len(reasons) == 5
    assert reasons["mine"] == "bots/mine differs from the bot Mine in capitals only. Rename it."
    assert reasons["file"].startswith("bots/file is a file")
    assert sum(bot.startswith("illegal-") for bot in reasons) == 3
    assert not league.turn()


def test_entrant_reads_its_own_files_only(league: League, tmp_path: Path) -> None:
    """A word of the command that names a file elsewhere opens nothing."""
    secret = tmp_path / "rounds" / "key"
    league.push("one", toml=f'run = ["{{python}}", "main.py", "{secret}", "../../league.toml"]\n')
    with (tmp_path / "league.toml").open("a") as file:
        file.write('[bots.mine]\nnetwork = ["localhost:1"]\n[bots.mine.clock]\nmove_ms = 7\n')
    league.turn()
    entry = read_league(tmp_path).versions["mine"]
    settings = load_settings(league.folder.settings)
    entrant = entrant_of(league.folder, settings, entry)
    folder = league.folder.version("mine")
    assert entrant.command.folder == f"{folder}"
    assert entrant.command.own == (f"{folder}",)
    assert entrant.command.network == ("localhost:1",)
    assert entrant.clock
    paths = [path for path in entrant.command.reads if Path(path).is_relative_to(tmp_path)]
    assert paths == [f"{folder}"]
    remove_tree(folder)
    with pytest.raises(UserError, match="Version mine cannot play: "):
        entrant_of(league.folder, settings, entry)


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ('["pythn", "main.py"]', "run: the league's machine has no program 'pythn': did you mean"),
        ('["./main.py"]', "run: ./main.py is not executable"),
        ('["./other"]', "run: there is no program ./other in the bot's folder"),
        ('["/usr/bin/env", "sh"]', "run: there is no program /usr/bin/env in the bot's folder"),
        ('["../other/main.py"]', "run: there is no program ../other/main.py"),
        # Else it would be built again at each turn, as what the machine is short of.
        (f'["{"a" * 300}"]', f"run: the league's machine has no program '{'a' * 300}'"),
        (f'["./{"a" * 300}"]', f"run: there is no program ./{'a' * 300} in the bot's folder"),
        ('["{build}/x"]', "run: there is no program {build}/x in the bot's folder after the build"),
    ],
)
def test_program_must_be_the_bots_or_on_the_path(run: str, sentence: str, league: League) -> None:
    """No command reaches a program by a path out of the bot's folder."""
    league.push("x", toml=f"run = {run}\n")
    refusal = league.entry(Refused)
    assert refusal.why.startswith(f"bots/mine/bot.toml: {sentence}")
    assert not league.turn()


def test_a_check_that_the_system_kills_holds_up_no_other(league: League) -> None:
    """The verdicts of its batch stay; a bot that fell beside it is checked again and plays."""
    for main, bot in (("one", "ada"), ("BIG", "ben"), ("KILL", "carl"), ("FAIL", "dora")):
        league.push(main, bot)
    league.turn()
    assert league.batches == [["one", "BIG", "KILL", "FAIL"], ["BIG"], ["KILL"]]
    assert league.active == ["ada", "ben", "greedy"]
    lines = {line.bot: line for line in read_register(league.folder.register)}
    culprit = lines["carl"]
    assert isinstance(culprit, Refused)
    assert "bots/carl: the system killed its check twice" in culprit.why
    assert "system" not in str(lines["dora"])
    assert league.versions().keys() == {"ada@1", "ben@1"}
    assert not league.turn()


def test_pushes_wait_in_a_closed_league(league: League, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those before are admitted however late they are looked at; nobody is withdrawn any more."""
    league.push("one", "gone")
    league.turn()
    shutil.rmtree(league.folder.bots / "gone")
    league.folder.settings.write_text('closes = "2026-11-22T21:00:00+01:00"\n' + SETTINGS)
    times = {"early": NOW.timestamp(), "late": NOW.timestamp() + 1, "no name": NOW.timestamp() + 1}
    monkeypatch.setattr(FolderBots, "time", lambda _, bot: times[bot])
    for bot in times:
        league.push("one", bot)
    (league.folder.bots / "late" / "bot.toml").write_text("x=")
    assert league.entry(Admitted).version == "early"
    assert not league.turn()
    assert league.active == ["early", "gone", "greedy"]


def test_checks_that_an_end_kills_refuse_nobody(league: League) -> None:
    """Ctrl-C kills them too; the same command checks them again."""
    league.push("KILL")
    league.push("FAIL", "other")
    settings = load_settings(league.folder.settings)
    assert not [*update_register(league.folder, settings, league.now, lambda: True)]
    assert {line.bot for line in league.turn()} == {"mine", "other"}


def test_script_may_ask_for_a_program_of_the_path_only(league: League, tmp_path: Path) -> None:
    """The first line of a script does not open the folder of its interpreter."""
    interpreter = tmp_path / "other" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text("")
    interpreter.chmod(0o755)
    league.push(f"#!{interpreter}\n", toml='run = ["./main.py"]\n')
    (league.folder.bots / "mine" / "main.py").chmod(0o755)
    refusal = league.entry(Refused)
    asks = interpreter.relative_to(league.folder.path)
    assert f"asks for {asks}, which is not a program of the league's PATH" in refusal.why


def test_a_league_of_sealed_bots_seals_python_and_refuses_others(league: League) -> None:
    """Versions that came before the setting too; the house bots are the league's own."""
    league.push("one", "early")
    assert league.entry(Admitted).version == "early"
    league.folder.settings.write_text("sealed = true\n" + SETTINGS)
    league.push("two", toml='run = ["sh", "main.py"]\n')
    assert "only Python, JavaScript (node) and modules" in league.entry(Refused).why
    settings, entries = load_settings(league.folder.settings), read_register(league.folder.register)
    house, early = (entry for entry in entries if isinstance(entry, Admitted))
    assert entrant_of(league.folder, settings, house).command.argv[0] != PYTHON.word
    assert entrant_of(league.folder, settings, early).command.argv == (PYTHON.word, "main.py")
