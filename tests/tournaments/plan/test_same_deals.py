"""A deal is known again, however it is written, and boards with one deal are one board."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.engine.deal import first_hands
from arena.engine.shuffle import board_seed
from arena.rules.variants import find_variant
from protocol.ruleset import set_of_tiles
from tournaments.plan.event import repeated_deals
from tournaments.plan.read_plan import read_deals

RULES = find_variant("draw")
TILES = [list(tile) for tile in set_of_tiles(RULES.deal)]
HANDS = [TILES[:7], TILES[7:14]]
OTHERS = [TILES[14:21], TILES[21:28]]
SEED = board_seed(bytes(32), "friday", 1)
DRAWN = [[list(tile) for tile in hand] for hand in first_hands(RULES, 2, SEED)]


def repeats(path: Path, *lines: Any) -> dict[int, int]:
    path.write_text("\n".join(map(json.dumps, lines)))
    boards = read_deals(path, RULES, 2).boards
    board_seeds = (board_seed(bytes(32), "saturday", number) for number in range(len(boards)))
    seeds = {
        number: board.seed or seed + board.placed
        for number, (board, seed) in enumerate(zip(boards, board_seeds, strict=True), 1)
    }
    return repeated_deals(RULES, 2, seeds)


def shuffle_tiles(hands: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [random.Random(1).sample(hand, len(hand)) for hand in hands]


@pytest.mark.parametrize(
    "spelling",
    [
        {"hands": HANDS},
        {"hands": HANDS, "boneyard": TILES[14:]},
        {"hands": HANDS, "boneyard": TILES[:13:-1]},
        {"hands": HANDS[::-1]},
        {"hands": shuffle_tiles(HANDS)},
        {"hands": [[tile[::-1] for tile in hand] for hand in HANDS]},
        {"rounds": [{"hands": HANDS}]},
        {"rounds": [{"hands": HANDS}, {"hands": OTHERS}]},
        {"rounds": [{"hands": OTHERS}, {"hands": HANDS}]},
    ],
)
def test_spellings_of_a_deal_are_one_deal(tmp_path: Path, spelling: dict[str, Any]) -> None:
    path = tmp_path / "deals.jsonl"
    assert repeats(path, {"hands": HANDS}, spelling) == {2: 1}


def test_a_deal_of_a_seed_is_that_of_its_tiles(tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    lines = [{"hands": DRAWN}, {"hands": OTHERS}, {"seed": SEED.hex()}, {"seed": SEED.hex()}]
    assert repeats(path, *lines) == {3: 1, 4: 1}


def test_deals_that_chance_completes_are_different_deals(tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    line = {"hands": [HANDS[0], HANDS[1][:2]]}
    assert repeats(path, line, line, {"hands": [HANDS[0]]}, {"hands": OTHERS}) == {}


def test_deals_that_share_rounds_are_linked_through_others(tmp_path: Path) -> None:
    first, last = {"hands": HANDS}, {"hands": OTHERS}
    joint = {"rounds": [first, last]}
    assert repeats(tmp_path / "deals.jsonl", first, last, joint) == {2: 1, 3: 1}
