"""Replay pages: their packed games, the secrecy of a seat's own page, and their use."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from arena.analysis.alternative_deals import position_of
from arena.analysis.frames import frames, frames_for
from arena.analysis.timeline import Timeline, walk_log
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import derive, find_variant
from arena.ui.replay_page import (
    Fields,
    Scene,
    SceneBuilder,
    is_reviewed,
    pack_game,
    replay_page,
    replay_script,
)
from arena.valuation.terms import USUAL_TERMS
from protocol.position import read_position, write_position
from protocol.records import ChoiceRecord, FoulRecord
from tests.support.events import EVENTS, boneyard, copy_of, run
from tests.support.fast_run import FAST_TABLES, slow_except
from tests.support.games import DEVIL, any_of, bob_fouls, changed, log_game, short, write
from tests.support.pages import faults, needs_chromium, open_page, page_scenes, pairs, unpack_game
from tournaments.cli.main import main

SCRIPT = "</script><script>alert(1)</script><b title=\"'x'\">"


def scenes_of(game: LoggedGame, seat: int | None) -> list[Fields]:
    """Return the scenes of one viewer directly from its frames."""
    maker = SceneBuilder(game.sitting.seats, game.sitting.seat_clocks, partners=False, seat=seat)
    return to_plain(maker.scene(frame) for frame in frames(walk_log(game), seat))


def to_plain(scenes: Iterable[Scene]) -> list[Fields]:
    """Return scenes as the page's script has them."""
    decoded: list[Fields] = msgspec.json.decode(msgspec.json.encode([*scenes]))
    return decoded


def table_tiles(scene: Fields) -> tuple[Any, ...]:
    """Return the tiles on the table."""
    return scene["round"], scene["line"], scene["lead"], str(scene["hands"]), str(scene["stock"])


@pytest.mark.parametrize(("name", "seats"), FAST_TABLES)
def test_every_game_is_packed_whole(name: str, seats: int) -> None:
    game = log_game(short(name), seats, any_of(name), note="why")
    views = page_scenes(game)
    assert game.result
    for scenes in views:
        assert scenes[-1]["scores"] == list(game.result.scores)
        assert scenes[-1]["places"] == list(game.result.places)
    if not game.sitting.rules.deal.partners:
        assert views[0] == scenes_of(game, None)
    look = game.sitting.seats, game.sitting.seat_clocks
    partners = game.sitting.rules.deal.partners
    viewers = (None, *range(seats))
    frame_groups = [*frames_for(walk_log(game), viewers)]
    for index, seat in enumerate(viewers):
        maker = SceneBuilder(*look, partners=partners, seat=seat)
        assert to_plain(maker.scene(frames_of[index]) for frames_of in frame_groups) == views[index]
    for seat in range(seats):
        # Moments are those of everybody; on the table lies what the seat's own door shows.
        assert {*map(table_tiles, scenes_of(game, seat))} <= {*map(table_tiles, views[seat + 1])}


# --- what a seat's own page keeps to itself ---


def page_of(game: LoggedGame, seat: int | None = None, *, has_review: bool = False) -> str:
    return replay_page("replay", pack_game(game, seat, terms=USUAL_TERMS if has_review else None))


@pytest.mark.parametrize(
    ("name", "seats"),
    slow_except(
        [("auction-draw", 3)],
        [("draw", 2), ("dutch", 3), ("double-draw", 3), ("auction-draw", 3), ("vietnamese", 2)],
    ),
)
def test_the_page_of_a_seat_is_the_same_in_every_world_that_it_cannot_tell(
    name: str, seats: int
) -> None:
    differ = 0
    for seat, world, other_world in pairs(name, seats, 6):
        assert page_of(world, seat, has_review=True) == page_of(other_world, seat, has_review=True)
        differ += page_of(world) != page_of(other_world)
    assert differ > 5


def test_nothing_but_its_own_view_is_in_the_page_of_a_seat() -> None:
    """Tiles in the file: its own, the line, and what was shown when a round was over."""
    game = log_game(find_variant("dutch"), 3, any_of(4), note="secret plan")
    game = changed(game, ChoiceRecord, note="mine alone", info={"my_number": 0.125})
    author = next(choice.seat for choice in game.choices())
    for seat in range(3):
        play = unpack_game(pack_game(game, seat).data)
        assert play.seats == (seat,)
        text = msgspec.json.encode(play).decode()
        assert ("mine alone" in text) == ("my_number" in text) == (seat == author)
        for scene in page_scenes(game, seat)[0]:
            hidden = [hand for holder, hand in enumerate(scene["hands"]) if holder != seat]
            assert scene["pips"] or all(isinstance(hand, int) for hand in hidden)
            assert scene["pips"] or isinstance(scene["stock"], int)
            assert scene["asked"] is None or scene["asked"]["seat"] == seat


# --- the question as one line ---


def lines_of(scenes: Iterable[Fields]) -> list[str]:
    """Return the line of each question as the page's script puts it together."""
    lines: list[str] = []
    before: dict[int, str] = {}
    for scene in scenes:
        if question := scene["asked"]:
            shared_length, ending = question["position"]
            before[question["seat"]] = before.get(question["seat"], "")[:shared_length] + ending
            lines.append(before[question["seat"]])
    return lines


@pytest.mark.parametrize(("name", "seats"), FAST_TABLES)
def test_each_question_has_its_line_with_what_its_seat_knew(name: str, seats: int) -> None:
    game = log_game(short(name), seats, any_of(name))
    timeline, views = Timeline(game), page_scenes(game)
    for seat in range(seats):
        question_lines = [
            write_position(position_of(question.history, question.game).as_seen())
            for question in timeline.questions(seat)
        ]
        assert lines_of(views[seat + 1]) == lines_of(page_scenes(game, seat)[0])
        # Of draws in a row the page shows the first question.
        assert {*lines_of(views[seat + 1])} <= {*question_lines}
        assert {*lines_of(views[0])} >= {*lines_of(views[seat + 1])}
        assert not any(scene["dealt"] for scene in views[seat + 1])
    deals = [scene["dealt"] for scene in views[0] if scene["asked"]]
    for line, tiles in zip(lines_of(views[0]), deals, strict=True):
        before, question = line.rsplit("@", 2)[::2]
        position = read_position("@".join((before, tiles, question)))
        assert position.is_open
        assert write_position(position.as_seen()) == line


@needs_chromium
def test_a_key_or_a_click_copies_the_line_of_the_question(tmp_path: Path) -> None:
    game = log_game(find_variant("dutch"), 3, any_of(5))
    path, scenes = save_page(tmp_path, page_of(game)), page_scenes(game)[2]
    index = next(index for index, scene in enumerate(scenes) if scene["asked"] and index > 20)
    (line,) = lines_of(scenes[: index + 1])[-1:]
    with open_page(f"{path.as_uri()}#game=1.game&at={index}&seat=1") as page:
        wait_until_ready(page)
        assert page.input_value("#line") == line
        assert page.is_hidden("#tiles")
        page.keyboard.press("c")
        assert pasted_text(page) == line
        page.select_option("#seat", "null")
        page.check("#tiles")
        position = read_position(page.input_value("#line"))
        assert position.is_open
        assert write_position(position.as_seen()) == line
        page.click("#copy")
        assert pasted_text(page) == write_position(position)


def pasted_text(page: Page) -> str:
    """Return the copied text."""
    expect(page.locator("#copy")).to_have_text("copied")
    page.evaluate("document.body.append(document.createElement('textarea'))")
    page.locator("textarea").last.press("Control+V")
    return page.locator("textarea").last.input_value()


# --- the command ---


def run_replay(*words: object, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["replay", *map(str, words)])
    assert result.exit_code == code, result.output
    return result


def test_the_command_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = write(tmp_path / "log.jsonl", log_game())
    assert run_replay(log, "--html").stdout == "1.game.html\n"
    assert run_replay(log, "1.game", "--seat", 1, "--html").stdout == "1.game.seat-1.html\n"
    run_replay(log, "--html", "--out", tmp_path / "new" / "my.html")
    assert (tmp_path / "new" / "my.html").read_text() == (tmp_path / "1.game.html").read_text()
    assert "no seat 3" in run_replay(log, "--html", "--seat", 3, code=2).stderr
    assert "goes with --html" in run_replay(log, "--out", "x.html", code=2).stderr
    assert "add --html" in run_replay(log, "--review", code=2).stderr
    assert "than a seat knew" in run_replay(log, "--html", "--seat", 1, "--review", code=2).stderr


def test_the_page_of_one_game_is_reviewed_unless_told_otherwise(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", log_game(short("draw"), 2, any_of(4)))
    page = tmp_path / "page.html"
    run_replay(log, "--html", "--out", page)
    assert is_reviewed(page)
    run_replay(log, "--html", "--out", page, "--no-review")
    assert not is_reviewed(page)


def test_replays_are_made_when_a_run_ends_and_again_only_if_need_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = copy_of("round-robin", tmp_path / "event")
    monkeypatch.setattr("tournaments.cli.run.MOST_REPLAYS", 12)
    run(event, *EVENTS["round-robin"])
    assert "replays: 0 new" in run_replay(event, "--html").stdout
    (event / "replays" / "1.first.greedy.js").unlink()
    stale_page = event / "replays" / "2.first.greedy.js"
    stale_page.write_text(stale_page.read_text().replace("// Boneyard", "// Older"))
    (event / "replay.html").unlink()
    assert "replays: 2 new" in run_replay(event, "--html").stdout
    assert "OK: " in boneyard("verify", str(event))
    assert "12 new" in run_replay(event, "--html", "--review").stdout
    assert is_reviewed(stale_page)
    assert "replays: 0 new" in run_replay(event, "--html").stdout, "Reviews stay."
    assert "with one game" in run_replay(event, "--html", "--seat", 0, code=2).stderr
    write(tmp_path / "games" / "a.jsonl", log_game())
    assert "name a game too" in run_replay(tmp_path, "--html", code=2).stderr
    (tmp_path / "none").mkdir()
    assert "holds no game" in run_replay(tmp_path / "none", "--html", code=2).stderr


# --- in the browser ---


def save_page(folder: Path, html: str) -> Path:
    path = folder / "replay.html"
    path.write_text(html)
    return path


def wait_until_ready(page: Page) -> None:
    page.wait_for_selector("main[data-ready]:not([data-ready=''])")


def position(page: Page) -> str:
    return page.inner_text("#position")


STEPS = """(many) => [...Array(many)].map(() => {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  const drawn = document.querySelectorAll("#table .line .tile").length;
  return [document.getElementById("words").textContent, drawn];
})"""
"""So many presses of a key at once, and what is seen after each."""


@needs_chromium
def test_a_game_is_stepped_through_by_keys(tmp_path: Path) -> None:
    brief = derive(find_variant("draw"), "brief", {"rounds": 2, "hand": 4})
    game = log_game(brief, 2, any_of(7), note="because")
    assert game.result
    scenes = scenes_of(game, None)
    count = len(scenes)
    with open_page(save_page(tmp_path, page_of(game))) as page:
        wait_until_ready(page)
        turns = page.locator("#turns button")
        assert turns.count()
        opened_at = position(page)
        turns.first.click()
        assert position(page) == opened_at
        page.keyboard.press("Home")
        assert position(page) == f"1 of {count}"
        page.keyboard.press("ArrowRight")
        assert position(page) == f"2 of {count}"
        for index, (words, tile_count) in enumerate(page.evaluate(STEPS, count - 2), 2):
            assert scenes[index]["words"] in words
            assert tile_count == len(scenes[index]["line"]) // 2
        rows = [row.split("\t") for row in page.inner_text("#seats tbody").splitlines()]
        points = [row[1] for row in rows]
        assert points == [
            f"{score} (place {place})"
            for score, place in zip(game.result.scores, game.result.places, strict=True)
        ]
        assert "The game is over" in page.inner_text("#moves [aria-current]")
        page.keyboard.press("ArrowRight")
        assert position(page) == f"{count} of {count}"
        page.keyboard.press("Home")
        page.keyboard.press("PageDown")
        assert page.input_value("#round") == "2"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("PageUp")
        assert page.input_value("#round") == "2"
        page.keyboard.press("PageUp")
        assert position(page) == f"1 of {count}"
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        assert position(page) == f"{count - 1} of {count}"
        assert faults(page) == []


# Slow: a replay is readable on a phone and by a screen reader.
@pytest.mark.slow
@needs_chromium
def test_a_narrow_page_has_no_serious_faults_and_no_sideways_scroll(tmp_path: Path) -> None:
    game = changed(
        log_game(find_variant("dutch"), 3, bob_fouls, note=DEVIL),
        FoulRecord,
        line=DEVIL,
        stderr=DEVIL,
    )
    with open_page(save_page(tmp_path, page_of(game)), width=360, dark=True) as page:
        wait_until_ready(page)
        page.keyboard.press("ArrowRight")
        assert faults(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.emulate_media(color_scheme="light")
        assert faults(page) == []


@needs_chromium
def test_a_link_leads_to_a_position_and_a_seat(tmp_path: Path) -> None:
    game = log_game(find_variant("dutch"), 3, any_of(5))
    path = save_page(tmp_path, page_of(game))
    with open_page(f"{path.as_uri()}#game=1.game&at=12&seat=1") as page:
        wait_until_ready(page)
        assert position(page).startswith("13 of ")
        assert page.input_value("#seat") == "1"
        face_count = page.locator("#table .seat .face").count()
        assert face_count == len(scenes_at(game, 12)["hands"][1]) // 2
        page.click("#on")
        page.click("#link")
        assert page.url.endswith("#game=1.game&at=13&seat=1")
        page.select_option("#seat", "null")
        assert page.locator("#table .back").count() == 0
        page.evaluate("location.hash = 'game=1.game&at=999999'")
        page.wait_for_selector("#on:disabled")


def scenes_at(game: LoggedGame, index: int) -> Fields:
    return page_scenes(game)[0][index]


@needs_chromium
def test_a_page_loads_the_game_of_its_address_and_no_other_script(tmp_path: Path) -> None:
    game = log_game(find_variant("dutch"), 3, bob_fouls, note=SCRIPT + DEVIL)
    game = replace(game, sitting=replace(game.sitting, seats=(SCRIPT, "bob", "*/x")))
    (tmp_path / "replays").mkdir()
    (tmp_path / "replays" / "1.game.js").write_text(replay_script(pack_game(game)))
    (tmp_path / "evil.js").write_text("alert(1)")
    path = save_page(tmp_path, replay_page("Replay"))
    with open_page(path, local=True) as page:
        page.on("dialog", lambda _: pytest.fail("a strange script ran"))
        page.get_by_text("Choose a game in the report.").wait_for()
        expect(page.locator("#table")).to_be_hidden()
        page.evaluate("location.hash = '#game=1.game'")
        wait_until_ready(page)
        assert page.locator("#seats tbody th").first.inner_text().startswith(f"0 {SCRIPT}")
        for name in ("../evil", "..%2Fevil", "./../evil", "1.game/../../evil", ""):
            page.evaluate("(name) => { location.hash = `#game=${name}`; }", name)
            page.get_by_text("Choose a game in the report.").wait_for()
            page.evaluate("location.hash = '#game=1.game'")
            wait_until_ready(page)


@needs_chromium
def test_text_of_bots_is_escaped(tmp_path: Path) -> None:
    evil = SCRIPT + DEVIL
    game = log_game(find_variant("dutch"), 3, bob_fouls, note=evil)
    game = changed(game, FoulRecord, line=evil, stderr=evil, detail=evil)
    names = (SCRIPT, "\u202eobe", "'\"&lt;")
    game = replace(game, sitting=replace(game.sitting, seats=names))
    escaped_text = evil.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    with open_page(save_page(tmp_path, replay_page(SCRIPT, pack_game(game)))) as page:
        page.on("dialog", lambda _: pytest.fail("a script of a bot ran"))
        wait_until_ready(page)
        assert page.title() == (
            f"{SCRIPT} 50 · \\u202eobe 0 · '\"&lt; 84 · foul of \\u202eobe · replay · Boneyard"
        )
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        evidence = page.locator("#evidence dd").all_text_contents()
        assert evidence.count(escaped_text) == 3
        seats = page.locator("#seats tbody th").all_text_contents()
        assert seats[0].startswith(f"0 {SCRIPT}")
        assert seats[1].startswith("1 \\u202eobe")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.locator("b").count() == 0
        assert "\u202e" not in page.content()
