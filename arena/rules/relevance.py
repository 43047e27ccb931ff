"""The relevance of choices: an explanation leaves out whatever can never happen in a ruleset."""

from protocol.ruleset import (
    BY_DOUBLE,
    ByDouble,
    DrawLimit,
    LaterLead,
    LeadMethod,
    Ruleset,
    count_sides,
    hand_size,
    later_lot,
    playable_seat_counts,
    set_of_tiles,
)


def dealt_tiles(rules: Ruleset) -> dict[int, int]:
    """Return the tiles dealt to each seat, for each number of seats that the game has."""
    return {seats: hand_size(rules.deal, seats) or 0 for seats in playable_seat_counts(rules)}


def count_undealt(rules: Ruleset) -> dict[int, int]:
    """Return the number of tiles not dealt to hands, for each number of seats.

    A starter is among them.
    """
    total = len(set_of_tiles(rules.deal))
    return {seats: total - seats * hand for seats, hand in dealt_tiles(rules).items()}


def boneyard_left(rules: Ruleset) -> dict[int, int]:
    """Return the tiles in the boneyard as the first turn begins, for each number of seats.

    No tile was drawn for the lead.
    """
    return {seats: tiles - rules.deal.starter for seats, tiles in count_undealt(rules).items()}


def can_draw(rules: Ruleset) -> bool:
    """Tell whether a turn may ever draw a tile."""
    return (
        rules.turn.draw_limit != 0 and max(boneyard_left(rules).values()) > rules.boneyard.reserve
    )


def draw_limit(rules: Ruleset) -> DrawLimit:
    """Return the tiles that a turn may draw; a limit that no boneyard reaches is "unlimited"."""
    limit, most = rules.turn.draw_limit, max(boneyard_left(rules).values()) - rules.boneyard.reserve
    tiles = 2 if limit == "two_at_once" else limit
    return "unlimited" if tiles != "unlimited" and tiles > most else limit


def count_winners(rules: Ruleset) -> int:
    """Return the number of players, or of sides, that can win a round at the largest table."""
    return count_sides(rules.deal.partners, max(playable_seat_counts(rules)))


def most_rounds(rules: Ruleset) -> int:
    """Return the most rounds that a game has."""
    return rules.game.rounds or rules.game.max_rounds


def is_always_won(rules: Ruleset) -> bool:
    """Tell whether every round has a winner; with a starter it may be blocked before any play."""
    score = rules.score
    return score.winner == "out" and score.tie == "blocker" and not rules.deal.starter


def _lead_method(rules: Ruleset, method: LaterLead) -> LeadMethod:
    return later_lot(rules.lead) if method == "lot" else method


def later_lead(rules: Ruleset) -> LeadMethod | None:
    """Return how later rounds are led in general; None if there is no later round."""
    return _lead_method(rules, rules.lead.later) if most_rounds(rules) > 1 else None


def lead_after_blocked(rules: Ruleset) -> LeadMethod | None:
    """Return how the round after a blocked one is led; None: as any later round."""
    method = rules.lead.after_blocked
    if method == "as_later" or later_lead(rules) in (None, _lead_method(rules, method)):
        return None
    return _lead_method(rules, method)


def lead_after_tie(rules: Ruleset) -> LeadMethod | None:
    """Return how the round after one that nobody won is led; None: as it would be anyway."""
    method = rules.lead.after_tie
    if method == "as_later" or later_lead(rules) is None or is_always_won(rules):
        return None
    otherwise = {_unwon(lead_after_blocked(rules) or later_lead(rules))}
    if rules.score.winner == "lowest":  # Then a round in which somebody went out may be tied too.
        otherwise.add(_unwon(later_lead(rules)))
    unwon_method = _unwon(_lead_method(rules, method))
    return None if otherwise == {unwon_method} else unwon_method


def _unwon(method: LeadMethod | None) -> LeadMethod | None:
    """Return "same" for "winner": after a round that nobody won the leader stays."""
    return "same" if method == "winner" else method


def _leads(rules: Ruleset) -> set[LeadMethod]:
    leads = (rules.lead.first, later_lead(rules), lead_after_blocked(rules), lead_after_tie(rules))
    return {method for method in leads if method is not None}


def lead_doubles(rules: Ruleset) -> set[ByDouble]:
    """Return the doubles asked for: the highest that is held, the highest of the set, or both."""
    return {double for double in BY_DOUBLE if double in _leads(rules)}


def is_always_by_double(rules: Ruleset) -> bool:
    """Tell whether a double decides the leader of every round."""
    return _leads(rules) <= set(BY_DOUBLE)


def may_miss(rules: Ruleset) -> bool:
    """Tell whether a double that is asked for may be in no hand."""
    out, doubles = max(count_undealt(rules).values()), lead_doubles(rules)
    least = 1 if "double_six" in doubles else rules.deal.highest_pip + 1
    return bool(doubles) and out >= least


def can_be_drawn_for_lead(rules: Ruleset) -> bool:
    """Tell whether the seats may have to draw for a double before the lead."""
    return may_miss(rules) and rules.lead.missing == "draw_for_it"


def has_free_lead(rules: Ruleset) -> bool:
    """Tell whether in some round the leader chooses the first tile."""
    match rules.lead.tile:
        case "any":
            return not rules.deal.starter
        case "set_double":
            return not is_always_by_double(rules)
        case "highest":
            return False


def has_auction(rules: Ruleset) -> bool:
    """Tell whether the boneyard may ever be down to the two tiles that are auctioned."""
    if not rules.boneyard.auction:
        return False
    return can_draw(rules) or 2 in boneyard_left(rules).values() or can_be_drawn_for_lead(rules)


def has_fees(rules: Ruleset) -> bool:
    """Tell whether drawing costs something."""
    return rules.stakes.fee > 0 and can_draw(rules)


def has_payments(rules: Ruleset) -> bool:
    """Tell whether anybody ever pays."""
    return has_fees(rules) or rules.stakes.ante > 0 or has_auction(rules)


def has_pot(rules: Ruleset) -> bool:
    """Tell whether anything ever goes into a pot."""
    return rules.stakes.pot and has_payments(rules)


def has_blank(rules: Ruleset) -> bool:
    """Tell whether the set has the double blank."""
    return rules.deal.doubles


def can_tie_when_out(rules: Ruleset) -> bool:
    """Tell whether a player who goes out may be tied: by a lone 0-0, or by the other side."""
    no_pips = rules.score.double_blank == 0 and has_blank(rules)
    return rules.score.winner == "lowest" and (no_pips or rules.deal.partners)
