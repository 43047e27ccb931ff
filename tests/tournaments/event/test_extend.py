"""Events that grow: the bytes of one that was played at once; which version of a bot plays."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.program import INTERRUPTED
from arena.sandbox.command import Command
from protocol.messages import Clock
from tests.support.events import (
    FOUR,
    SHORT,
    boneyard,
    fits,
    logs,
    outputs,
    run,
    start_run,
    summary,
    wait_for_games,
)
from tests.support.fast_run import slow_except
from tests.support.planned_events import event
from tournaments.commands.run import publish_reports
from tournaments.event import folder
from tournaments.event.book import Ledger, read_ledger
from tournaments.event.folder import Folder
from tournaments.event.grow import incompatibility, resolve_versions
from tournaments.formats.base import Entrant
from tournaments.formats.entrant import OwnClock
from tournaments.formats.knockout import Knockout
from tournaments.formats.swiss import Swiss
from tournaments.formats.tables import Gauntlet, Ladder, RoundRobin
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event
from tournaments.rating.sprt import Sprt
from tournaments.rating.tables import Anchor


def without_latecomers(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files without the notes on late entrants."""
    results = json.loads(files["results.json"])
    del results["latecomers"]
    report = re.sub(
        rb"\nDeals were public before these bots entered[^\n]*\n", b"", files["report.md"]
    )
    return {**files, "report.md": report, "results.json": json.dumps(results).encode()}


ROUND = ("--set", "target=1")
GROWTH = {
    "bots": ((*FOUR[:2], "--boards", "1"), ("random", *FOUR[:2], "--boards", "2")),
    "three seats": (
        (*FOUR[:3], "--boards", "1", "--seats", "3"),
        (*reversed(FOUR), "--boards", "1", "--seats", "3"),
    ),
    "rounds": (
        (*FOUR, "--boards", "1", "--format", "swiss", "--rounds", "1"),
        (*FOUR, "--boards", "1", "--format", "swiss", "--rounds", "2"),
    ),
    "cap": (
        (*FOUR[:2], "--format", "versus", "--boards", "20"),
        (*FOUR[:2], "--format", "versus", "--boards", "22"),
    ),
    "ladder": ((*FOUR[:3], "--boards", "1"), (*FOUR, "--boards", "1", "--format", "ladder")),
}
"""The words of an event at first, and those with which its user extends it."""


# Slow: an event that grew in any way is, to the byte, the one that was played at once.
@pytest.mark.parametrize("way", slow_except(["bots"], GROWTH))
def test_an_extended_event_is_the_one_played_at_once(tmp_path: Path, way: str) -> None:
    before, after = GROWTH[way]
    grown, reference = tmp_path / "grown", tmp_path / "once"
    run(grown, *before, *ROUND)
    commitments = (grown / "commitments.jsonl").read_bytes()
    results = {result.game: result for result in read_ledger(grown / "ledger.jsonl")}
    run(grown, *after, *ROUND, "--jobs", "2")
    run(reference, *after, *ROUND)
    assert without_latecomers(outputs(grown)) == without_latecomers(outputs(reference))
    assert fits(grown)
    assert (grown / "commitments.jsonl").read_bytes().startswith(commitments)
    # Nothing was played again: every result is one of before, or new.
    games = sum(log.count(b'"type":"game"') for log in logs(grown))
    assert games == summary(grown)["played"]
    now = {result.game: result for result in read_ledger(grown / "ledger.jsonl")}
    assert results.items() <= now.items()


def test_a_few_more_games_are_reported_once_and_even_if_none_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[int] = []

    def publish(ledger: Ledger) -> None:
        reports.append(len(ledger.results))
        publish_reports(ledger)

    monkeypatch.setattr("tournaments.cli.run.publish_reports", publish)
    few = ("first", "greedy", *ROUND, "--boards")
    run(tmp_path, *few, "1")
    run(tmp_path, *few, "2")
    assert reports == [2, 2, 4]
    monkeypatch.setattr("tournaments.cli.run.FEW_GAMES", 1.0)
    run(tmp_path, *few, "3")
    assert reports == [2, 2, 4, 6]
    monkeypatch.setattr("tournaments.cli.run._play", lambda *_: INTERRUPTED)
    run(tmp_path, *few, "4", code=INTERRUPTED)
    assert reports == [2, 2, 4, 6, 6]
    assert summary(tmp_path)["planned"] == 8
    assert fits(tmp_path)


# Slow: what was promised before an event grew is checked later.
@pytest.mark.slow
def test_history_keeps_the_digest_of_older_commitments(tmp_path: Path) -> None:
    words = ("first", "greedy", *ROUND)
    run(tmp_path, *words, "--boards", "2")
    digest = folder.digest(Folder(tmp_path))
    output = run(tmp_path, *words, "random", "--boards", "3")
    assert "Note: random will also play 2 boards whose deals were already public" in output
    assert digest in boneyard("verify", str(tmp_path))
    history = tmp_path / "history.jsonl"
    history.write_text(history.read_text().replace(digest, "0" * 64))
    output = boneyard("verify", str(tmp_path), code=1)
    assert "the SHA-256 of its first 2 lines is not the one in history.jsonl" in output


@pytest.mark.slow
def test_an_event_killed_while_it_grows_equals_one_played_at_once(tmp_path: Path) -> None:
    """The logs keep the end that the ledger has lost to the new order."""
    out, reference = tmp_path / "out", tmp_path / "once"
    run(out, "first", "greedy", *SHORT, "--boards", "3")
    process = start_run(out, "first", "greedy", "random", *SHORT, jobs=2)
    wait_for_games(out, 9)
    process.kill()
    process.wait()
    assert len(list(read_ledger(out / "ledger.jsonl"))) < 9
    assert folder.has_unseen(Folder(out))
    words = ("first", "greedy", "random", *SHORT, "--boards", "4")
    run(out, *words)
    run(reference, *words)
    assert not folder.has_unseen(Folder(out))
    assert without_latecomers(outputs(out)) == without_latecomers(outputs(reference))
    assert fits(out)


slower = Entrant("bot2@200ms", Command(("x",), "."), "", clock=OwnClock(200, 1000))


@pytest.mark.parametrize(
    ("new", "part"),
    [
        (event(3, boards=2), "(boards)"),
        (event(2), "cannot be removed"),
        (
            replace(event(3), entrants=(*event(2).entrants, slower)),
            "bot bot2 cannot be removed; with another clock it is another bot, bot2@200ms",
        ),
        (event(3, form=Gauntlet()), "would not meet any more"),
        (event(3, form=Swiss()), "cannot become a swiss"),
        (replace(event(3), clock=Clock(move_ms=1)), "the clock cannot change"),
        (event(3, seats=3), "the number of seats cannot change"),
        (
            replace(event(3), boards_a_sitting=10, predictable=True),
            "the format and the seed cannot change",
        ),
    ],
)
def test_changes_that_lose_or_bias_results_are_refused(new: Event, part: str) -> None:
    assert part in (incompatibility(event(3), new) or "")


def turn(event: Event) -> Event:
    return replace(event, entrants=event.entrants[::-1])


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (event(4, form=Swiss(3)), event(4, form=Swiss(2)), "(rounds)"),
        (event(4, form=Swiss(3)), event(5, form=Swiss(3)), "its bots cannot change"),
        (event(4, form=Swiss(3)), event(4, boards=4, form=Swiss(3)), "(boards)"),
        (event(4, form=Knockout(3)), event(4, form=Knockout(4)), "(tie_boards)"),
        (event(2, form=Versus()), event(2, form=Versus(Sprt(h1=5))), "(sprt)"),
        (event(4, form=Swiss(3)), event(4, form=Swiss(9)), None),
        (event(2, form=Versus()), event(2, boards=4, form=Versus(Sprt(max_boards=9999))), None),
        (event(2, form=Versus()), turn(event(2, form=Versus())), "bot0 is better than bot1"),
        (event(4), event(5, form=Ladder()), None),
        (event(4, form=Gauntlet()), event(4, form=RoundRobin()), None),
        (event(8, 3), event(9, 3), "--format ladder"),
        (event(12, 4), event(13, 4, form=Ladder()), None),
        (event(13, 4, form=Ladder()), event(14, 4, form=Ladder(("bot12", "bot13"))), None),
    ],
)
def test_each_format_can_grow_in_its_own_way(old: Event, new: Event, part: str | None) -> None:
    reason = incompatibility(old, new)
    assert reason is None if part is None else part in (reason or "")


def test_seeds_that_were_public_stay_so_while_a_newcomer_is_awaited(tmp_path: Path) -> None:
    bot, out = tmp_path / "mine.py", tmp_path / "out"
    run(out, "first", "greedy", *SHORT, "--boards", "1")
    seeds = (out / "seeds.jsonl").read_bytes()
    assert seeds
    bot.write_text("raise SystemExit")
    run(out, "first", "greedy", str(bot), *SHORT, "--boards", "1", code=2)
    assert (out / "seeds.jsonl").read_bytes() == seeds
    assert fits(out)


def test_the_files_say_which_version_plays() -> None:
    """Back to the first files: the first version plays on, and the second is retired."""
    first = event(3)

    def with_files(name: str, letter: str) -> Event:
        bots = [replace(bot, fingerprint=letter * (bot.name == name)) for bot in first.entrants]
        return replace(first, entrants=tuple(bots))

    everybody = ("bot0", "bot1", "bot2", "bot1@2", "bot1@3")
    second = resolve_versions(first, with_files("bot1", "b"), everybody)
    assert [bot.name for bot in second.entrants] == ["bot0", "bot1@2", "bot2", "bot1"]
    assert second.retired == {"bot1"}
    reversion = resolve_versions(second, first, everybody)
    assert reversion.retired == {"bot1@2"}
    third = resolve_versions(reversion, with_files("bot1", "c"), everybody)
    assert third.retired == {"bot1", "bot1@2"}
    assert third.entrants[1].name == "bot1@3"
    assert incompatibility(second, third) is None
    swiss = replace(first, format=Swiss())
    changed_swiss = resolve_versions(
        swiss, replace(with_files("bot1", "b"), format=Swiss()), everybody
    )
    assert "bot bot1 has changed" in (incompatibility(swiss, changed_swiss) or "")


def test_an_anchor_is_kept_until_another_is_given() -> None:
    """Met in a real event: the next `run` without --anchor lost what `report` had set."""
    old = replace(event(3), anchor=Anchor("bot1", 1500))
    new = event(3)
    assert resolve_versions(old, new, ()).anchor == Anchor("bot1", 1500)
    anchored = replace(new, anchor=Anchor("bot2", 1200))
    assert resolve_versions(old, anchored, ()).anchor == Anchor("bot2", 1200)
    # The rating is that of the version to which it was given; a new one has its own name for it.
    entrants = [replace(bot, fingerprint="b" * (bot.name == "bot1")) for bot in new.entrants]
    edit = replace(new, entrants=tuple(entrants))
    assert resolve_versions(old, edit, ("bot1",)).anchor == Anchor("bot1", 1500)
    second = resolve_versions(old, replace(edit, anchor=Anchor("bot1", 1400)), ("bot1",))
    assert second.anchor == Anchor("bot1@2", 1400)
    assert resolve_versions(second, new, ("bot1",)).anchor == Anchor("bot1", 1400)
    # Who takes the anchor out of the plan is told that nobody can be.
    rest = replace(new, entrants=(new.entrants[0], new.entrants[2]))
    assert "cannot be removed" in (incompatibility(old, resolve_versions(old, rest, ())) or "")
