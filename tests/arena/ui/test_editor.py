"""The editor of positions: its steps are the engine's, and its line is the one of Python."""

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import to_builtins
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from arena import engine
from arena.analysis.alternative_deals import RoundHistory, position_of, replay_round
from arena.engine.deal import arrange_stock, begin
from arena.engine.state import Dealt, Game
from arena.rules.load import with_overrides
from arena.rules.variants import VARIANTS, find_variant
from arena.ui.position_pages import (
    MOST_EDITED_SEATS,
    editor_page,
    find_study_page,
    value_line,
)
from protocol.errors import UserError
from protocol.messages import Clock, Lot
from protocol.position import Position, write_position
from protocol.ruleset import Ruleset, Tile, playable_seat_counts, set_of_tiles
from tests.support.events import boneyard, served
from tests.support.fast_run import share, slow_except
from tests.support.games import questions, random_game
from tests.support.pages import faults, needs_chromium, open_page

REFUSED_GAMES = ("double-draw", "auction-draw")
"""Named games with more than plays of one tile, draws and passes."""
EDITED = [name for name in VARIANTS if name not in REFUSED_GAMES]
FAST = ("draw", "dutch-two", "old-draw", "puerto-rico", "jordanian", "pot-draw", "vietnamese")
GAMES = share(4)
"""Games at each table: one in the fast run."""
LAY = """(rounds) => rounds.map(([setup, steps, choices]) => {
  setup.game = JSON.parse(data.textContent).find(({ words }) => words === setup.game);
  const rounds = steps.map((_, count) => EnteredRound.follow(setup, steps.slice(0, count)));
  const refusals = steps.map((step, count) => EnteredRound.refuse(rounds[count], step));
  const last = EnteredRound.follow(setup, steps);
  const allowed = choices.map((choice) => !EnteredRound.refuse(last, choice));
  return [refusals.filter(Boolean), EnteredRound.line(setup, last), allowed];
})"""
"""Lays rounds; returns of each the refusals, the line, and of each choice if it is allowed."""


def steps_of(position: Position) -> list[dict[str, Any]]:
    """Return the steps of the page that lead to a position."""
    kinds = {"leads": "lead"}
    events = [{**to_builtins(event)} for event in position.events]
    deals = [{"do": "deal", "tile": tile} for tile in position.deals[0].hands[position.seat]]
    return [*deals, *({**event, "do": kinds.get(event["do"], event["do"])} for event in events)]


def setup_of(position: Position) -> dict[str, Any]:
    """Return the setup of a position, as the page's controls set it."""
    names = ("round", "scores", "pot", "method", "seat")
    setup = {name: getattr(position, name) for name in names}
    return {**setup, "game": position.rules, "seats": len(position.scores)}


def choices_of(game: Game) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield each step that a seat could think of, and whether the rules allow it."""
    state, legal = game.playing, [to_builtins(option) for option in engine.legal(game)]
    seat, drawn = (
        state.turn,
        next(tile for row in state.stock for tile in row) if any(state.stock) else None,
    )
    for tile in set_of_tiles(game.rules.deal):
        for end in ("left", "right", "lead"):
            step = {"do": "play", "tile": tile, "end": end}
            yield {**step, "seat": seat}, step in legal
    yield {"do": "pass", "seat": seat}, {"do": "pass"} in legal
    if drawn:
        yield {"do": "draw", "seat": seat, "tile": drawn}, {"do": "draw"} in legal


@contextmanager
def open_editor(path: Path, name: str) -> Iterator[Page]:
    """Yield the editor's page that begins with a named game."""
    path.write_text(editor_page(find_variant(name)))
    with open_page(path) as page:
        yield page


def laid_positions(rules: Ruleset) -> Iterator[tuple[Position, Game]]:
    """Yield questions of random rounds at each table, as their seats knew them, with the games.

    Those of a round that was dealt again are left out.
    """
    rng = random.Random(rules.name)
    for seats in playable_seat_counts(rules)[: MOST_EDITED_SEATS - 1] * GAMES:
        for deal in random_game(rules, seats, rng.randbytes(32), rng):
            for seat in range(seats) if len(deal.deals) == 1 else ():
                moments = [*questions(deal, seat, Clock(forced="ask"))]
                for moment in (*rng.sample(moments, min(len(moments), 1)), *moments[-1:]):
                    *_, (game, _, _) = replay_round(deal, moment)
                    position = position_of(deal, game).as_seen()
                    events = (event for event in position.events if not isinstance(event, Lot))
                    yield replace(position, events=tuple(events), rules=rules.name), game


@needs_chromium
@pytest.mark.parametrize("name", slow_except(FAST, EDITED))
def test_each_legal_round_becomes_the_line_of_python(tmp_path: Path, name: str) -> None:
    """The editor also allows exactly the legal choices of the asked seat."""
    rounds = [*laid_positions(find_variant(name))]
    assert len(rounds) >= GAMES
    choices = [[*choices_of(game)] for _, game in rounds]
    layouts = [
        [setup_of(position), steps_of(position), [step for step, _ in pairs]]
        for (position, _), pairs in zip(rounds, choices, strict=True)
    ]
    with open_editor(tmp_path / "editor.html", name) as page:
        answers = page.evaluate(LAY, layouts)
    for (position, game), pairs, answer in zip(rounds, choices, answers, strict=True):
        refusals, line, allowed = answer
        assert refusals == []
        assert line == write_position(position)
        # Which double leads depends on hidden hands.
        if game.playing.line or game.rules.lead.tile == "any":
            assert allowed == [is_legal for _, is_legal in pairs], line


@needs_chromium
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        # Seat 1 passes at both ends, and seat 0 has no more tiles for them.
        ("block", "64p66"),
        # Everybody passes instead of drawing.
        ("paid-draw", "64p66pp"),
        # Seat 1 draws the last tile of its own turn, and only then cannot play.
        ("domino-pool", "64ddddddddddddp66"),
    ],
)
def test_a_round_that_is_over_asks_nobody(tmp_path: Path, name: str, keys: str) -> None:
    with open_editor(tmp_path / "editor.html", name) as page:
        page.keyboard.type(f"646653221100310{keys}")
        assert page.inner_text("#next") == "The round is blocked."
        expect(page.locator("#line")).to_be_hidden()
        page.keyboard.type("53")
        assert page.inner_text("#refusal") == "That is no step here."


@needs_chromium
def test_nobody_passes_once_no_seat_can_play(tmp_path: Path) -> None:
    path = tmp_path / "editor.html"
    with open_editor(path, "domino-pool") as page:
        page.keyboard.type("22536664110031022" + "d" * 12 + "p")
        assert page.inner_text("#next") == "The round is blocked."
    with open_editor(path, "block") as page:
        page.keyboard.type("22536664110031022p")
        assert page.inner_text("#refusal") == "If nobody can play, the round was over before."


# --- games of real tables, laid by hand ---


class Transcript(NamedTuple):
    """A round that was played elsewhere; its first seat led."""

    rules: str
    choices: tuple[str, ...]
    hands: tuple[str, ...]
    stock: str
    plays: tuple[str, ...]
    """Each seat's plays in order, a tile and its end: 36, 35l."""


BLOCK = Transcript(
    "block",
    ("rounds=1",),
    ("30401121334363", "20602232534454"),
    "",
    ("36,12,11", "23,06,02,22"),
)
"""From the playthrough of python_block_dominoes (google-deepmind/open_spiel)."""
DRAWN = Transcript(
    "draw",
    ("starter=yes", "reserve=0", "order=row", "draw_when_able=no", "rounds=1"),
    ("40116655302010", "50644332223342"),
    "416151",
    ("04l,11,66,55,03,02,01", "05,16,46,34,15,23"),
)
"""From the README of douglasgreyling/dominoes: the starter is 4-1, and bob draws."""
PARTNERS = Transcript(
    "partnership",
    ("first=random", "tile=any", "direction=clockwise"),
    ("65635321505210", "64425532302233", "43626151604041", "54663111004420"),
    "",
    (
        "56,36l,35l,12l,05r,25r",
        "46l,24r,55l,23l,03l,22r",
        "34l,26r,16l,15l,06r,04l,14l",
        "45r,66,13l,11l,00r,44l",
    ),
)
"""From the README of mfornet/domaino."""


def tiles_of(text: str) -> tuple[Tile, ...]:
    """Return tiles written as two digits each."""
    return tuple((int(text[place]), int(text[place + 1])) for place in range(0, len(text), 2))


def play_transcript(transcript: Transcript) -> Iterator[tuple[Position, Game]]:
    """Yield the questions of a round, each with the game."""
    rules = with_overrides(find_variant(transcript.rules), transcript.choices)
    hands, stock = tuple(map(tiles_of, transcript.hands)), tiles_of(transcript.stock)
    transcript_tiles = {*stock, *(tile for hand in hands for tile in hand)}
    rest = (tile for tile in set_of_tiles(rules.deal) if tile not in transcript_tiles)
    deal = Dealt(1, 1, 0, (), hands, arrange_stock(rules.boneyard, (*stock, *rest), len(hands)))
    start = engine.new_game(rules, len(hands))
    game, plays = start.copy(), [words.split(",") for words in transcript.plays]
    begin(game, deal)
    while not game.playing.over:
        yield position_of(RoundHistory(start, (deal,), ()), game), game.copy()
        words = plays[game.playing.turn]
        options = [to_builtins(option) for option in engine.legal(game)]
        pairs = itertools.product(words, range(len(options)))
        word, index = next((pair for pair in pairs if is_play(options[pair[1]], pair[0])), ("", 0))
        if word:
            words.remove(word)
        engine.act(game, engine.legal(game)[index])
    assert not any(plays)


def is_play(option: dict[str, Any], words: str) -> bool:
    """Tell whether an option is a play of a transcript; without an end it has only one."""
    return (
        option["do"] == "play"
        and sorted(option["tile"]) == [*map(int, words[:2])]
        and (option["end"] == "lead" or option["end"].startswith(words[2:]))
    )


def lay_by_keys(page: Page, step: dict[str, Any]) -> None:
    """Take a step by the keyboard."""
    if tile := step.get("tile"):
        if step["do"] == "draw":
            page.keyboard.press("d")
        for pip in tile:
            page.keyboard.press(f"{pip}")
        if page.is_visible("#left"):
            page.keyboard.press(step["end"][0])
    else:
        page.keyboard.press(f"{step['seat']}" if step["do"] == "lead" else step["do"][0])


def lay_by_clicks(page: Page, step: dict[str, Any]) -> None:
    """Take a step by clicks."""
    if tile := step.get("tile"):
        if step["do"] == "draw":
            page.click("#draw")
        name = f"{max(tile)}-{min(tile)}"
        page.click(f"#tiles [aria-label='{name}'], #tiles [aria-label='{name}, in the hand']")
        if page.is_visible("#left"):
            page.click(f"#{step['end']}")
    elif step["do"] == "lead":
        page.click(f"text=Seat {step['seat']} leads")
    else:
        page.click(f"#{step['do']}")


# Slow: a whole game by clicks and keys; the fast tests lay rounds of two games.
@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("transcript", [BLOCK, DRAWN, PARTNERS], ids=("block", "draw", "partners"))
def test_a_game_of_a_real_table_is_laid_by_hand(tmp_path: Path, transcript: Transcript) -> None:
    """By keys on a phone and by clicks: the last question of each seat is the line of Python."""
    path = tmp_path / "editor.html"
    words = [word for choice in transcript.choices for word in ("--set", choice)]
    boneyard("explain", "--editor", "--rules", transcript.rules, *words, "--out", str(path))
    last = {position.seat: position.as_seen() for position, _ in play_transcript(transcript)}
    assert len(last) == len(transcript.hands)
    for seat, position in last.items():
        lay, width = ((lay_by_keys, 390), (lay_by_clicks, 1000))[seat % 2]
        with open_page(path, width=width) as page:
            page.select_option("#seats", f"{len(last)}")
            page.select_option("#seat", f"{seat}")
            for step in steps_of(position):
                lay(page, step)
                assert page.inner_text("#refusal") == "", step
            assert page.input_value("#line") == write_position(position)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert faults(page) == []
    output = boneyard("explain", write_position(last[0]), "--json")
    assert write_position(last[0]) in output


@needs_chromium
def test_illegal_steps_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with open_editor(tmp_path / "editor.html", "domino-pool") as page:

        def press(keys: str) -> str:
            for key in keys:
                page.keyboard.press(key)
            return page.inner_text("#refusal")

        assert press("6453") == ""
        assert press("64") == "Seat 0 holds [6|4]."
        assert press("99") == "The set has no tile 9-9."
        assert press("2211006566") == ""
        assert press("0p") == "Seat 0 can play, so it must not pass."
        assert press("d") == "Seat 0 can play, so it must not draw."
        assert press("54") == "Seat 0 does not hold [5|4]."
        assert press("64") == ""
        assert press("65") == "Seat 0 holds [6|5]."
        assert press("64") == "[6|4] lies on the table."
        assert press("50") == "[5|0] does not fit: the ends are 6 and 4."
        assert press("p") == "Seat 1 can draw, so it must not pass."
        assert press("d" * 12) == ""
        assert press("d") == "No tile can be drawn: 2 in the boneyard."
        assert press("p66") == ""
        assert press("61") == "Seat 1 passed at 6 and has not drawn since."
        expect(page.locator("#line")).to_be_hidden()
        # A step back; the next question of the seat is the line, which a click copies.
        assert press("u") == ""
        assert page.input_value("#line").endswith("@64532211006566--@0play")
        page.click("#copy")
        expect(page.locator("#copy")).to_have_text("copied")
        # Another seat begins anew, other scores do not.
        page.fill("#scores input >> nth=1", "31")
        page.press("#scores input >> nth=1", "Tab")
        assert "@0,31@" in page.input_value("#line")
        page.select_option("#seat", "1")
        expect(page.locator("#next")).to_contain_text("dealt to seat 1: 7 more")


@pytest.mark.parametrize("name", REFUSED_GAMES)
def test_a_game_that_the_editor_cannot_follow_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="by hand"):
        editor_page(find_variant(name))


def test_the_editor_takes_its_own_options_only() -> None:
    assert "go with --editor" in boneyard("explain", "--rules", "draw", code=2)
    assert "Only --rules" in boneyard("explain", "here", "--editor", code=2)
    assert "Only --rules" in boneyard("explain", "--editor", "--review", code=2)
    assert "no folder" in boneyard("explain", "--editor", "--out", "nowhere/a.html", code=2)


# --- a study ---


ROUND = "666465321100100" + "66" + "63l"
"""Keys: a hand, who leads, and two plays, up to the asked seat's second question."""


@needs_chromium
def test_a_study_values_the_line_as_the_command_does() -> None:
    study = served("play", "--study", "--rules", "draw")
    with study as (_, address), open_page(address, local=True) as page:
        page.keyboard.type(ROUND)
        rows = page.locator("#values tbody tr")
        expect(rows).to_have_count(4, timeout=20_000)
        shown_rows = [row.split() for row in rows.all_inner_texts()]
        line = page.input_value("#line")
        page.keyboard.press("u")
        expect(page.locator("#valued")).to_be_hidden()
        assert faults(page) == []
    assert shown_rows == [row.split() for row in explained_rows(line)]


def explained_rows(line: str) -> list[str]:
    """Return the rows of the options that `explain` prints for a position."""
    printed = boneyard("explain", line).splitlines()
    head = next(place for place, words in enumerate(printed) if words.startswith("option"))
    return printed[head + 1 : head + 5]


@pytest.mark.parametrize(
    ("line", "note"),
    [("bone2@draw", "position"), ("../editor.html", "position"), ("a" * 99, "position")],
)
def test_a_line_without_values_has_a_sentence(line: str, note: str) -> None:
    valued = value_line(line)
    assert valued.rows == ()
    assert note in valued.note


def test_a_study_has_the_editor_and_values_alone() -> None:
    assert find_study_page("the editor", "other") is None
    editor = find_study_page("the editor", "")
    assert editor
    assert editor() == "the editor"


def test_an_option_that_a_study_refuses_is_named() -> None:
    assert "--seed does not go" in boneyard("play", "--study", "--seed", "1", code=2)
    assert "BOT does not go" in boneyard("play", "greedy", "--study", code=2)
