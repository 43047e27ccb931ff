"""Rounds on a league's site: published once, and again when their luck comes later."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.rules.variants import find_variant
from protocol.codec import encode_json
from protocol.records import RoundRecord
from tests.support.made_up_events import evidence
from tests.support.made_up_leagues import made_up_league
from tournaments.league.pages import rounds
from tournaments.league.pages.rounds import costliest_rounds, publish_round, round_facts
from tournaments.report.log_facts import LogFacts, log_facts
from tournaments.storage.folder import Folder


def test_the_costliest_round_of_each_seat_is_told() -> None:
    """Seat 0 lost most in round 2, by 30 points; seat 1 in round 1, by 10."""
    first = RoundRecord(1, "out", (10, 0), (10, 0))
    second = RoundRecord(2, "blocked", (0, 30), (10, 30))
    assert costliest_rounds(find_variant("draw"), 2, (first, second)) == (
        "round 2 cost it 30 points, blocked",
        "round 1 cost it 10 points",
    )


def test_a_round_is_published_once_and_again_with_its_luck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    data = made_up_league(tmp_path / "league", rounds=1)
    one = data.divisions["draw"].rounds[0]
    one.folder.path.mkdir(parents=True)
    (one.folder.path / "round.json").write_bytes(encode_json(one.plan))
    site = Folder(tmp_path / "site")

    def write(path: Path, *_: object, **__: object) -> None:
        written.append(path)
        site.path.mkdir(exist_ok=True)
        if one.folder.review.exists():
            site.review.write_bytes(one.folder.review.read_bytes())

    monkeypatch.setattr(rounds, "write_event_site", write)
    for expected in (1, 1):
        publish_round(one, site.path, [])
        assert len(written) == expected
    one.folder.review.write_text("{}")
    for _ in range(2):
        publish_round(one, site.path, [])
        assert len(written) == 2


def test_facts_do_not_name_the_folder_of_the_league(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot's words may."""
    one = made_up_league(tmp_path / "league", rounds=1).divisions["draw"].rounds[0]

    def known(folder: Folder, games: set[str]) -> LogFacts:
        words = f"File {folder.path.resolve().parents[2]}/versions/x/main.py, line 1"
        return replace(log_facts(folder, games), evidence=(evidence(one.results[0], stderr=words),))

    monkeypatch.setattr(rounds, "log_facts", known)
    facts = round_facts(one, with_logs=True)
    assert facts.evidence[0].stderr == "File versions/x/main.py, line 1"
    assert round_facts(one, with_logs=False).evidence == ()
