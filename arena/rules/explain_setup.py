"""Explanations of the setup: players, tiles, deals that do not count, and the lead."""

from collections.abc import Iterator

from arena.rules import relevance
from arena.rules.english import Sentence, by_table, clauses, count_in_words, name_range, number_word
from protocol.ruleset import BY_DOUBLE, MOST_DEALS, SMALL, Ruleset, playable_seat_counts

CUSTOMARY = {2: 7, 3: 7, 4: 6}
"""The hands of A and B, by the number of players."""
AT_MOST = f"at most {MOST_DEALS - 1} times in a round"
PARTNERS = Sentence(
    "For four players in two partnerships. Partners sit opposite each other and share one score.",
    ("A", "B", "C play", "C.36"),
)
ANNUL_SUIT = Sentence(
    "A player who is dealt {many} or more tiles with the same number must declare it, and all "
    "tiles are dealt again{limit}.",
    ("C.6",),
)
REFUSE_DOUBLES = Sentence(
    "A player who is dealt {many} or more may have all tiles dealt again{limit}; the "
    "leader is asked first, then the others in turn.",
    ("C.5",),
)


def players_and_tiles(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the players, the tiles, and deals that do not count."""
    deal, pips, hands = rules.deal, rules.deal.highest_pip, relevance.dealt_tiles(rules)
    if deal.partners:
        yield PARTNERS
    else:
        text = f"For {name_range(playable_seat_counts(rules))} players, everybody for themselves."
        yield Sentence(text, ("A", "B", "C play", "E"))
    played = f"The game is played with a double-{number_word(pips)} set"
    whole, half = (pips + 1) * (pips + 2) // 2, pips * (pips + 1) // 2
    if deal.doubles:
        sources = ("A", "B", "C deal", "D", "E") if pips == 6 else ("C play",)
        yield Sentence(f"{played}: {whole} tiles.", sources)
    else:
        yield Sentence(f"{played} without its doubles: {half} tiles.", ("C Austria",))
    dealt = by_table(hands, lambda hand: count_in_words(hand, "tile"))
    if deal.hand == "eight_minus_seats" and len(hands) > 1:
        dealt = f"eight tiles minus one for each player: {dealt}"
    yield Sentence(f"Each player is dealt {dealt}.", _hand_sources(rules, hands))
    largest = max(hands.values())
    limit = f" ({AT_MOST})"
    if 0 < deal.annul_suit <= min(largest, pips + deal.doubles):
        yield ANNUL_SUIT.fill(many=number_word(deal.annul_suit), limit=limit)
        limit = ""  # The count is that of both.
    if 0 < deal.refuse_doubles <= min(largest, pips + 1):
        many = count_in_words(deal.refuse_doubles, "double")
        yield REFUSE_DOUBLES.fill(many=many, limit=limit)


def _hand_sources(rules: Ruleset, hands: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.hand == "eight_minus_seats":
        return "C deal", "C.2", "E deal"
    if set(hands.values()) == {1}:
        return "C deal", "C.3"
    if rules.deal.partners and hands == {4: 7}:
        return "A", "C", "C deal"
    small = {seats: hand for seats, hand in hands.items() if seats <= SMALL}
    if small.items() <= CUSTOMARY.items():
        return "A", "B", "C deal"
    return "C deal", "C.1"


# --- the lead ---

BACK = "The tiles are shuffled back in before the deal."
BY_LOT = (
    "each player draws a tile and shows it. Whoever draws the {} pips leads; those who tie draw "
    f"again. {BACK}"
)
LEADER: dict[relevance.LeadMethod, Sentence] = {
    "random": Sentence("a player chosen at random leads.", ("A", "B", "E deal")),
    "lowest": Sentence(BY_LOT.format("fewest"), ("D",)),
    "highest": Sentence(BY_LOT.format("most"), ("C.8",)),
    "count": Sentence(
        "each player draws a tile and shows it. The players are numbered clockwise by their seats, "
        "from one. Divide the total of the pips by the number of players and add one to the "
        f"remainder: the player with that number leads. {BACK}",
        ("C.11",),
    ),
    "odd_even": Sentence(
        "both players draw a tile. Before the tiles are shown one player, chosen at random, calls "
        "odd or even: if the total of the pips is what was called, the caller leads, otherwise the "
        f"other player does. {BACK}",
        ("C.11",),
    ),
    "highest_double": Sentence(
        "the player with the highest double leads.", ("C.12", "C Puerto Rico")
    ),
    "double_six": Sentence("the player with the {top} leads.", ("C.13", "C Puerto Rico")),
    "rotate": Sentence("the lead passes {onward}.", ("C play", "C.10", "D", "E play")),
    "same": Sentence("its leader leads again.", ("C.9",)),
    "winner": Sentence("its winner leads{otherwise}.", ("C Puerto Rico",)),
}
"""The leaders by each method; the words follow "In the first round" or "after a blocked round"."""
ONWARD = {"clockwise": "to the left", "counter_clockwise": "to the right"}
HEAVIEST = "the heaviest tile (of equally heavy ones, the one with the larger number)"
STARTER = Sentence(
    "One tile of the boneyard is turned up to begin the line; the leader makes the first play on "
    "it.",
    ("E deal",),
)
ANY_TILE = Sentence("The leader may play any tile first.", ("C.15",))
HIGHEST_TILE = Sentence(
    f"The leader must first play their highest double or, without one, their {HEAVIEST[4:]}.",
    ("C.16",),
)


def the_lead(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the leader of each round and the first tile."""
    yield from _rounds(rules)
    if relevance.may_miss(rules):
        yield _missing(rules)
    if rules.deal.starter:
        yield STARTER
    elif rules.lead.tile == "highest":
        yield HIGHEST_TILE
    elif rules.lead.tile == "set_double" and relevance.lead_doubles(rules):
        yield _set_double(rules)
    else:
        yield ANY_TILE


def _rounds(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the leader: of the first round, of later and of special ones."""
    first, later = rules.lead.first, relevance.later_lead(rules)
    blocked, tie = relevance.lead_after_blocked(rules), relevance.lead_after_tie(rules)
    text, sources = _leader(rules, first)
    if later == first and not blocked and not tie:
        yield Sentence(f"In every round {text}", sources)
        return
    yield Sentence(f"In the first round {text}", sources)
    if later == first:
        yield Sentence("The leader of a later round is decided in the same way.", sources)
    elif later:
        yield _later(rules, later)
    even = ", even a blocked one" if blocked else ""
    special = {"a blocked round": blocked, f"a round that nobody won{even}": tie}
    for after, how in special.items():
        if how:
            text, sources = _leader(rules, how)
            yield Sentence(f"But after {after}, {text}", clauses(("C.7",), sources))


def _later(rules: Ruleset, how: relevance.LeadMethod) -> Sentence:
    """Return the sentence on the leader of later rounds in general."""
    text, sources = _leader(rules, how)
    if how == "winner":
        who = "Whoever wins a round leads the next"
        if rules.deal.partners:
            who += ": of the winning side the player who went out, or else the one with fewer pips"
        again = " After a round that nobody won, its leader leads again."
        return Sentence(f"{who}.{again if _winner_may_be_missing(rules) else ''}", sources)
    if how == "rotate":
        return Sentence(f"After each round {text}", sources)
    if how == "same":
        return Sentence("The same player leads every later round too.", sources)
    return Sentence(f"In every later round {text}", sources)


def _leader(rules: Ruleset, how: relevance.LeadMethod) -> Sentence:
    """Return how a leader is found."""
    two = playable_seat_counts(rules) == (2,)
    found = LEADER[how].fill(
        top=_top(rules),
        onward="to the other player" if two else ONWARD[rules.deal.direction],
        otherwise="; if nobody won it, its leader leads again" * _winner_may_be_missing(rules),
    )
    if how == "rotate" and not two and rules.deal.direction == "counter_clockwise":
        return Sentence(found.text)
    return found


def _winner_may_be_missing(rules: Ruleset) -> bool:
    """Tell whether no other sentence says who leads after a round that nobody won."""
    return not (relevance.lead_after_tie(rules) or relevance.is_always_won(rules))


def _top(rules: Ruleset) -> str:
    return f"{rules.deal.highest_pip}-{rules.deal.highest_pip}"


def _missing(rules: Ruleset) -> Sentence:
    """Return the sentence on a round in which nobody was dealt the double that leads."""
    asked = relevance.lead_doubles(rules)
    one = "double_six" in asked
    double = "the double that must lead" if asked == set(BY_DOUBLE) else "a double"
    nobody = f"If nobody holds {f'the {_top(rules)}' if asked == {'double_six'} else double}"
    next_best = f"the player with {HEAVIEST} leads"
    if one:
        next_best = "the player with the highest double leads or, if nobody has one, the one with "
        next_best += HEAVIEST
    match rules.lead.missing:
        case "next_double":
            return Sentence(f"{nobody}, {next_best}.", ("C Puerto Rico",) if one else ())
        case "redeal":
            text = f"{nobody}, all tiles are dealt again, {AT_MOST}; after that {next_best}."
            return Sentence(text, ("C.4",))
        case "draw_for_it":
            text = (
                f"{nobody}, the players take turns drawing one tile, starting with one chosen at "
                f"random, until someone draws {'it' if one else 'one'}; that player leads."
            )
            if rules.boneyard.reserve:
                text += " For this even the last tiles of the boneyard may be drawn."
            return Sentence(text, ("C.3", "C.13") if asked == {"double_six"} else ())


def _set_double(rules: Ruleset) -> Sentence:
    """Return the sentence on a double that leads because the rules name it."""
    sources = clauses(("C.13",), ("C Puerto Rico",))
    if not relevance.has_free_lead(rules):
        alone = ", without drawing" if relevance.can_draw(rules) else ""
        return Sentence(f"Whoever leads because of a tile must play it at once{alone}.", sources)
    highest = relevance.lead_doubles(rules) == {"highest_double"}
    tile = "the highest double" if highest else f"the {_top(rules)}"
    if relevance.may_miss(rules) and rules.lead.missing != "draw_for_it":
        tile += " (or heaviest tile)" if highest else " (or the tile in its place)"
    others = "later leaders" if rules.lead.first in BY_DOUBLE else "a leader for any other reason"
    if relevance.later_lead(rules) == "winner":
        others = "a winner who leads"
    text = f"A player who leads with {tile} must begin with it; {others} may begin with any tile."
    return Sentence(text, clauses(sources, ("C.15",)))
