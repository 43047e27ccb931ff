"""Explanations of the setup: players, tiles, deals that do not count, and the lead."""

from collections.abc import Iterator
from typing import assert_never

from arena.rules import relevance
from arena.rules.english import Sentence, by_table, clauses, count_in_words, name_range, number_word
from protocol.ruleset import BY_DOUBLE, MOST_DEALS, SMALL, Deal, Lead, Ruleset, playable_seat_counts

CUSTOMARY = {2: 7, 3: 7, 4: 6}
"""The hands of A and B, by the number of players."""
AT_MOST = f"at most {MOST_DEALS - 1} times in a round"


def players_and_tiles(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the players, the tiles, and deals that do not count."""
    yield _players(rules)
    yield _the_set(rules.deal)
    yield _hands(rules)
    yield from _annulled(rules)


def _players(rules: Ruleset) -> Sentence:
    if rules.deal.partners:
        text = (
            "For four players in two partnerships. Partners sit opposite each other "
            "and share one score."
        )
        return Sentence(text, ("A", "B", "C play", "C.36"))
    text = f"For {name_range(playable_seat_counts(rules))} players, everybody for themselves."
    return Sentence(text, ("A", "B", "C play", "E"))


def _the_set(deal: Deal) -> Sentence:
    pips, kind = deal.highest_pip, f"double-{number_word(deal.highest_pip)}"
    half = pips * (pips + 1) // 2
    if not deal.doubles:
        text = f"The game is played with a {kind} set without its doubles: {half} tiles."
        return Sentence(text, ("C Austria",))
    text = f"The game is played with a {kind} set: {half + pips + 1} tiles."
    return Sentence(text, ("A", "B", "C deal", "D", "E") if pips == 6 else ("C play",))


def _hands(rules: Ruleset) -> Sentence:
    hands = relevance.dealt_tiles(rules)
    dealt = by_table(hands, lambda hand: count_in_words(hand, "tile"))
    if rules.deal.hand == "eight_minus_seats" and len(hands) > 1:
        dealt = f"eight tiles minus one for each player: {dealt}"
    return Sentence(f"Each player is dealt {dealt}.", _hand_sources(rules, hands))


def _hand_sources(rules: Ruleset, hands: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.hand == "eight_minus_seats":
        return "C deal", "C.2", "E deal"
    if set(hands.values()) == {1}:
        return "C deal", "C.3"
    if rules.deal.partners and hands == {4: 7}:
        return "A", "C", "C deal"
    if {seats: hand for seats, hand in hands.items() if seats <= SMALL}.items() <= (
        CUSTOMARY.items()
    ):
        return "A", "B", "C deal"
    return "C deal", "C.1"


def _annulled(rules: Ruleset) -> Iterator[Sentence]:
    deal, largest = rules.deal, max(relevance.dealt_tiles(rules).values())
    if 0 < deal.annul_suit <= min(largest, deal.highest_pip + deal.doubles):
        text = (
            f"A player who is dealt {number_word(deal.annul_suit)} or more tiles with the same "
            f"number must declare it, and all tiles are dealt again ({AT_MOST})."
        )
        yield Sentence(text, ("C.6",))
    if 0 < deal.refuse_doubles <= min(largest, deal.highest_pip + 1):
        text = (
            f"A player who is dealt {count_in_words(deal.refuse_doubles, 'double')} or more may "
            f"have all tiles dealt again ({AT_MOST}); the leader is asked first, then the others "
            "in turn."
        )
        yield Sentence(text, ("C.5",))


# --- the lead ---


def the_lead(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the leader of each round and the first tile."""
    yield from _rounds(rules)
    if relevance.may_miss(rules):
        yield _missing(rules)
    yield _first_tile(rules)


def _rounds(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the leader: of the first round, of later and of special ones."""
    first, later = rules.lead.first, relevance.later_lead(rules)
    blocked, tie = relevance.lead_after_blocked(rules), relevance.lead_after_tie(rules)
    text, sources = _chosen(rules, first)
    if later == first and not blocked and not tie:
        yield Sentence(f"In every round {text}", sources)
        return
    yield Sentence(f"In the first round {text}", sources)
    if later == first:
        yield Sentence("The leader of a later round is decided in the same way.", sources)
    elif later:
        yield _later(rules, later)
    if blocked:
        text, sources = _chosen(rules, blocked)
        yield Sentence(f"But after a blocked round, {text}", clauses(("C.7",), sources))
    if tie:
        text, sources = _chosen(rules, tie)
        even = ", even a blocked one" if blocked else ""
        text = f"But after a round that nobody won{even}, {text}"
        yield Sentence(text, clauses(("C.7",), sources))


def _later(rules: Ruleset, how: relevance.LeadMethod) -> Sentence:
    """Return the sentence on the leader of later rounds in general."""
    text, sources = _chosen(rules, how)
    match how:
        case "rotate":
            text = f"After each round the lead passes {_onward(rules)}."
        case "same":
            text = "The same player leads every later round too."
        case "winner":
            text = _winner_leads(rules)
        case _:
            text = f"In every later round {text}"
    return Sentence(text, sources)


def _chosen(rules: Ruleset, how: relevance.LeadMethod) -> tuple[str, tuple[str, ...]]:
    """Return how a leader is found, and the clauses.

    The words follow "In the first round" or "after a blocked round".
    """
    match how:
        case "random":
            return "a player chosen at random leads.", ("A", "B", "E deal")
        case "lowest":
            return BY_LOT.format("fewest"), ("D",)
        case "highest":
            return BY_LOT.format("most"), ("C.8",)
        case "count":
            return COUNTED, ("C.11",)
        case "odd_even":
            return CALLED, ("C.11",)
        case "highest_double":
            return "the player with the highest double leads.", ("C.12", "C Puerto Rico")
        case "double_six":
            return f"the player with the {_top(rules)} leads.", ("C.13", "C Puerto Rico")
        case "rotate":
            clockwise = rules.deal.direction == "clockwise" or playable_seat_counts(rules) == (2,)
            sources = ("C play", "C.10", "D", "E play") if clockwise else ()
            return f"the lead passes {_onward(rules)}.", sources
        case "same":
            return "its leader leads again.", ("C.9",)
        case "winner":
            told = relevance.lead_after_tie(rules) or relevance.is_always_won(rules)
            again = "" if told else "; if nobody won it, its leader leads again"
            return f"its winner leads{again}.", ("C Puerto Rico",)
        case _:
            assert_never(how)


BACK = "The tiles are shuffled back in before the deal."
BY_LOT = (
    "each player draws a tile and shows it. Whoever draws the {} pips leads; those who tie draw "
    f"again. {BACK}"
)
COUNTED = (
    "each player draws a tile and shows it. The players are numbered clockwise by their seats, "
    "from one. Divide the total of the pips by the number of players and add one to the "
    f"remainder: the player with that number leads. {BACK}"
)
CALLED = (
    "both players draw a tile. Before the tiles are shown one player, chosen at random, calls odd "
    "or even: if the total of the pips is what was called, the caller leads, otherwise the other "
    f"player does. {BACK}"
)


def _top(rules: Ruleset) -> str:
    return f"{rules.deal.highest_pip}-{rules.deal.highest_pip}"


def _onward(rules: Ruleset) -> str:
    if playable_seat_counts(rules) == (2,):
        return "to the other player"
    match rules.deal.direction:
        case "clockwise":
            return "to the left"
        case "counter_clockwise":
            return "to the right"


def _winner_leads(rules: Ruleset) -> str:
    who = "Whoever wins a round leads the next"
    if rules.deal.partners:
        who += ": of the winning side the player who went out, or else the one with fewer pips"
    if relevance.lead_after_tie(rules) or relevance.is_always_won(rules):
        return f"{who}."
    return f"{who}. After a round that nobody won, its leader leads again."


HEAVIEST = "the heaviest tile (of equally heavy ones, the one with the larger number)"


def _missing(rules: Ruleset) -> Sentence:
    """Return the sentence on a round in which nobody was dealt the double that leads."""
    nobody, one = _nobody_has_it(rules), "double_six" in relevance.lead_doubles(rules)
    next_best = f"the player with {HEAVIEST} leads"
    if one:
        next_best = (
            f"the player with the highest double leads or, if nobody has one, the one with "
            f"{HEAVIEST}"
        )
    match rules.lead.missing:
        case "next_double":
            return Sentence(f"{nobody}, {next_best}.", ("C Puerto Rico",) if one else ())
        case "redeal":
            text = f"{nobody}, all tiles are dealt again, {AT_MOST}; after that {next_best}."
            return Sentence(text, ("C.4",))
        case "draw_for_it":
            text = (
                f"{nobody}, the players take turns drawing one tile, starting with one chosen at "
                "random, until someone draws it; that player leads."
            )
            if not one:
                text = text.replace("draws it", "draws one")
            if rules.boneyard.reserve:
                text += " For this even the last tiles of the boneyard may be drawn."
            return Sentence(text, ("C.3", "C.13"))
        case _:
            assert_never(rules.lead.missing)


def _nobody_has_it(rules: Ruleset) -> str:
    asked = relevance.lead_doubles(rules)
    if asked == set(BY_DOUBLE):
        return "If nobody holds the double that must lead"
    if asked == {"double_six"}:
        return f"If nobody holds the {_top(rules)}"
    return "If nobody holds a double"


def _first_tile(rules: Ruleset) -> Sentence:
    if rules.deal.starter:
        text = (
            "One tile of the boneyard is turned up to begin the line; the leader makes the first "
            "play on it."
        )
        return Sentence(text, ("E deal",))
    return _required(rules, rules.lead)


def _required(rules: Ruleset, lead: Lead) -> Sentence:
    free = Sentence("The leader may play any tile first.", ("C.15",))
    match lead.tile:
        case "any":
            return free
        case "highest":
            text = (
                "The leader must first play their highest double or, without one, their heaviest "
                "tile (of equally heavy ones, the one with the larger number)."
            )
            return Sentence(text, ("C.16",))
        case "set_double":
            return _set_double(rules) if relevance.lead_doubles(rules) else free
        case _:
            assert_never(lead.tile)


def _set_double(rules: Ruleset) -> Sentence:
    sources = clauses(("C.13",), ("C Puerto Rico",))
    if not relevance.has_free_lead(rules):
        text = "Whoever leads because of a tile must play it at once"
        text += ", without drawing." if relevance.can_draw(rules) else "."
        return Sentence(text, sources)
    highest = relevance.lead_doubles(rules) == {"highest_double"}
    tile = "the highest double" if highest else f"the {_top(rules)}"
    if relevance.may_miss(rules) and rules.lead.missing != "draw_for_it":
        tile += " (or heaviest tile)" if highest else " (or the tile in its place)"
    text = f"A player who leads with {tile} must begin with it; {_free_leader(rules)} may begin "
    return Sentence(f"{text}with any tile.", clauses(sources, ("C.15",)))


def _free_leader(rules: Ruleset) -> str:
    """Return the players who lead for another reason than a tile."""
    if relevance.later_lead(rules) == "winner":
        return "a winner who leads"
    return "later leaders" if rules.lead.first in BY_DOUBLE else "a leader for any other reason"
