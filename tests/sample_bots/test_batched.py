"""The bot that answers many games at once: the batch changes no answer, and it is worth having."""

import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec
import pytest

from arena.engine.shuffle import board_seed
from arena.rules.variants import VARIANTS, derive, find_variant
from arena.training.encoding import Episode
from protocol.ruleset import Ruleset, playable_seat_counts
from tests.support.fast_run import FAST_GAMES, slow_except

batched: Any = import_module("sample_bots.batched")
greedy: Any = import_module("sample_bots.greedy")


def short(name: str) -> Ruleset:
    return derive(find_variant(name), name, {"rounds": 1})


def question_of(episode: Episode) -> Any:
    """Return a question as a bot in another language reads it."""
    return json.loads(msgspec.json.encode(episode.question(episode.seat)))


def questions(rules: Ruleset, seats: int, boards: int) -> Iterator[Any]:
    """Yield all questions of some rounds in which the first option is taken, or the last."""
    for board in range(boards):
        episode = Episode(rules, seats, board_seed(b"test", "batched", board), "points")
        while episode.options:
            yield question_of(episode)
            episode.act(episode.options[-(board % 2)])


# Slow: a batch changes no answer in any named game.
@pytest.mark.parametrize("name", slow_except(FAST_GAMES, VARIANTS))
def test_a_question_is_answered_the_same_alone_and_in_a_batch(name: str) -> None:
    rules = short(name)
    game = {"rules": msgspec.to_builtins(rules)}
    for seats in playable_seat_counts(rules):
        asks = list(questions(rules, seats, 4))
        choices = batched.choices(asks, [game] * len(asks))
        assert choices == [batched.choices([ask], [game])[0] for ask in asks]
        answers = zip(asks, choices, strict=True)
        assert all(0 <= choice < len(ask["options"]) for ask, choice in answers)


# Slow: the batched bot is stronger than a rule of thumb.
@pytest.mark.slow
def test_batched_beats_the_heaviest_first_bot() -> None:
    """The same deals in both seats: nothing here is left to luck."""
    rules = short("draw")
    game = {"rules": msgspec.to_builtins(rules)}
    margins = [0.0, 0.0]
    playing = [
        (Episode(rules, 2, board_seed(b"test", "beats", board), "points"), seat)
        for board in range(120)
        for seat in (0, 1)
    ]
    while playing:
        asks = [question_of(episode) for episode, _ in playing]
        choices = batched.choices(asks, [game] * len(asks))
        for (episode, seat), ask, choice in zip(playing, asks, choices, strict=True):
            number = choice if episode.seat == seat else greedy.choose(ask)
            margins[seat] += episode.act(episode.options[number])[seat]
        playing = [table for table in playing if table[0].options]
    assert sum(margins) / 240 > 3
