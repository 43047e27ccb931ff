"""A bot on the command line is what lies there now; the games of earlier files are set aside."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from protocol.errors import UserError
from tests.support.events import SHORT, boneyard, contents, fits, run, summary
from tests.support.tables import SAMPLES
from tournaments.plan.event import Event
from tournaments.plan.from_options import EventOptions, WrittenPlan, build_event, read_plan
from tournaments.storage import at_home, review_log
from tournaments.storage.at_home import bring_back, earlier_folders
from tournaments.storage.folder import Folder, load_event
from tournaments.storage.ledger import read_ledger
from tournaments.storage.open_event import open_event

WORDS = (*SHORT, "--boards", "2")


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    return Path(shutil.copy(SAMPLES / "first.py", tmp_path / "mine.py"))


def edit(bot: Path, text: str = "# better\n") -> bytes:
    before = bot.read_bytes()
    bot.write_bytes(before + text.encode())
    return before


def results(out: Path) -> dict[str, tuple[int, ...]]:
    return {one.game: one.places for one in read_ledger(out / "ledger.jsonl")}


def test_only_the_games_of_the_present_files_count(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", *WORDS)
    edit(bot)
    said = run(out, str(bot), "greedy", *WORDS)
    assert "mine changed" in said
    assert [one.name for one in load_event(Folder(out)).entrants] == ["mine", "greedy"]
    assert summary(out) == {"played": 4, "planned": 4}
    assert fits(out)
    (before,) = earlier_folders(Folder(out))
    assert fits(before.path)
    boneyard("report", str(before.path), "--check")


# Slow: an edited bot is tested beside it.
@pytest.mark.slow
def test_old_files_bring_the_old_games_back(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "random", *WORDS)
    first = results(out)
    kept = edit(bot)
    run(out, str(bot), "random", *WORDS)
    bot.write_bytes(kept)
    logs = {path: path.stat().st_mtime_ns for path in (out / "games").iterdir()}
    run(out, str(bot), "random", *WORDS)
    assert results(out) == first
    assert logs
    assert fits(out)


def test_games_of_the_other_bots_are_not_played_again(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", "random", *WORDS)
    between = {name: end for name, end in results(out).items() if "mine" not in name}
    log = out / "games" / "from-1.greedy.random.jsonl"
    wrote = log.stat().st_mtime_ns
    edit(bot)
    run(out, str(bot), "greedy", "random", *WORDS)
    assert between.items() <= results(out).items()
    assert log.stat().st_mtime_ns == wrote
    stopped_early = out / "private" / "earlier" / "2"
    shutil.copytree(out / "private" / "earlier" / "1", stopped_early)
    (stopped_early / "ledger.jsonl").unlink()
    said = boneyard("show", str(out), "--versions")
    assert {name for name in ("mine", "mine@1", "mine@2") if f" {name} " in said} == {
        *("mine", "mine@1")
    }
    assert ": 20 games" in said
    # The new files meet deals that nobody has seen.
    assert {int(name.split(".")[0]) for name in results(out) if "mine" in name} == {3, 4}
    assert summary(out) == {"played": 12, "planned": 12}
    assert "Deals were public" not in (out / "report.md").read_text()
    assert fits(out)


@pytest.mark.slow
def test_a_review_has_no_games_of_a_bots_earlier_files(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    words = (str(bot), "greedy", "random", *SHORT, "--boards", "1")
    run(out, *words)
    boneyard("review", str(out), "--worlds", "2")
    assert (out / "review.jsonl").read_bytes().count(b'"seat":') == 12
    edit(bot)
    run(out, *words)
    kept = (out / "review.jsonl").read_bytes()
    assert (kept.count(b'"seat":'), kept.count(b"mine")) == (4, 0)
    assert "points a round by its choices" not in (out / "report.md").read_text()
    assert fits(out)
    boneyard("review", str(out))
    assert (out / "review.jsonl").read_bytes().startswith(kept)
    assert fits(out)


# Slow: a format whose rounds depend on earlier ones keeps no games.
@pytest.mark.slow
def test_the_luck_of_the_other_bots_games_stays(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", "random", *WORDS, "--luck")
    first = (out / "luck.jsonl").read_bytes()
    edit(bot)
    assert "The luck of 4 of 12 games is known" in run(out, str(bot), "greedy", "random", *WORDS)
    assert (out / "luck.jsonl").read_bytes().count(b"greedy.random") == 2
    assert fits(out)
    assert (out / "private" / "earlier" / "1" / "luck.jsonl").read_bytes() == first
    run(out, str(bot), "greedy", "random", *WORDS, "--luck")
    assert fits(out)


def busy(_: Folder) -> None:
    raise UserError("It is being reviewed.")


def test_bots_are_not_changed_while_their_games_are_reviewed(
    tmp_path: Path, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", *WORDS)
    edit(bot)
    (out / ".review.lock").touch()
    monkeypatch.setattr(review_log, "held_review", busy)
    assert "It is being reviewed." in run(out, str(bot), "greedy", *WORDS, code=2)
    assert not earlier_folders(Folder(out))


# Slow: a round robin that begins anew is tested beside it.
@pytest.mark.slow
def test_a_swiss_begins_anew(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    field = (str(bot), "greedy", "random", "suit")
    words = (*field, *SHORT, "--boards", "1", "--format", "swiss", "--rounds", "2")
    run(out, *words)
    edit(bot)
    run(out, *words)
    assert summary(out)["played"] == summary(out)["planned"] == 8
    assert fits(out)


def test_fewer_boards_are_a_new_event_only_after_an_edit(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", *WORDS)
    assert "It has 2 boards already" in run(out, str(bot), "greedy", *SHORT, "--boards", "1")
    assert summary(out)["planned"] == 4
    edit(bot)
    run(out, str(bot), "greedy", *SHORT, "--boards", "1")
    assert summary(out)["planned"] == 2


# Slow: an edited bot is tested beside it.
@pytest.mark.slow
def test_a_refused_run_leaves_the_event_as_it_was(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    run(out, str(bot), "greedy", *WORDS)

    before = contents(out)
    bot.write_text("raise SystemExit")
    run(out, str(bot), "greedy", *WORDS, code=2)
    run(out, str(bot), *WORDS, code=2)
    run(out, str(bot), "greedy", "first", *WORDS, code=2)
    assert contents(out) == before


def test_a_refused_run_leaves_no_folder(
    tmp_path: Path, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = sorted(tmp_path.iterdir())
    bot.write_text("raise SystemExit")
    words = ("mine.py", "greedy", "--boards", "1", "--sandbox", "off")
    boneyard("run", *words, code=2)
    boneyard("run", *words, "--out", "a/b", code=2)
    boneyard("run", "first", "nobody", code=2)
    (tmp_path / "loop").symlink_to("loop")
    assert "cannot be written" in boneyard("run", *words, "--out", "loop", code=2)
    (tmp_path / "loop").unlink()
    assert sorted(tmp_path.iterdir()) == there
    own = tmp_path / "own"
    own.mkdir()
    (own / "diary.txt").write_text("mine")
    boneyard("run", *words, "--out", "own", code=2)
    assert [path.name for path in own.iterdir() if path.name != ".lock"] == ["diary.txt"]


def unseeded(out: Path, *words: str, code: int = 0) -> str:
    """Run with a secret that is another each time."""
    return boneyard("run", *words, *WORDS, "--sandbox", "off", "--out", str(out), code=code)


def test_an_edit_undone_before_its_first_game_loses_nothing(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    unseeded(out, str(bot), "greedy")
    first, kept = results(out), edit(bot)
    # A run of the new files is killed while they greet.
    plan, event = planned(bot, ("greedy",), predictable=False)
    event, _ = at_home.open_at_home(Folder(out), plan, event, boards_asked=False)
    open_event(Folder(out), event, None)
    bot.write_bytes(kept)
    found = []
    for _ in range(2):
        unseeded(out, str(bot), "greedy")
        found.append(results(out))
        assert fits(out)
    assert found == [first, first]


def test_a_refused_run_after_a_kill_loses_nothing(tmp_path: Path, bot: Path) -> None:
    out = tmp_path / "out"
    unseeded(out, str(bot), "greedy")
    first = results(out), (out / "private" / "secret.key").read_bytes()
    shutil.copytree(out, tmp_path / "copy")
    shutil.copytree(tmp_path / "copy", out / "private" / "earlier" / "1")
    (out / "event.json").unlink()  # A change takes it away first; then the run was killed.
    unseeded(out, str(bot), "random", code=2)
    unseeded(out, str(bot), "greedy")
    assert (results(out), (out / "private" / "secret.key").read_bytes()) == first


def test_a_folder_of_an_event_that_is_a_link_is_not_followed(tmp_path: Path, bot: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    run(out, str(bot), "greedy", *WORDS)
    (out / "replays").rename(elsewhere)
    (out / "replays").symlink_to(elsewhere)
    there = sorted(elsewhere.iterdir())
    for words in (("replay", "--html"), ("report",), ("verify",), ("show",)):
        assert "replays is a link, which is not followed" in boneyard(*words, str(out), code=2)
    assert sorted(elsewhere.iterdir()) == there


def test_the_disk_has_every_copy_before_anything_is_removed(
    tmp_path: Path, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut could take the copies, of which only the names were written."""
    out = tmp_path / "out"
    run(out, str(bot), "greedy", *WORDS)
    before = {path.relative_to(out) for path in out.rglob("*") if path.name != ".lock"}
    edit(bot)
    true_unlink = Path.unlink
    synced, moved, left = set[Path](), list[set[Path]](), list[set[Path]]()

    def fsync(descriptor: int) -> None:
        synced.add(Path(f"/proc/self/fd/{descriptor}").readlink())

    def rename(source: Path, target: Path) -> Path:
        moved.append({path.relative_to(source) for path in synced if source in path.parents})
        synced.clear()
        return source.replace(target)

    def unlink(path: Path, **_: object) -> None:
        left.append({*synced})
        true_unlink(path)

    plan, event = planned(bot, ("greedy",))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        patch.setattr(Path, "rename", rename)
        patch.setattr(Path, "unlink", unlink)
        at_home.open_at_home(Folder(out), plan, event, boards_asked=False)
    assert moved[0] == before
    assert {out / "private" / "earlier", out / "private"} <= left[0]


class Killed(BaseException):
    """The end of a process, at some write."""


def event_files(out: Path) -> dict[str, bytes]:
    """Return the files of the event, without those set aside, and those cut off by a kill."""
    found = {f"{path.relative_to(out)}": data for path, data in contents(out).items()}
    return {
        name: data
        for name, data in found.items()
        if "earlier" not in name and not name.endswith(".new")
    }


@contextmanager
def killed_at(monkeypatch: pytest.MonkeyPatch, last: int) -> Iterator[list[bool]]:
    """End the block at this change of a file, as a kill does; tell in the list that it came."""
    left, killed = last, list[bool]()

    def cut(true: Callable[..., object]) -> Callable[..., object]:
        def called(*args: object, **more: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return true(*args, **more)

        return called

    with monkeypatch.context() as patch:
        for module, name in CHANGES:
            patch.setattr(module, name, cut(getattr(module, name)))
        try:
            yield killed
        except Killed:
            killed.append(True)


CHANGES = (
    *((shutil, name) for name in ("copy2", "copytree")),
    *((os, name) for name in ("unlink", "rename", "replace", "rmdir")),
)
"""Functions that change files."""


@pytest.mark.parametrize(
    "others",
    [
        ("greedy",),
        # Slow: the same promise where games of other bots stay.
        pytest.param(("greedy", "random"), marks=pytest.mark.slow),
    ],
)
def test_killed_at_any_moment_of_the_change_nothing_is_lost(
    tmp_path: Path, bot: Path, monkeypatch: pytest.MonkeyPatch, others: tuple[str, ...]
) -> None:
    """Each call that changes a file may be the last one; then the old files are put back."""
    out = tmp_path / "out"
    run(out, str(bot), *others, *WORDS)
    first, kept = results(out), edit(bot)
    shutil.copytree(out, tmp_path / "spare")
    ended = 0
    for last in range(1, 200):
        plan, event = planned(bot, others)
        with killed_at(monkeypatch, last) as killed:
            at_home.open_at_home(Folder(out), plan, event, boards_asked=False)
        if not killed:
            break
        ended += 1
        # The next run may be killed while it puts the old files back.
        with killed_at(monkeypatch, 2 * last):
            bring_back(Folder(out))
        bring_back(Folder(out))
        assert event_files(out) == event_files(tmp_path / "spare")
        shutil.rmtree(out)
        shutil.copytree(tmp_path / "spare", out)
    assert ended > 5
    bot.write_bytes(kept)
    run(out, str(bot), *others, *WORDS)
    assert results(out) == first


def planned(
    bot: Path, others: tuple[str, ...], *, predictable: bool = True
) -> tuple[WrittenPlan, Event]:
    options = EventOptions((str(bot), *others), choices=SHORT[1:2], boards=2, sandbox="off")
    plan = read_plan(options, predictable=predictable)
    return plan, build_event(plan, bot.parent / "build").event
