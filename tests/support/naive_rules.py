"""A second, deliberately naive reading of the rules, which shares no code with the engine."""

from arena.engine.state import Game
from protocol.messages import Played
from protocol.ruleset import Ruleset


def whole_set(rules: Ruleset) -> list[tuple[int, int]]:
    """Return every tile of the set."""
    top = rules.deal.highest_pip
    tiles = [(a, b) for a in range(top + 1) for b in range(top + 1) if a >= b]
    return sorted(tile for tile in tiles if rules.deal.doubles or tile[0] != tile[1])


def hand_pips(game: Game) -> list[int]:
    """Return the pips of each hand."""
    totals = []
    for hand in game.playing.hands:
        total = 0
        for a, b in hand:
            total += game.rules.score.double_blank if (a, b) == (0, 0) else a + b
        totals.append(total)
    return totals


def _groups(game: Game) -> list[list[int]]:
    """Seats that win and lose together."""
    return [[0, 2], [1, 3]] if game.rules.deal.partners else [[seat] for seat in range(game.seats)]


def _winning_group(game: Game) -> list[int] | None:
    state, score, groups, pips = game.playing, game.rules.score, _groups(game), hand_pips(game)
    out = [seat for seat, hand in enumerate(state.hands) if not hand]
    if out and score.winner == "out":
        return next(group for group in groups if out[0] in group)
    totals = {tuple(group): sum(pips[seat] for seat in group) for group in groups}
    lowest = min(totals.values())
    tied = [group for group in groups if totals[tuple(group)] == lowest]
    if len(tied) == 1:
        return tied[0]
    if out or score.tie == "nobody":
        return None
    if score.tie == "blocker":
        players = [event.seat for event in state.events if isinstance(event, Played)]
        return next((group for group in groups if players and players[-1] in group), None)
    measured: dict[tuple[int, ...], int] = {}
    for group in groups:
        tiles = [tile for seat in group for tile in state.hands[seat]]
        if score.tie == "outsider" and group not in tied:
            measured[tuple(group)] = totals[tuple(group)]
        elif score.tie == "fewest_tiles" and group in tied:
            measured[tuple(group)] = len(tiles)
        elif score.tie == "lowest_end" and group in tied:
            measured[tuple(group)] = max(end for tile in tiles for end in tile)
    best = [group for group, value in measured.items() if value == min(measured.values())]
    return list(best[0]) if len(best) == 1 else None


def _plain_worth(game: Game, winners: list[int]) -> int:
    score, pips = game.rules.score, hand_pips(game)
    own = sum(pips[seat] for seat in winners)
    others = sum(pips) - own
    formula = score.points_out if game.playing.out is not None else score.points_blocked
    each = [sum(pips[seat] for seat in group) - own for group in _groups(game) if group != winners]
    return {
        "others_minus_own": others - own,
        "others": others,
        "everybody": others + own,
        "difference": sum(each),
        "one": 1,
        "nothing": 0,
    }[formula]


def round_points(game: Game, pot: int) -> list[int]:
    """Return the points of the finished round for each seat, with this pot."""
    state, score = game.playing, game.rules.score
    winners = _winning_group(game)
    if winners is None:
        return [0] * game.seats
    points = max(0, _plain_worth(game, winners)) + pot
    if state.number <= len(score.bonus):
        points += score.bonus[state.number - 1]
    leader = state.winner
    if state.out is not None and state.out == leader:
        last = [event for event in state.events if isinstance(event, Played)][-1]
        if last.tile == (0, 0):
            points += score.out_with_blank
        if last.tile[0] != last.tile[1] and len(state.line) > 1:
            before = state.line[1:] if last.end == "left" else state.line[:-1]
            if {before[0][0], before[-1][1]} <= set(last.tile):
                points += score.capicu
    return [points if seat in winners else 0 for seat in range(game.seats)]
