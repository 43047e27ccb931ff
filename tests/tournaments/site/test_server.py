"""`boneyard watch`: what is seen of an event that is being played, and what is not."""

import os
import re
import sys
from pathlib import Path

import msgspec
import pytest

from arena.logs.gamelog import read_games
from arena.ui.server import Broadcast, Site
from tests.support.events import boneyard, copied, copy_part, finished, go_on, served
from tests.support.pages import faults, needs_chromium, open_page
from tournaments.event.folder import Folder
from tournaments.site import view
from tournaments.site.server import REPORTED, site
from tournaments.site.view import LiveView, Snapshot


def watch(folder: Path, *, everything: bool = False) -> LiveView:
    live_view = LiveView(Folder(folder), everything=everything)
    assert live_view.look()
    return live_view


def hands(now: Snapshot) -> list[object]:
    """Return the visible hands of running games."""
    return [
        hand
        for game in now.playing
        if not game.over and not game.scene.pips
        for hand in game.scene.hands
    ]


def test_several_looks_add_up_to_one(event: Path, tmp_path: Path) -> None:
    folder = copy_part(event, tmp_path)
    growing = watch(folder)
    before = growing.now()
    assert 0 < before.played < 12
    assert not before.complete
    assert before.head[2] == "Elo so far"
    assert not growing.look()
    go_on(event, folder)
    assert growing.look()
    after, at_once = growing.now(), watch(event).now()
    assert after.rows == at_once.rows
    assert {line.words for line in after.finished} == {line.words for line in at_once.finished}
    assert after.playing == at_once.playing


def test_a_look_reports_once_that_a_run_has_begun_or_ended(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = iter([True, True, True, True, False, False])
    monkeypatch.setattr(view, "is_running", lambda _: next(runs))
    folder = Folder(copy_part(event, tmp_path))
    folder.lock.touch()
    growing = watch(folder.path)
    assert (growing.now().running, growing.look()) == (True, False)
    os.utime(folder.lock, (0, 0))  # Another run has begun, before this one could be seen to end.
    assert (growing.look(), growing.look()) == (True, False)
    assert (growing.look(), growing.now().running) == (True, False)
    assert not growing.look()


def test_hands_of_games_that_go_on_are_shown_only_if_asked_for(event: Path, tmp_path: Path) -> None:
    folder = copy_part(event, tmp_path)
    closed = hands(watch(folder).now())
    assert closed
    assert all(isinstance(hand, int) for hand in closed)
    assert not any(isinstance(hand, int) for hand in hands(watch(folder, everything=True).now()))


def test_only_finished_games_are_replayed_unless_asked_for(event: Path, tmp_path: Path) -> None:
    folder = copy_part(event, tmp_path, 0.7)
    names = "1.first.greedy", "2.first.greedy"
    views = watch(folder), watch(folder, everything=True), watch(event)
    counts = [sum(view.game(name) is not None for name in names) for view in views]
    assert counts == [1, 2, 2]
    assert watch(copy_part(event, tmp_path, 0.2)).game(names[0]) is None


def test_a_damaged_log_is_reported_and_the_others_go_on(event: Path, tmp_path: Path) -> None:
    folder = copied(event, tmp_path)
    log = folder / "games" / "from-1.first.greedy.jsonl"
    data = bytearray(log.read_bytes())
    data[len(data) // 4] ^= 1
    log.write_bytes(data)
    live_view = watch(folder)
    now = live_view.now()
    assert len(now.trouble) == 1
    assert "from-1.first.greedy.jsonl, byte" in now.trouble[0]
    assert now.played == 10
    assert not live_view.look()


def test_a_foul_is_listed_with_what_is_known_once_its_game_is_over() -> None:
    now = watch(finished("fouls")).now()
    assert now.fouls[0].words.startswith("rude, malformed: Not a message")
    assert now.fouls[0].replay.startswith("replay.html#game=1.")
    assert {foul.replay.partition("&")[2] for foul in now.fouls} == {
        "at=foul&seat=0",
        "at=foul&seat=1",
    }


def test_only_reports_and_replays_are_served(event: Path) -> None:
    live_view = watch(event)
    served_site = site(live_view, Broadcast())
    assert page(served_site, "")
    assert page(served_site, "replays/1.first.greedy.js")
    names = [str(path.relative_to(event)) for path in event.rglob("*") if path.is_file()]
    assert "private/secret.key" in names
    wrong = ("replays/", "replays/../private/secret.key", "replays/9.first.greedy.js")
    for name in (*names, *wrong, "replays/1.first.greedy", "../event.json"):
        replay = re.fullmatch(r"replays/[12]\..*\.js", name)
        is_served = name in (*REPORTED, "replay.html") or bool(replay)
        assert bool(page(served_site, name)) is is_served


def page(served_site: Site, name: str) -> str | None:
    make = served_site.find(name)
    return make() if make else None


def test_the_secret_is_in_nothing_that_is_served(event: Path, tmp_path: Path) -> None:
    folder = copy_part(event, tmp_path)
    live_view = watch(folder, everything=True)
    state = msgspec.json.encode(live_view.now()).decode()
    names = ("", "replay.html", "replays/1.first.greedy.js")
    pages = [page(site(live_view, Broadcast()), name) or "" for name in names]
    secret = (event / "private/secret.key").read_bytes()
    for text in (state, *pages):
        assert secret.hex() not in text
        assert sys.prefix not in text


def test_a_folder_without_event_is_the_users_error(tmp_path: Path) -> None:
    assert "has no event" in boneyard("watch", f"{tmp_path}", code=2)


# Slow: whoever watches sees games end, the standings and no tile too early, on a phone too.
@pytest.mark.slow
@needs_chromium
def test_two_pages_show_games_end(event: Path, tmp_path: Path) -> None:
    folder = copy_part(event, tmp_path)
    with (
        served("watch", str(folder)) as (_, address),
        open_page(address, local=True) as desktop,
        open_page(address, local=True, width=400, dark=True) as phone,
    ):
        for page in (desktop, phone):
            page.wait_for_selector("main[data-played]:not([data-played='0'])")
            assert page.locator("article[data-over=false]").count() > 0
        running = desktop.locator("article[data-over=false] .tile .face")
        count = running.count()
        assert desktop.locator("article[data-over=false] .tile .back").count() > 14
        assert count < 28 * desktop.locator("article").count()
        assert faults(desktop) == []
        go_on(event, folder)
        for page in (desktop, phone):
            page.wait_for_selector("main[data-played='12']")
            assert "finished" in page.inner_text("#played")
            assert page.locator("article[data-over=false]").count() == 0
            assert page.locator("article[data-over=true]").count() == 6
            assert page.locator("article .tile .back").count() == 0
            assert page.locator("#standings tbody tr").count() == 3
            rows = page.locator("#standings tr").evaluate_all(
                "(rows) => rows.map((row) => row.offsetHeight)"
            )
            # No rank is wrapped, and no row hidden, on a phone either.
            assert max(rows) < 2 * min(rows)
            assert sum(rows) <= page.locator(".few").evaluate("(box) => box.clientHeight")
            assert faults(page) == []
        desktop.select_option("#which", "from-1.first.greedy")
        assert desktop.locator("article").count() == 1
        assert desktop.locator("article ol li").count() > 3
        with desktop.context.expect_page() as opening:
            desktop.click("article a")
        *_, last = read_games(folder / "games" / "from-1.first.greedy.jsonl")
        opening.value.wait_for_selector(f"main[data-ready='{last.game.game}']")
