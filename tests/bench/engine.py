"""What the engine costs a round, against a tight loop for the plain two-seat draw game.

Both play the same deals at random with the same number of decisions; the loop knows nothing but
this one game.
"""

import random

from arena import engine
from arena.engine.shuffle import board_seed
from arena.engine.structs import Dealt
from arena.rules.variants import find_variant

RULES = find_variant("draw")


def deals(count: int) -> list[Dealt]:
    """First rounds of so many boards."""
    new = engine.new_game(RULES, 2)
    return [
        engine.chance_decides(new, board_seed(b"bench", "engine", number))
        for number in range(count)
    ]


def by_engine(dealt: list[Dealt], rng: random.Random) -> int:
    """Play every deal; the number of rounds that somebody went out in."""
    new, out, draw = engine.new_game(RULES, 2), 0, rng.random
    for one in dealt:
        game = new.copy()
        engine.begin(game, one)
        options = engine.legal(game)
        while options:
            engine.act_unchecked(game, options[int(draw() * len(options))])
            options = engine.legal(game)
        out += game.playing.over == "out"
    return out


def by_hand(dealt: list[Dealt], rng: random.Random) -> int:
    """Return a minimal game that is changed in place."""
    out, draw = 0, rng.random
    for one in dealt:
        hands = [list(one.hands[0]), list(one.hands[1])]
        stock = list(one.stock[0])
        left = right = -1
        seat = one.leader
        while True:
            hand = hands[seat]
            if left < 0:
                choices = [(tile, 0) for tile in hand]
            else:
                choices = []
                for tile in hand:
                    if left in tile:
                        choices.append((tile, 0))
                    if right in tile and left != right:
                        choices.append((tile, 1))
            more = len(choices) + (len(stock) > 2)
            if more:
                at = int(draw() * more)
                if at == len(choices):
                    hand.append(stock.pop(-1 if seat else 0))
                else:
                    tile, end = choices[at]
                    hand.remove(tile)
                    if left < 0:
                        left, right = tile
                    elif end:
                        right = tile[1] if tile[0] == right else tile[0]
                    else:
                        left = tile[1] if tile[0] == left else tile[0]
                    if not hand:
                        out += 1
                        break
                    seat = 1 - seat
            else:
                draw()  # The engine's loop draws for a pass too.
                seat = 1 - seat
            dead = left >= 0 and len(stock) <= 2
            if dead and not any(left in t or right in t for hand in hands for t in hand):
                break
        _pips = [sum(a + b for a, b in hand) for hand in hands]
    return out
