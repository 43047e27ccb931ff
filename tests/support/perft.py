"""Counts by depth: how many sequences of n options there are from a fixed deal.

    python -m tests.support.perft        writes perft.jsonl again

Each line of perft.jsonl can be checked against anyone's engine in any language: the rules, the
deal (hands by seat, the boneyard's rows, the leader) and the counts of option sequences of length
1, 2, …, a forced option counting as one. A sequence that ends its round earlier is counted at the
length it has. Rows: seats 0 and 1 draw from the front and the back of the first row, seats 2 and 3
of the last; a seat whose row is empty draws from the other.
"""

from pathlib import Path
from typing import Any

import msgspec

from arena.engine import values
from arena.engine.shuffle import board_seed
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.rules.variants import VARIANTS, find_variant
from protocol.ruleset import playable_seat_counts

FILE = Path(__file__).with_name("perft.jsonl")
DEPTH = 5
BOARDS = 2
MOST = 4_000
"""Sequences counted at one depth before the next is left out."""


def counts(game: Game) -> list[int]:
    """Sequences of 1, 2, … options in this round."""
    found: list[int] = []
    level = [game]
    for _ in range(DEPTH):
        level = [values.act_unchecked(one, option) for one in level for option in values.legal(one)]
        if not level:
            break
        found.append(len(level))
        level = [one for one in level if not values.needs_deal(one)]
        if len(level) > MOST:
            break
    return found


def line(name: str, seats: int, board: int) -> dict[str, Any]:
    """Return one line of the file."""
    game = values.new_game(find_variant(name), seats)
    dealt = values.chance_decides(game, board_seed(b"perft", name, board))
    return {
        "game": name,
        "seats": seats,
        "deal": msgspec.to_builtins(dealt),
        "counts": counts(values.begin(game, dealt)),
    }


def lines() -> list[dict[str, Any]]:
    """Return every named game at every table that it has."""
    return [
        line(name, seats, board)
        for name in VARIANTS
        for seats in playable_seat_counts(find_variant(name))
        for board in range(1, BOARDS + 1)
    ]


def recounted(entry: dict[str, Any]) -> list[int]:
    """Return the counts of a line, from its deal."""
    game = values.new_game(find_variant(entry["game"]), entry["seats"])
    return counts(values.begin(game, msgspec.convert(entry["deal"], Dealt)))


if __name__ == "__main__":
    FILE.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in lines()))
