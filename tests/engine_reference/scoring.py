"""Scoring: what hands count, who wins a round, its points; fees, antes, chips and the pot."""

from typing import assert_never

from msgspec.structs import replace

from protocol.messages import Played
from protocol.ruleset import Formula, Score, count_sides, side_of
from protocol.tiles import Tile
from tests.engine_reference.state import Game, Hand, Round

Pips = tuple[int, ...]


def pips(score: Score, hand: Hand) -> int:
    """Return the pips that a hand counts: 0 for an empty hand (C score, C Dutch)."""
    return sum(a + b if a or b else score.double_blank for a, b in hand)


def pips_held(game: Game, state: Round) -> Pips:
    """Return the pips that each hand counts."""
    return tuple(pips(game.rules.score, hand) for hand in state.hands)


def winner(game: Game, state: Round) -> int | None:
    """Return the seat that wins the round, or None; of partners one of the two.

    Of a winning side that is the seat that went out, else the one with fewer pips.
    """
    score, count = game.rules.score, pips_held(game, state)
    if state.out is not None and score.winner == "out":
        return state.out
    party = _parties(game, count)
    won = _lowest(game, state, party)
    if won is None or not game.rules.deal.partners:
        return won
    if state.out is not None and side_of(True, state.out) == won:
        return state.out
    return min((won, won + 2), key=lambda seat: count[seat])


def _parties(game: Game, values: Pips) -> Pips:
    """Add the values of partners: return one for each side, or without partners for each seat."""
    if game.rules.deal.partners:
        return values[0] + values[2], values[1] + values[3]
    return values


def _lowest(game: Game, state: Round, party: Pips) -> int | None:
    """Return the seat or side with the fewest pips, whichever went out."""
    tied = _least(party)
    if len(tied) == 1:
        return tied[0]
    # B and C taken literally: a seat that went out may be tied, as by a hand of only the 0-0, and
    # then nobody scores.
    return None if state.out is not None else _broken(game, state, party, tied)


def _least(values: Pips) -> list[int]:
    return [one for one, value in enumerate(values) if value == min(values)]


def _broken(game: Game, state: Round, party: Pips, tied: list[int]) -> int | None:
    """Return the winner of a tied blocked round (C.37); None if the tie-break is tied itself."""
    tie = game.rules.score.tie
    match tie:
        case "nobody":
            return None
        case "blocker":
            seat = _blocker(state)
            return seat if seat is None else seat % len(party)
        case "fewest_tiles":
            return _only(tied, _parties(game, tuple(map(len, state.hands))))
        case "lowest_end":
            heaviest = tuple(max(map(max, hand)) for hand in state.hands)
            if game.rules.deal.partners:
                heaviest = (max(heaviest[0], heaviest[2]), max(heaviest[1], heaviest[3]))
            return _only(tied, heaviest)
        case "outsider":
            return _only([one for one in range(len(party)) if one not in tied], party)
        case _:
            assert_never(tie)


def _only(among: list[int], values: Pips) -> int | None:
    """Return the one with the lowest value, or None if several have it."""
    lowest = [one for one in among if values[one] == min(values[other] for other in among)]
    return lowest[0] if len(lowest) == 1 else None


def _blocker(state: Round) -> int | None:
    """Return the seat that played the last tile."""
    played = [event.seat for event in state.events if isinstance(event, Played)]
    return played[-1] if played else None


def round_points(game: Game, state: Round, won_by: int) -> int:
    """Return the points for the winner of the round, bonuses included: never below 0.

    With partners the two hands of a side count as one (C.36).
    """
    score, party = game.rules.score, _parties(game, pips_held(game, state))
    own = party[won_by % len(party)]
    formula = score.points_blocked if state.out is None else score.points_out
    points = _by(formula, own, sum(party) - own, len(party) - 1)
    return max(0, points) + _bonus(score, state, won_by)


def _by(formula: Formula, own: int, others: int, losers: int) -> int:
    match formula:
        case "others_minus_own":
            return others - own
        case "others":
            return others
        case "everybody":
            return others + own
        case "difference":
            return others - losers * own
        case "one":
            return 1
        case "nothing":
            return 0
        case _:
            assert_never(formula)


def _bonus(score: Score, state: Round, won_by: int) -> int:
    """Return extra points for an early round, and for the winner's last tile (C Puerto Rico)."""
    extra = score.bonus[state.number - 1] if state.number <= len(score.bonus) else 0
    if state.out == won_by:
        last = [event for event in state.events if isinstance(event, Played)][-1]
        extra += score.out_with_blank if last.tile == (0, 0) else 0
        extra += score.capicu if _capicu(last, state.line) else 0
    return extra


def _capicu(last: Played, line: tuple[Tile, ...]) -> bool:
    """Tell whether the last tile, not a double, fitted both ends; equal ends count as both."""
    if len(line) < 2 or last.tile[0] == last.tile[1]:
        return False
    rest = line[1:] if last.end == "left" else line[:-1]
    return rest[0][0] in last.tile and rest[-1][1] in last.tile


def chips(game: Game, seat: int) -> int:
    """Return the chips that a seat holds; only for rules with chips."""
    return game.rules.stakes.chips + game.scores[seat]


def can_pay(game: Game, seat: int) -> bool:
    """Tell whether a seat can pay for a tile (C.27); without chips a score may go below 0."""
    stakes = game.rules.stakes
    return stakes.chips == 0 or chips(game, seat) >= stakes.fee


def credit(game: Game, scores: tuple[int, ...], seat: int, points: int) -> tuple[int, ...]:
    """Return the scores after a seat, and with partners its side, has won or paid points."""
    partners = game.rules.deal.partners
    side = side_of(partners, seat)
    return tuple(
        own + points if side_of(partners, other) == side else own
        for other, own in enumerate(scores)
    )


def pay(game: Game, seat: int, points: int) -> Game:
    """Return the game after a seat has paid; the points go into the pot if the rules have one."""
    return replace(
        game,
        scores=credit(game, game.scores, seat, -points),
        pot=game.pot + points if game.rules.stakes.pot else 0,
    )


def ante(game: Game) -> Game:
    """Return the game after each seat has paid its ante, or all it has left (Auction Draw)."""
    stakes = game.rules.stakes
    if stakes.ante == 0:
        return game
    for seat in range(count_sides(game.rules.deal.partners, game.seats)):
        most = chips(game, seat) if stakes.chips else stakes.ante
        game = pay(game, seat, min(stakes.ante, most))
    return game
