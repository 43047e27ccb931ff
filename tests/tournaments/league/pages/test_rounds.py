"""Rounds on a league's site: published once, and again when their luck comes later."""

from pathlib import Path

import pytest

from protocol.codec import encode_json
from tests.support.made_up_leagues import made_up_league
from tournaments.league.pages import rounds
from tournaments.league.pages.rounds import publish_round
from tournaments.storage.folder import Folder


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
