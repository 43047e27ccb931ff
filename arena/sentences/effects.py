"""Which choices matter in a ruleset: of what can never happen nothing is told."""

from typing import Literal

from protocol.rules import Ruleset, hand_size, tables, the_set

BY_DOUBLE = ("highest_double", "double_six")


def hands(rules: Ruleset) -> dict[int, int]:
    """Tiles dealt to each seat, for each number of seats that the game has."""
    return {seats: hand_size(rules.deal, seats) or 0 for seats in tables(rules)}


def undealt(rules: Ruleset) -> dict[int, int]:
    """Tiles that no hand is dealt, for each number of seats, a starter among them."""
    whole = len(the_set(rules.deal))
    return {seats: whole - seats * hand for seats, hand in hands(rules).items()}


def left(rules: Ruleset) -> dict[int, int]:
    """Tiles in the boneyard when the first turn begins, if none was drawn for the lead."""
    return {seats: tiles - rules.deal.starter for seats, tiles in undealt(rules).items()}


def draws(rules: Ruleset) -> bool:
    """Whether a turn may ever draw a tile."""
    return rules.turn.draw_limit != 0 and max(left(rules).values()) > rules.boneyard.reserve


def draw_limit(rules: Ruleset) -> int | Literal["unlimited"]:
    """Tiles that may be drawn in a turn; a limit above all that ever lie there is none."""
    limit, most = rules.turn.draw_limit, max(left(rules).values()) - rules.boneyard.reserve
    return "unlimited" if limit != "unlimited" and limit > most else limit


def parties(rules: Ruleset) -> int:
    """How many can win a round, at the largest table: players, or sides."""
    return 2 if rules.deal.partners else max(tables(rules))


def rounds(rules: Ruleset) -> int:
    """The most rounds that a game has."""
    return rules.game.rounds or rules.game.max_rounds


def always_won(rules: Ruleset) -> bool:
    """Whether every round has a winner: with a starter it may be blocked before any play."""
    score = rules.score
    return score.winner == "out" and score.tie == "blocker" and not rules.deal.starter


def double_after_tie(rules: Ruleset) -> bool:
    """Whether a round that nobody won changes who leads next."""
    lead = rules.lead
    as_ever = lead.first == "highest_double" and lead.later == "again"
    asked = lead.after_tie == "highest_double" and not as_ever
    return asked and rounds(rules) > 1 and not always_won(rules)


def by_double(rules: Ruleset) -> bool:
    """Whether some round is led by who holds a double."""
    return rules.lead.first in BY_DOUBLE or double_after_tie(rules)


def always_by_double(rules: Ruleset) -> bool:
    """Whether every round is."""
    only = rules.lead.later == "again" or rounds(rules) == 1
    return rules.lead.first in BY_DOUBLE and only


def may_miss(rules: Ruleset) -> bool:
    """Whether the double that is asked for may be in no hand."""
    out = max(undealt(rules).values())
    doubles = rules.deal.highest_pip + 1
    return by_double(rules) and out >= (1 if rules.lead.first == "double_six" else doubles)


def drawn_for(rules: Ruleset) -> bool:
    """Whether a double may have to be drawn for before the lead."""
    return may_miss(rules) and rules.lead.missing == "draw_for_it"


def free_lead(rules: Ruleset) -> bool:
    """Whether in some round the leader chooses the first tile."""
    match rules.lead.tile:
        case "any":
            return not rules.deal.starter
        case "set_double":
            return not always_by_double(rules)
        case "highest":
            return False


def auctions(rules: Ruleset) -> bool:
    """Whether the boneyard may ever be down to the two tiles that are auctioned."""
    if not rules.boneyard.auction:
        return False
    return draws(rules) or 2 in left(rules).values() or drawn_for(rules)


def fees(rules: Ruleset) -> bool:
    """Whether drawing costs something."""
    return rules.stakes.fee > 0 and draws(rules)


def pays(rules: Ruleset) -> bool:
    """Whether anybody ever pays."""
    return fees(rules) or rules.stakes.ante > 0 or auctions(rules)


def blank(rules: Ruleset) -> bool:
    """Whether the set has the double blank."""
    return rules.deal.doubles


def literal_tie(rules: Ruleset) -> bool:
    """Whether who goes out may be tied: by a hand of only the 0-0, or by the other side."""
    no_pips = rules.score.double_blank == 0 and blank(rules)
    return rules.score.winner == "lowest" and (no_pips or rules.deal.partners)
