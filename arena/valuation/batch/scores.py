"""Scores of finished rounds in arrays: winners and points, as in `arena.engine.scoring`."""

from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from arena.engine.scoring import points_by
from arena.valuation.batch.tables import Flags, Ints, MaskTables

Points = NDArray[np.int32]
CAPICU, BLANK = 1, 2
"""Bits that tell of a last tile: it fitted both ends; it was the 0-0."""
NOBODY = -1


def round_gains(
    tables: MaskTables, hands: Ints, last_seat: Ints, last_tile: Ints, bonus: Points, pot: Points
) -> Points:
    """Return what each seat gains by the end of each round, the pot included; fees are not here.

    `hands` are the masks that are left, `last_seat` and `last_tile` tell of the last play, `bonus`
    are the extra points for a round of this number.
    """
    score, rows = tables.rules.score, np.arange(hands.shape[1])
    pips = tables.held(hands)
    party = parties(tables, pips)
    out = _single(hands == 0)
    won = _winner(tables, hands, party, out, last_seat)
    total = party.sum(axis=0, dtype=np.int32)
    own = party[won, rows]
    points = np.where(
        out >= 0,
        points_by(score.points_out, own, total - own, len(party) - 1),
        points_by(score.points_blocked, own, total - own, len(party) - 1),
    )
    worth = np.maximum(points, 0) + bonus + pot
    if score.capicu or score.out_with_blank:
        last = np.where((out >= 0) & (out % len(party) == won), last_tile, 0)
        worth = worth + score.capicu * (last & CAPICU != 0)
        worth += score.out_with_blank * (last & BLANK != 0)
    gains = np.zeros_like(party)
    gains[won, rows] = np.where(won >= 0, worth, 0)
    return seats_of(tables, gains)


def parties(tables: MaskTables, values: Points) -> Points:
    """Add the values of partners: return one for each side, or without partners for each seat."""
    return values[:2] + values[2:] if tables.rules.deal.partners else values


def seats_of(tables: MaskTables, sides: Points) -> Points:
    """Return for each seat the value of its side."""
    return np.concatenate([sides, sides]) if tables.rules.deal.partners else sides


def find_lightest(party: Points) -> Ints:
    """Return the side with the fewest pips in each row; `NOBODY` if several have them."""
    return _only(np.ones_like(party, np.bool_), party)


def _only(among: Flags, values: Ints) -> Ints:
    """Return of these sides the one with the lowest value; `NOBODY` if none or several have it."""
    value = np.where(among, values, np.iinfo(np.int32).max)
    return _single((value == value.min(axis=0)) & among)


def _single(flags: Flags) -> Ints:
    """Return the only seat or side of which the flag is set in each row; `NOBODY` if not one is."""
    found, many = np.full(flags.shape[1], NOBODY, np.int32), flags.sum(axis=0, dtype=np.int8)
    for one, flag in enumerate(flags):
        found[flag] = one
    found[many != 1] = NOBODY
    return found


def _winner(tables: MaskTables, hands: Ints, party: Points, out: Ints, last_seat: Ints) -> Ints:
    score = tables.rules.score
    won = find_lightest(party)
    if score.tie != "nobody":
        won = np.where((won == NOBODY) & (out < 0), _broken(tables, hands, party, last_seat), won)
    if score.winner == "out":
        won = np.where(out >= 0, out % len(party), won)
    return won


def _broken(tables: MaskTables, hands: Ints, party: Points, last_seat: Ints) -> Ints:
    """Return the winner of each tied blocked round (C.37)."""
    tied = party == party.min(axis=0)
    match tables.rules.score.tie:
        case "nobody":
            return np.full_like(last_seat, NOBODY)
        case "blocker":
            return np.where(last_seat >= 0, last_seat % len(party), NOBODY)
        case "fewest_tiles":
            return _only(tied, parties(tables, tables.sizes(hands)))
        case "lowest_end":
            heaviest = np.zeros(hands.shape, np.int32)
            for pip, suit in enumerate(tables.suits):
                heaviest[hands & suit != 0] = pip
            if tables.rules.deal.partners:
                heaviest = np.maximum(heaviest[:2], heaviest[2:])
            return _only(tied, heaviest)
        case "outsider":
            return _only(~tied, party)
        case _:
            assert_never(tables.rules.score.tie)
