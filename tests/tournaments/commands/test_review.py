"""`boneyard explain --review` of an event: its files, sums, kills, damage, report."""

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from arena.valuation import decision_loss
from protocol.codec import encode_json
from tests.support.events import BONEYARD, boneyard, copied, copy_of
from tests.support.forgeries import write_sealed
from tests.support.made_up import fake_review
from tests.support.pages import faults, needs_chromium, open_page
from tournaments.cli.main import main
from tournaments.event.folder import Folder
from tournaments.event.luck import SeatLosses, read_seats, read_terms

GAMES = 12
"""Games of the small event."""


@pytest.fixture
def event(event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the event; a fake reviewer in this process reviews it."""
    monkeypatch.setattr(decision_loss, "review_seat", fake_review)
    return copied(event, tmp_path / "event")


def invoke(*words: object, code: int = 0) -> Result:
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == code, done.output
    return done


def seats(folder: Path) -> list[SeatLosses]:
    return [*read_seats(Folder(folder))]


def test_every_seat_of_every_game_is_reviewed_once(event: Path) -> None:
    invoke("explain", "--review", event)
    invoke("explain", "--review", event)
    pairs = [(seat.game, seat.seat) for seat in seats(event)]
    assert len(pairs) == len({*pairs}) == 2 * GAMES
    assert all(seat.decisions for seat in seats(event))


def test_the_sums_of_a_review_are_those_of_its_decisions(event: Path) -> None:
    review = json.loads(invoke("explain", "--review", event, "--json").stdout)
    assert review == json.loads((event / "review.json").read_bytes())
    rows = [*csv.DictReader((event / "review.csv").read_text().splitlines())]
    for bot in review["entrants"]:
        lines = [row for row in rows if row["entrant"] == bot["entrant"]]
        losses = [float(row["loss"]) for row in lines]
        assert bot["total"]["decisions"] == len(lines)
        assert bot["total"]["loss"]["mean"] == pytest.approx(sum(losses) / len(lines), abs=1e-5)
        assert bot["total"]["round_loss"]["mean"] == pytest.approx(
            sum(losses) / bot["rounds"], abs=1e-5
        )
        dearest = [decision["gap"] for decision in bot["dearest"]]
        assert dearest == sorted(dearest, reverse=True)
        # All errors are equal here, so nothing but the gap decides.
        assert dearest == sorted((float(row["gap"]) for row in lines), reverse=True)[:10]
    assert sum(bot["games"] for bot in review["entrants"]) == 2 * GAMES


def test_the_report_has_the_review_and_all_files_fit(event: Path) -> None:
    assert "## Decisions" not in (event / "report.md").read_text()
    output = invoke("explain", "--review", event).stdout
    for text in ((event / "report.md").read_text(), (event / "report.html").read_text(), output):
        assert "points a decision by its choices" in text
    page = (event / "report.html").read_text()
    decisions = [decision for seat in seats(event) for decision in seat.decisions]
    dearest = max(decisions, key=lambda decision: decision.loss)
    assert f"&amp;at={dearest.at}" in page
    assert invoke("verify", event).stdout.endswith("ratings equal.\n")


def test_a_game_suggests_its_dearest_decision(event: Path) -> None:
    invoke("explain", "--review", event)
    for seat in seats(event)[:3]:
        output = invoke("explain", event, seat.game, "--seat", seat.seat).stdout
        dearest = max(seat.decisions, key=lambda decision: decision.loss)
        assert f"explain {event} {seat.game} {dearest.number}" in output


def test_a_review_of_all_completes_that_of_one_bot(event: Path) -> None:
    invoke("explain", "--review", event, "--bot", "greedy")
    assert {seat.entrant for seat in seats(event)} == {"greedy"}
    assert "8 of 24 seats" in (event / "report.md").read_text()
    invoke("explain", "--review", event)
    assert len(seats(event)) == 2 * GAMES
    assert "of 24 seats" not in (event / "report.md").read_text()


def test_a_review_with_other_worlds_is_refused(event: Path) -> None:
    invoke("explain", "--review", event, "--deals", 8, "--bot", "greedy")
    refused = invoke("explain", "--review", event, "--deals", 9, code=2)
    assert "has 8 worlds (format" in refused.output
    assert "remove the file" in refused.output
    invoke("explain", "--review", event)
    terms = read_terms(Folder(event))
    assert terms
    assert terms.worlds == 8


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("--bot", "gredy"), "did you mean greedy"),
        (("1.gredy.first",), "did you mean"),
        (("1.first.greedy", "--bot", "gredy"), "did you mean greedy"),
    ],
)
def test_wrong_names_get_one_sentence(event: Path, words: tuple[str, ...], suggestion: str) -> None:
    refused = invoke("explain", "--review", event, *words, code=2)
    assert suggestion in refused.output
    assert refused.output.count("\n") == 1
    assert not (event / "review.jsonl").exists()


def test_an_event_without_a_finished_board_is_refused(event: Path) -> None:
    """Its hidden tiles stay secret while others have to play them."""
    (event / "seeds.jsonl").write_bytes(b"")
    assert "no finished board" in invoke("explain", "--review", event, code=2).output


def test_games_on_boards_that_are_still_played_wait(event: Path) -> None:
    seeds = event / "seeds.jsonl"
    seeds.write_bytes(seeds.read_bytes().splitlines(keepends=True)[0])
    invoke("explain", "--review", event)
    assert {seat.board for seat in seats(event)} == {1}


def test_a_line_that_a_kill_cut_short_is_reviewed_again(event: Path) -> None:
    invoke("explain", "--review", event)
    review = (event / "review.jsonl").read_bytes()
    (event / "review.jsonl").write_bytes(review[:-30])
    invoke("explain", "--review", event)
    assert (event / "review.jsonl").read_bytes() == review


def test_a_damaged_log_costs_only_its_own_games(event: Path) -> None:
    log = next(path for path in Folder(event).logs() if path.suffix == ".jsonl")
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    done = invoke("explain", "--review", event, code=1)
    assert log.name in done.stderr
    assert 2 * GAMES - 4 <= len(seats(event)) < 2 * GAMES


def write_review(folder: Path, records: list[SeatLosses], **changes: object) -> None:
    """Write a review of any content with right checksums; `changes` apply to its terms."""
    terms = read_terms(Folder(folder))
    assert terms
    lines = (replace(terms, **changes), *records)
    write_sealed(folder / "review.jsonl", map(encode_json, lines))


def test_verify_finds_a_review_that_does_not_follow_from_the_log(event: Path) -> None:
    invoke("explain", "--review", event)
    before = (event / "review.jsonl").read_bytes()
    for changes in ({"loss": 0.0}, {"values": ()}, {"error": 9.5}, {"phase": "lead"}):
        forgeries = [
            replace(seat, decisions=tuple(replace(row, **changes) for row in seat.decisions))
            for seat in seats(event)
        ]
        write_review(event, forgeries)
        output = invoke("verify", event, code=1).output
        assert "review.json: does not follow" in output
        assert "another review gives other values" in output
        (event / "review.jsonl").write_bytes(before)
    stranger = replace(seats(event)[0], entrant="nobody")
    write_review(event, [stranger, *seats(event)[1:]])
    assert "the ledger has no such seat" in invoke("verify", event, code=1).output
    huge = seats(event)[0].decisions
    write_review(event, [replace(seats(event)[0], decisions=(replace(huge[0], loss=1e308),))])
    assert "the review was not checked" in invoke("verify", event, code=1).output
    assert "review.jsonl, line 2" in invoke("explain", "--review", event, code=2).output
    (event / "review.jsonl").write_bytes(before)
    write_review(event, seats(event), worlds=10**9)
    assert "the review was not checked" in invoke("verify", event, code=1).output
    (event / "review.jsonl").write_bytes(before)
    (event / "review.jsonl").write_bytes(before.replace(b"early", b"later", 1))
    assert "the review was not checked" in invoke("verify", event, code=1).output
    (event / "review.jsonl").unlink()
    assert "review.jsonl, from which it follows" in invoke("verify", event, code=1).output


# Slow: a review of three processes is killed and goes on.
@pytest.mark.slow
def test_a_review_goes_on_after_kill_9(tmp_path: Path) -> None:
    """Run the real reviewer in real processes."""
    folder, reference = (copy_of("block", tmp_path / name) for name in ("killed", "whole"))
    words = (*BONEYARD, "explain", "--review", str(folder), "--deals", "4")
    log = folder / "review.jsonl"
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not (log.exists() and log.read_bytes().count(b"\n") > 2):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    for event in (folder, reference):
        boneyard("explain", "--review", str(event), "--deals", "4")
    assert {*seats(folder)} == {*seats(reference)}
    assert (folder / "review.json").read_bytes() == (reference / "review.json").read_bytes()


# Slow: the report's section about a review is for everybody, on a phone too.
@pytest.mark.slow
@needs_chromium
def test_a_reviewed_report_has_no_serious_faults(event: Path) -> None:
    invoke("explain", "--review", event)
    with open_page(event / "report.html", width=390, dark=True) as page:
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.locator("#decisions table").count() > 3
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert faults(page) == []
