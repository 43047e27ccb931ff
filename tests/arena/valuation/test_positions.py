"""A question as one line: the same question comes back, and a wrong line is one clear sentence."""

import random

import pytest

from arena.analysis.alternative_deals import (
    find_round,
    position_of,
    reach_question,
)
from arena.analysis.timeline import Timeline, question_of
from arena.engine import values
from arena.engine.state import Game
from arena.engine.view import LineWriter
from arena.rules.variants import VARIANTS, derive, find_variant
from arena.valuation.decision_loss import option_values
from protocol.errors import UserError
from protocol.position import read_position, tile_digits, write_position
from protocol.ruleset import Ruleset
from tests.support.fast_run import FAST_GAMES, share, slow_except
from tests.support.games import ODD, PROUD, any_of, overheard, positions

QUESTIONS = 360
"""Questions of each game in the slow run: 10,000 in all."""
CHARACTERS = "0123456789abcdefghilprstu@.-+=,:x\u0663\n\0"


def truth(game: Game) -> tuple[object, ...]:
    """Return all of a game that a position states or from which it follows."""
    state = game.playing
    names = ("number", "turn", "hands", "stock", "layout", "history", "drawn", "passes", "drawable")
    facts = (getattr(state, name) for name in names)
    phase = state.phase.name, state.phase.method, state.phase.queue, state.phase.must_lead
    return (*facts, phase, game.scores, game.pot, values.legal(game))


def question_bytes(game: Game) -> bytes:
    """Return the question as the seat is sent it."""
    return LineWriter(game, 1).question(game.playing.turn, values.legal(game), 1, 0)


def rules_of(name: str) -> Ruleset:
    return {rules.name: rules for rules in (ODD, PROUD)}.get(name) or find_variant(name)


NAMES = slow_except((*FAST_GAMES, "odd", "proud"), (*VARIANTS, "odd", "proud"))


@pytest.mark.parametrize("name", NAMES)
def test_a_line_gives_back_its_question(name: str) -> None:
    rng = random.Random(name)
    for position, game in positions(rules_of(name), rng, share(QUESTIONS)):
        assert read_position(write_position(position)) == position
        history = find_round(position)
        assert truth(reach_question(history, position)) == truth(game)
        assert position_of(history, reach_question(history, position)) == position


@pytest.mark.parametrize("name", slow_except(("draw",), (*VARIANTS, "odd", "proud")))
def test_a_seats_line_leads_to_what_the_seat_was_sent(name: str) -> None:
    rng = random.Random(name)
    for position, game in positions(rules_of(name), rng, 5):
        view = position.as_seen()
        assert read_position(write_position(view)) == view
        history = find_round(view)
        assert question_bytes(reach_question(history, view)) == question_bytes(game)
        assert position_of(history, reach_question(history, view)).as_seen() == view


@pytest.mark.parametrize("name", FAST_GAMES)
def test_a_seats_line_has_no_tile_that_the_seat_does_not_know(name: str) -> None:
    rng = random.Random(name)
    for position, game in positions(rules_of(name), rng, 10):
        state, seat = game.playing, game.playing.turn
        hidden = [tile for owner, hand in enumerate(state.hands) if owner != seat for tile in hand]
        hidden += [tile for row in state.stock for tile in row]
        line, dealt_hand = write_position(position.as_seen()), position.deals[-1].hands[seat]
        *_, events, deals, _ = line.split("@")
        tiles = {event[2:] for event in events.split(".") if event[1] in "lrfdu"}
        in_lots = {event[2:] for event in events.split(".") if event[1] == "t"}
        for high, low in hidden:
            assert not {tile_digits([(high, low)]), tile_digits([(low, high)])} & (tiles - in_lots)
        # Of the last deal only the seat's own hand stands there.
        assert deals.split("+")[-1].replace("-", "") == tile_digits(dealt_hand)


@pytest.mark.parametrize("name", slow_except(("draw",), FAST_GAMES))
def test_what_is_hidden_changes_no_byte_of_a_seats_line(name: str) -> None:
    rng = random.Random(name)
    for position, _ in positions(rules_of(name), rng, 5):
        view = position.as_seen()
        history = find_round(view)
        position = position_of(history, reach_question(history, view)).as_seen()
        assert write_position(position) == write_position(view)


# --- wrong lines ---


def change_line(line: str, lines: list[str], rng: random.Random) -> str:
    """Return a line with a few characters, events or fields changed."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place, fields = rng.randrange(len(line)), line.split("@")
        match rng.randrange(5):
            case 0:
                line = line[:place] + rng.choice(CHARACTERS) + line[place + rng.randrange(2) :]
            case 1:
                line = line[:place] + line[place + 1 :]
            case 2:
                field = rng.choice(rng.choice(lines).split("@"))
                line = "@".join((*fields[:-1], field) if rng.random() < 0.5 else (field, *fields))
            case 3 if len(fields) > 6:
                events = fields[6].split(".")
                rng.shuffle(events) if rng.random() < 0.3 else events.pop(len(events) // 2)
                line = "@".join((*fields[:6], ".".join(events), *fields[7:]))
            case _:
                line = line[:place] + rng.choice(lines)[place:]
    return line or "bone1@"


@pytest.mark.usefixtures("few_tries")
@pytest.mark.parametrize("count", slow_except([30], [30, 1_000]))
def test_a_wrong_line_is_one_sentence_or_a_legal_position(count: int) -> None:
    rng = random.Random(count)
    lines = [
        write_position(rng.choice((position, position.as_seen())))
        for name in VARIANTS
        for position, _ in positions(find_variant(name), rng, 3)
    ]
    legal, sentences = 0, set[str]()
    for _ in range(count):
        try:
            position = read_position(change_line(rng.choice(lines), lines, rng))
            game = reach_question(find_round(position), position)
        except UserError as error:
            sentences.add(f"{error}")
            continue
        assert values.legal(game)
        assert game.playing.turn == position.seat
        legal += 1
    assert 0 < legal < count // 2
    assert not [words for words in sentences if "\n" in words or len(words) > 1000]


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        (1, "drow", "did you mean draw"),
        (1, "draw+hand=99", "hand must be"),
        (2, "0", "the game is over, or has not begun"),
        (3, "0", "scores must be the points of 2 to 8 seats"),
        (3, "100,0", "the game is over, or has not begun"),
        (4, "7", "there is no pot of 7 points"),
        (5, "winner", "nobody leads round 1 by winner"),
        (6, "0s.0f7", "two digits each"),
        (6, "0s.0f77", "has no tile 7-7"),
        (6, "0s.0d.0f64", "draws with the asked seat's own tiles"),
        (6, "0s.0l64", "No deal of the hidden tiles"),
        (7, "64", "2 hands and the boneyard"),
        (7, "64646464646464--", "each tile once"),
        (7, "-64646464646464-", "own tiles, or all tiles"),
        (8, "2play", "seat must be one of 0 to 1"),
        (8, "0sleep", "a seat and a phase"),
    ],
)
@pytest.mark.usefixtures("few_tries")
def test_an_error_names_the_field(field: int, text: str, words: str) -> None:
    (position, _), *_ = positions(find_variant("draw"), random.Random(1), 1)
    parts = write_position(position.as_seen()).split("@")
    fields = ["bone1", "draw", "1", "0,0", "0", *parts[5:]]
    with pytest.raises(UserError, match=words):
        find_round(read_position("@".join((*fields[:field], text, *fields[field + 1 :]))))


# --- values ---


def test_values_of_an_open_line_are_those_of_the_log() -> None:
    for name, seats in (("draw", 2), ("dutch-partners", 4), ("auction-draw", 3)):
        rules = derive(find_variant(name), name, {"rounds": 1})
        timeline = Timeline(overheard(rules, seats, any_of(name)).logged)
        *_, question = (question for question in timeline.questions(0) if len(question.options) > 1)
        position = read_position(write_position(position_of(question.history, question.game)))
        assert option_values(question_of(position), 0, 16) == option_values(question, 0, 16)


def test_values_of_a_seats_line_agree_within_their_errors() -> None:
    timeline = Timeline(overheard(find_variant("draw"), 2, any_of(5)).logged)
    gaps = []
    for question in timeline.questions(0)[:24]:
        if len(question.options) > 1:
            view = position_of(question.history, question.game).as_seen()
            estimates = option_values(question_of(view), 0, 32)
            pairs = zip(estimates, option_values(question, 0, 32), strict=True)
            gaps += [
                abs(a.lead - b.lead) / max(0.01, (a.half_width**2 + b.half_width**2) ** 0.5)
                for a, b in pairs
                if not a.exact
            ]
    # Of independent estimates one in 20 differs by more than both half widths together.
    assert len(gaps) > 12
    assert sum(gap > 1 for gap in gaps) <= 0.15 * len(gaps)
