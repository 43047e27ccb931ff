"""Explanations: each choice is stated where it matters and only there, in English, with sources."""

import re
from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from arena.engine import values
from arena.engine.shuffle import board_seed
from arena.rules.english import (
    Sentence,
    by_table,
    count_in_words,
    count_points,
    join_words,
    ordinal_word,
)
from arena.rules.explain import RULE_PARTS, explain_ruleset
from arena.rules.variants import VARIANTS, choices, derive, find_variant
from protocol.ruleset import ImpossibleRulesError, Ruleset, playable_seat_counts
from tests.support.rulesets import GROUPS, rulesets
from tournaments.cli.main import main

CLAUSE = re.compile(
    r"A|B|D|E( deal| play)?|C( deal| play| score| Dutch| Puerto Rico| Austria| Egypt|\.\d+)?"
)


def sentences_on(rules: Ruleset) -> list[Sentence]:
    return [sentence for part in explain_ruleset(rules).values() for sentence in part]


def sentence_texts(rules: Ruleset) -> list[str]:
    return [sentence.text for sentence in sentences_on(rules)]


def game(base: str, **differs: Any) -> Ruleset:
    return derive(find_variant(base), "mine", differs)


# --- every choice matters somewhere ---


# --- what cannot happen is not told ---


@pytest.mark.parametrize(
    ("base", "differs", "idle"),
    [
        ("block", {}, {"reserve": 2}),
        ("block", {}, {"order": "row"}),
        ("block", {}, {"blocked": "at_once"}),
        ("partnership", {}, {"missing": "redeal"}),
        ("draw-partners", {}, {"points_out": "difference"}),
        ("draw", {}, {"missing": "redeal"}),
        ("draw", {"draw_when_able": False}, {"draw_limit": 99}),
        ("draw", {"reserve": 13, "hand": {"two": 7}}, {"draw_limit": "two_at_once"}),
        ("draw", {}, {"pot": True}),
        ("draw", {"rounds": 1}, {"later": "winner"}),
        ("draw", {}, {"after_blocked": "rotate", "after_tie": "rotate"}),
        ("draw", {"later": "winner"}, {"after_tie": "same"}),
        ("block", {"after_blocked": "lot"}, {"after_tie": "lot"}),
        (
            "draw",
            {"later": "highest_double", "first": "count"},
            {"after_blocked": "highest_double"},
        ),
        ("draw", {"rounds": 1}, {"target": 5}),
        ("draw", {"hand": {"two": 7}}, {"direction": "counter_clockwise"}),
        ("draw", {"hand": 3}, {"refuse_doubles": 4}),
        ("dutch", {}, {"leader_may_draw": False}),
        ("double-draw", {}, {"draw_limit": 2}),
        ("ukrainian", {}, {"after_tie": "highest_double"}),
        ("austrian", {}, {"double_blank": 13}),
    ],
    ids=str,
)
def test_impossible_situations_are_not_explained(
    base: str, differs: dict[str, Any], idle: dict[str, Any]
) -> None:
    rules, idle_rules = game(base, **differs), game(base, **differs, **idle)
    assert sentence_texts(rules) == sentence_texts(idle_rules)
    for seats in playable_seat_counts(rules):
        assert play_rounds(rules, seats) == play_rounds(idle_rules, seats)


@given(rulesets(), st.data())
def test_games_that_differ_are_told_differently(rules: Ruleset, data: st.DataObject) -> None:
    """Whatever choice is changed: if the words stay the same, so does the game."""
    choice, group = data.draw(st.sampled_from(sorted(choices().items())))
    value = data.draw(GROUPS[group])[choice]
    with suppress(ImpossibleRulesError):
        variation = derive(rules, "random", {choice: msgspec.to_builtins(value)})
        if sentence_texts(variation) == sentence_texts(rules):
            for seats in playable_seat_counts(rules):
                assert play_rounds(rules, seats) == play_rounds(variation, seats), (choice, value)


def play_rounds(rules: Ruleset, seats: int) -> list[object]:
    """Return the events of some rounds of a game with random choices."""
    game, dice, events = values.new_game(rules, seats), Random(1), list[object]()
    while not game.over and (game.round is None or game.round.number < 6):
        if values.needs_deal(game):
            game = values.begin(game, values.chance_decides(game, board_seed(b"", "", 1)))
        if options := values.legal(game):
            events.append(options)
            game = values.act(game, dice.choice(options))
        events.append((game.scores, game.playing.events))
    return events


# --- the words ---


@given(rulesets())
def test_any_ruleset_is_explained_in_english(rules: Ruleset) -> None:
    sentences = sentences_on(rules)
    assert set(RULE_PARTS) - {"Stakes"} <= set(explain_ruleset(rules))
    assert len({sentence.text for sentence in sentences}) == len(sentences)
    for sentence in sentences:
        check_words(sentence.text)
        for clause in sentence.sources:
            assert CLAUSE.fullmatch(clause), clause


def check_words(text: str) -> None:
    assert re.fullmatch(r"[A-Z].*[a-z0-9)]\.", text), text
    assert not re.search(r"[_{}\[\]\"]|  |[,.;:]{2}| [,.;]|\bNone\b|\b1 \w+s\b", text), text
    names = {choice for choice in choices() if "_" in choice}
    assert not names & set(text.split())


VARIED: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in VARIANTS},
    "two a turn": ("draw", {"draw_limit": 2}),
    "one a turn": ("draw", {"draw_limit": 1}),
    "two at once": ("dutch", {"draw_limit": "two_at_once"}),
    "two at once though able": ("draw", {"draw_limit": "two_at_once"}),
    "count": ("partnership", {"first": "count"}),
    "refusals": ("draw", {"refuse_doubles": 3}),
    "lots": ("draw", {"after_blocked": "lot"}),
    "the 6-6 leads": ("draw", {"later": "double_six"}),
    "sides pay": ("auction-draw", {"partners": True}),
    "all hands": ("draw-partners", {"points_blocked": "everybody"}),
}
"""Rulesets that have between them every kind of sentence: a base, and its differences."""


@pytest.mark.parametrize("name", VARIED)
def test_a_ruleset_has_these_sentences(name: str, snapshot: SnapshotAssertion) -> None:
    """The snapshots have the sentences that `draw`, or the base of a variation, lacks."""
    base, differs = VARIED[name]
    usual = sentence_texts(find_variant(base if differs else "draw")) if name != "draw" else []
    assert [text for text in sentence_texts(game(base, **differs)) if text not in usual] == snapshot


def test_tables_are_joined_in_words() -> None:
    assert by_table({2: 7, 3: 7, 4: 6}, lambda n: count_in_words(n, "tile")) == (
        "seven tiles with two or three players and six with four"
    )
    assert by_table({2: 1, 3: 1}, lambda n: count_in_words(n, "tile")) == "one tile"
    assert by_table({2: 100, 3: 61, 4: 50}, count_points, "or") == (
        "100 points with two players, 61 with three or 50 with four"
    )
    assert (join_words("a"), join_words("ab"), join_words("abc", "or")) == (
        "a",
        "a and b",
        "a, b or c",
    )
    assert [ordinal_word(n) for n in (1, 10, 11, 12, 21, 22, 111)] == [
        "first", "tenth", "11th", "12th", "21st", "22nd", "111th",
    ]  # fmt: skip


# --- the command ---


def run_rules(*words: str, code: int = 0, width: int = 80) -> str:
    result = CliRunner(env={"COLUMNS": str(width)}).invoke(main, ("rules", *words))
    assert result.exit_code == code, result.output
    return result.output


def test_clauses_are_cited_only_on_request() -> None:
    assert "[A, B, C play, E]" not in run_rules("draw")
    assert "[A, B, C play, E]" in run_rules("draw", "--sources")
    assert run_rules("--sources").splitlines()[0].endswith("]")
    assert not run_rules().splitlines()[0].endswith("]")


def test_the_list_has_a_line_for_each_game() -> None:
    lines = run_rules().splitlines()
    assert [line.split()[0] for line in lines] == list(VARIANTS)
    assert all(VARIANTS[line.split()[0]].about in line for line in lines)


def test_the_list_as_json_has_every_variant() -> None:
    games = msgspec.json.decode(run_rules("--json"))
    assert [game["name"] for game in games] == list(VARIANTS)
    assert games[4]["seats"] == [4]
    assert msgspec.convert(games[4]["rules"], Ruleset) == find_variant("dutch-partners")


def test_a_game_as_json_is_its_ruleset() -> None:
    rules = msgspec.json.decode(run_rules("dutch", "--set", "reserve=0", "--json"), type=Ruleset)
    assert rules == derive(find_variant("dutch"), "dutch", {"reserve": 0})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("duthc",), "did you mean dutch"),
        (("dutch", "--set", "darw_limit=1"), "did you mean draw_limit"),
        (("--set", "draw_limit=1"), "name it"),
        (("nowhere.toml",), "nowhere.toml cannot be read: No such file"),
    ],
)
def test_a_mistake_in_a_command_is_the_users(words: tuple[str, ...], message: str) -> None:
    assert message in run_rules(*words, code=2)


@pytest.mark.parametrize(
    ("name", "opening"),
    [
        ("partnership", "Play passes to the right"),
        ("partnership", "After each round the lead passes to the right"),
        ("puerto-rico-500", "The winner of the first round gets 100 points extra"),
        ("puerto-rico", "If nobody holds a double, the player with the heaviest tile"),
        ("auction-draw", "When a turn ends with two tiles left"),
        ("auction-draw", "Each player begins with 100 chips"),
        ("auction-draw", "Winning a round earns the pot"),
        ("ukrainian", "If nobody holds a double, the players take turns"),
    ],
)
def test_a_sentence_that_no_text_states_cites_none(name: str, opening: str) -> None:
    sentences = sentences_on(find_variant(name))
    sources = [sentence.sources for sentence in sentences if sentence.text.startswith(opening)]
    assert sources == [()]


def test_the_limit_of_new_deals_is_stated_once() -> None:
    rules = derive(find_variant("jordanian"), "both", {"refuse_doubles": 4})
    text = " ".join(sentence_texts(rules))
    assert text.count("at most 19 times in a round") == 1
