"""Scoring: what hands count, who wins a round, its points; fees, antes, chips and the pot."""

from collections.abc import Sequence
from typing import Any, assert_never

from arena.engine.state import Game, Round
from protocol.messages import Played
from protocol.ruleset import Formula, Score, Tile, count_sides, side_of

Pips = tuple[int, ...]


def pips_held(game: Game, state: Round) -> Pips:
    """Return the pips that each hand counts: 0 for an empty hand (C score, C Dutch)."""
    pips = game.settings.pips.__getitem__
    return tuple([sum(map(pips, hand)) for hand in state.hand_bits])


def winner(game: Game, state: Round, pips: Pips) -> int | None:
    """Return the seat that wins the round, or None; of partners one of the two.

    Of a winning side that is the seat that went out, else the one with fewer pips.
    """
    if state.out is not None and game.rules.score.winner == "out":
        return state.out
    party = _parties(game, pips)
    won = _lowest(game, state, party)
    if won is None or not game.rules.deal.partners:
        return won
    if state.out is not None and side_of(True, state.out) == won:
        return state.out
    return min((won, won + 2), key=lambda seat: pips[seat])


def _parties(game: Game, values: Pips) -> Pips:
    """Add the values of partners: return one for each side, or without partners for each seat."""
    if game.rules.deal.partners:
        return values[0] + values[2], values[1] + values[3]
    return values


def _lowest(game: Game, state: Round, party: Pips) -> int | None:
    """Return the seat or side with the fewest pips, whichever went out."""
    lowest = min(party)
    if party.count(lowest) == 1:
        return party.index(lowest)
    # B and C taken literally: a seat that went out may be tied, as by a hand of only the 0-0, and
    # then nobody scores.
    if state.out is not None:
        return None
    tied = [side for side, value in enumerate(party) if value == lowest]
    return _broken(game, state, party, tied)


def _broken(game: Game, state: Round, party: Pips, tied: list[int]) -> int | None:
    """Return the winner of a tied blocked round (C.37); None if the tie-break is tied itself."""
    tie = game.rules.score.tie
    match tie:
        case "nobody":
            return None
        case "blocker":
            last = last_play(state)
            return last.seat % len(party) if last else None
        case "fewest_tiles":
            return _find_lowest(tied, _parties(game, state.sizes))
        case "lowest_end":
            heaviest = tuple(max(map(max, hand)) for hand in state.hands)
            if game.rules.deal.partners:
                heaviest = (max(heaviest[0], heaviest[2]), max(heaviest[1], heaviest[3]))
            return _find_lowest(tied, heaviest)
        case "outsider":
            return _find_lowest([side for side in range(len(party)) if side not in tied], party)
        case _:
            assert_never(tie)


def _find_lowest(sides: list[int], values: Pips) -> int | None:
    """Return the side with the lowest value, or None if several have it."""
    lowest = [side for side in sides if values[side] == min(values[rival] for rival in sides)]
    return lowest[0] if len(lowest) == 1 else None


def last_play(state: Round) -> Played | None:
    """Return the last play of the round, if there was any."""
    return next((event for event in reversed(state.history) if isinstance(event, Played)), None)


def round_points(game: Game, state: Round, won_by: int, pips: Pips) -> int:
    """Return the points for the winner of the round, bonuses included: never below 0.

    With partners the two hands of a side count as one (C.36).
    """
    score, party = game.rules.score, _parties(game, pips)
    own_pips = party[won_by % len(party)]
    formula = score.points_blocked if state.out is None else score.points_out
    points: int = points_by(formula, own_pips, sum(party) - own_pips, len(party) - 1)
    bonus = _bonus(score, state, won_by) if game.settings.has_bonus else 0
    return max(0, points) + bonus


def points_by(formula: Formula, own_pips: Any, others: Any, losers: int) -> Any:
    """Return a formula's points for pips, which are numbers or arrays of numbers (C.36)."""
    match formula:
        case "others_minus_own":
            return others - own_pips
        case "others":
            return others
        case "everybody":
            return others + own_pips
        case "difference":
            return others - losers * own_pips
        case "one":
            return 1
        case "nothing":
            return 0
        case _:
            assert_never(formula)


def _bonus(score: Score, state: Round, won_by: int) -> int:
    """Return extra points for an early round, and for the winner's last tile (C Puerto Rico)."""
    extra = bonus_of_round(score, state.number)
    last = last_play(state)
    if last and state.out == won_by:
        extra += score.out_with_blank if last.tile == (0, 0) else 0
        extra += score.capicu if _capicu(last, state.layout) else 0
    return extra


def bonus_of_round(score: Score, number: int) -> int:
    """Return the extra points for winning the round of this number."""
    return score.bonus[number - 1] if number <= len(score.bonus) else 0


def _capicu(last: Played, line: Sequence[Tile]) -> bool:
    """Tell whether the last tile, not a double, fitted both ends; equal ends count as both."""
    if len(line) < 2 or last.tile[0] == last.tile[1]:
        return False
    rest = line[1:] if last.end == "left" else line[:-1]
    return rest[0][0] in last.tile and rest[-1][1] in last.tile


def chips(game: Game, seat: int) -> int:
    """Return the chips that a seat holds; only for rules with chips."""
    return game.settings.chips + game.scores[seat]


def credit(game: Game, seat: int, points: int) -> Pips:
    """Return the scores after a seat, and with partners its side, has won or paid points."""
    scores = list(game.scores)
    for member in game.settings.sides[seat]:
        scores[member] += points
    return tuple(scores)


def pay(game: Game, seat: int, points: int) -> None:
    """Let a seat pay; the points go into the pot if the rules have one."""
    game.scores = credit(game, seat, -points)
    game.pot = game.pot + points if game.rules.stakes.pot else 0


def ante(game: Game) -> None:
    """Let each seat pay its ante, or all it has left (Auction Draw)."""
    stakes = game.rules.stakes
    if stakes.ante == 0:
        return
    for seat in range(count_sides(game.rules.deal.partners, game.seats)):
        most = chips(game, seat) if stakes.chips else stakes.ante
        pay(game, seat, min(stakes.ante, most))
