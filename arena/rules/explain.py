"""A ruleset explained in plain English: every sentence is made from the choices themselves."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from arena.rules import relevance
from arena.rules.english import (
    Sentence,
    by_table,
    clauses,
    count_in_words,
    count_points,
    join_words,
    name_range,
    number_word,
    ordinal_word,
)
from protocol.ruleset import (
    BY_DOUBLE,
    DOUBLE_SIX_SEATS,
    MOST_DEALS,
    Formula,
    LeadMethod,
    Ruleset,
    playable_seat_counts,
    target,
)

# Explanations of the setup: players, tiles, deals that do not count, and the lead.


CUSTOMARY_HANDS = {2: 7, 3: 7, 4: 6}
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
    total, half = (pips + 1) * (pips + 2) // 2, pips * (pips + 1) // 2
    if deal.doubles:
        sources = ("A", "B", "C deal", "D", "E") if pips == 6 else ("C play",)
        yield Sentence(f"{played}: {total} tiles.", sources)
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
        limit = ""  # One limit is for both, told once.
    if 0 < deal.refuse_doubles <= min(largest, pips + 1):
        doubles = count_in_words(deal.refuse_doubles, "double")
        yield REFUSE_DOUBLES.fill(many=doubles, limit=limit)


def _hand_sources(rules: Ruleset, hands: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.hand == "eight_minus_seats":
        return "C deal", "C.2", "E deal"
    if set(hands.values()) == {1}:
        return "C deal", "C.3"
    if rules.deal.partners and hands == {4: 7}:
        return "A", "C", "C deal"
    small = {seats: hand for seats, hand in hands.items() if seats <= DOUBLE_SIX_SEATS}
    if small.items() <= CUSTOMARY_HANDS.items():
        return "A", "B", "C deal"
    return "C deal", "C.1"


# --- the lead ---

RESHUFFLE = "The tiles are shuffled back in before the deal."
BY_LOT = (
    "each player draws a tile and shows it. Whoever draws the {} pips leads; those who tie draw "
    f"again. {RESHUFFLE}"
)
LEADER: dict[LeadMethod, Sentence] = {
    "random": Sentence("a player chosen at random leads.", ("A", "B", "E deal")),
    "lowest": Sentence(BY_LOT.format("fewest"), ("D",)),
    "highest": Sentence(BY_LOT.format("most"), ("C.8",)),
    "count": Sentence(
        "each player draws a tile and shows it. The players are numbered clockwise by their seats, "
        "from one. Divide the total of the pips by the number of players and add one to the "
        f"remainder: the player with that number leads. {RESHUFFLE}",
        ("C.11",),
    ),
    "odd_even": Sentence(
        "both players draw a tile. Before the tiles are shown one player, chosen at random, calls "
        "odd or even: if the total of the pips is what was called, the caller leads, otherwise the "
        f"other player does. {RESHUFFLE}",
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
    for after, method in special.items():
        if method:
            text, sources = _leader(rules, method)
            yield Sentence(f"But after {after}, {text}", clauses(("C.7",), sources))


def _later(rules: Ruleset, method: LeadMethod) -> Sentence:
    """Return the sentence on the leader of later rounds in general."""
    text, sources = _leader(rules, method)
    if method == "winner":
        rule = "Whoever wins a round leads the next"
        if rules.deal.partners:
            rule += ": of the winning side the player who went out, or else the one with fewer pips"
        exception = " After a round that nobody won, its leader leads again."
        return Sentence(f"{rule}.{exception if _winner_may_be_missing(rules) else ''}", sources)
    if method == "rotate":
        return Sentence(f"After each round {text}", sources)
    if method == "same":
        return Sentence("The same player leads every later round too.", sources)
    return Sentence(f"In every later round {text}", sources)


def _leader(rules: Ruleset, method: LeadMethod) -> Sentence:
    """Return how a leader is found."""
    two = playable_seat_counts(rules) == (2,)
    sentence = LEADER[method].fill(
        top=_top(rules),
        onward="to the other player" if two else ONWARD[rules.deal.direction],
        otherwise=(
            "; if nobody won it, its leader leads again" if _winner_may_be_missing(rules) else ""
        ),
    )
    if method == "rotate" and not two and rules.deal.direction == "counter_clockwise":
        return Sentence(sentence.text)
    return sentence


def _winner_may_be_missing(rules: Ruleset) -> bool:
    """Tell whether no other sentence says who leads after a round that nobody won."""
    return not (relevance.lead_after_tie(rules) or relevance.is_always_won(rules))


def _top(rules: Ruleset) -> str:
    return f"{rules.deal.highest_pip}-{rules.deal.highest_pip}"


def _missing(rules: Ruleset) -> Sentence:
    """Return the sentence on a round in which nobody was dealt the double that leads."""
    doubles = relevance.lead_doubles(rules)
    has_six = "double_six" in doubles
    double = "the double that must lead" if doubles == set(BY_DOUBLE) else "a double"
    nobody = f"If nobody holds {f'the {_top(rules)}' if doubles == {'double_six'} else double}"
    next_best = f"the player with {HEAVIEST} leads"
    if has_six:
        next_best = "the player with the highest double leads or, if nobody has one, the one with "
        next_best += HEAVIEST
    match rules.lead.missing:
        case "next_double":
            return Sentence(f"{nobody}, {next_best}.", ("C Puerto Rico",) if has_six else ())
        case "redeal":
            text = f"{nobody}, all tiles are dealt again, {AT_MOST}; after that {next_best}."
            return Sentence(text, ("C.4",))
        case "draw_for_it":
            text = (
                f"{nobody}, the players take turns drawing one tile, starting with one chosen at "
                f"random, until someone draws {'it' if has_six else 'one'}; that player leads."
            )
            if rules.boneyard.reserve:
                text += " For this even the last tiles of the boneyard may be drawn."
            return Sentence(text, ("C.3", "C.13") if doubles == {"double_six"} else ())


def _set_double(rules: Ruleset) -> Sentence:
    """Return the sentence on a double that leads because the rules name it."""
    sources = clauses(("C.13",), ("C Puerto Rico",))
    if not relevance.has_free_lead(rules):
        ending = ", without drawing" if relevance.can_draw(rules) else ""
        return Sentence(f"Whoever leads because of a tile must play it at once{ending}.", sources)
    highest = relevance.lead_doubles(rules) == {"highest_double"}
    tile = "the highest double" if highest else f"the {_top(rules)}"
    if relevance.may_miss(rules) and rules.lead.missing != "draw_for_it":
        tile += " (or heaviest tile)" if highest else " (or the tile in its place)"
    others = "later leaders" if rules.lead.first in BY_DOUBLE else "a leader for any other reason"
    if relevance.later_lead(rules) == "winner":
        others = "a winner who leads"
    text = f"A player who leads with {tile} must begin with it; {others} may begin with any tile."
    return Sentence(text, clauses(sources, ("C.15",)))


# Explanations of play: the turn, the boneyard, the stakes, and the end of a round.


DIRECTION = {
    "clockwise": Sentence("Play passes to the left, clockwise.", ("A", "B", "C play", "E play")),
    "counter_clockwise": Sentence("Play passes to the right, counter-clockwise."),
}
TILES_A_TURN = {
    1: Sentence(
        "In a turn you play one tile at either end of the line; the halves that touch must show "
        "the same number.",
        ("A", "B", "C play"),
    ),
    2: Sentence(
        "In a turn you play two tiles, one at each end of the line as it lies when your turn "
        "begins; the halves that touch must show the same number. If you cannot play two, you play "
        "none. Only a player with a single tile left plays it alone, at either end{alone}.",
        ("E play",),
    ),
}
DOUBLES = Sentence(
    "Doubles are laid crosswise, but they are not spinners: nothing is played to their sides.",
    ("A", "B", "C play", "E play"),
)
DRAW_INSTEAD: Mapping[int | str, str] = {
    "unlimited": "A player who can play may instead {take} as many tiles as they like, even after "
    "one that fits, but must then play.",
    1: "A player who can play may instead {take} one tile, but must then play.",
    "two_at_once": "A player who can play may instead {take} two tiles at once, or the only one "
    "that may be drawn, but must then play.",
    "several": "A player who can play may instead {take}, at most {tiles} in a turn, even after "
    "one that fits, but must then play.",
}
LEADER_MAY_DRAW = {
    True: Sentence(
        "The leader may do so even before playing the first tile.", ("B", "C play", "C.22")
    ),
    False: Sentence("Nobody may draw before the first tile has been led.", ("D",)),
}
DRAW_ENDS_TURN = {
    True: Sentence(
        "A player who cannot play may draw one tile, which ends the turn, or pass.",
        ("E play", "C.27"),
    ),
    False: Sentence(
        "A player who cannot play draws one tile, which ends the turn; a player who can neither "
        "play nor draw passes.",
        ("E play",),
    ),
}
MAY_DRAW: Mapping[int | str, str] = {
    "unlimited": "A player who cannot play may {take} tiles until one fits, or pass at any point.",
    1: "A player who cannot play may {take} one tile and must play it if it fits, or pass.",
    "several": "A player who cannot play may {take} up to {tiles} in a turn until one fits, or "
    "pass at any point.",
}
MUST_DRAW: Mapping[int | str, str] = {
    "unlimited": "A player who cannot play draws until they can, and passes only when no tile may "
    "be drawn any more.",
    1: "A player who cannot play draws one tile if one may be drawn, plays it if it fits, and "
    "otherwise passes.",
    "two_at_once": "A player who cannot play draws two tiles at once, or the only one that may be "
    "drawn, then plays one that fits, and otherwise passes.",
    "several": "A player who cannot play draws up to {tiles} if they may be drawn, one at a time, "
    "until one fits; a player who still cannot play passes.",
}
MUST_DRAW_SOURCES: Mapping[int | str, tuple[str, ...]] = {
    "unlimited": ("B", "C play", "C.18", "D"),
    **dict.fromkeys((1, 2), ("A", "C Dutch", "C.19", "C.28")),
    "two_at_once": ("A", "C Dutch", "C.28"),
}


def the_turn(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the turn."""
    turn, limit = rules.turn, relevance.draw_limit(rules)
    if playable_seat_counts(rules) != (2,):
        yield DIRECTION[rules.deal.direction]
    empty = "the boneyard is empty" if rules.boneyard.reserve == 0 else "no tile may be drawn"
    condition = f", and only once {empty}" if relevance.can_draw(rules) else ""
    yield TILES_A_TURN[turn.tiles].fill(alone=condition)
    if rules.deal.doubles:
        yield DOUBLES
    if not relevance.can_draw(rules):
        yield Sentence("A player who can play must play.", ("C",))
        yield Sentence("A player who cannot play passes.", ("C",))
        return
    if not turn.draw_when_able:
        text = f"A player who can play must play and may not {_take(rules)} instead."
        yield Sentence(text, ("A", "C.23", "C Puerto Rico", "E play"))
    else:
        yield Sentence(_by_limit(rules, DRAW_INSTEAD), ("B", "C play", "C.22", "D"))
        if relevance.has_free_lead(rules):
            yield LEADER_MAY_DRAW[turn.leader_may_draw]
    if turn.draw_ends_turn:
        yield DRAW_ENDS_TURN[turn.draw_optional]
    elif turn.draw_optional:
        yield Sentence(_by_limit(rules, MAY_DRAW), ("C.27",))
    else:
        yield Sentence(_by_limit(rules, MUST_DRAW), MUST_DRAW_SOURCES.get(limit, ("C.19",)))


def _take(rules: Ruleset) -> str:
    """Return the verb for a tile of the boneyard."""
    return "buy" if relevance.has_fees(rules) else "draw"


def _by_limit(rules: Ruleset, texts: Mapping[int | str, str]) -> str:
    """Return the text for the number of tiles that a turn may draw."""
    limit = relevance.draw_limit(rules)
    tiles = count_in_words(limit, "tile") if isinstance(limit, int) else ""
    return texts.get(limit, texts["several"]).format(take=_take(rules), tiles=tiles)


# --- the boneyard ---

NO_BONEYARD = Sentence("There is no boneyard: all tiles are in the players' hands.", ("A", "C"))
BONEYARD_REST = {
    True: Sentence(
        "The rest of the tiles form the boneyard, face down: {tiles}.",
        ("A", "B", "C deal", "D", "E deal"),
    ),
    False: Sentence(
        "The tiles that are not dealt stay face down and out of play: {tiles}.", ("C",)
    ),
}
RESERVE = {
    0: Sentence("All of them may be drawn.", ("C.18", "C.25", "D", "E play")),
    1: Sentence("The last tile may not be drawn.", ("C.26",)),
    2: Sentence("The last two tiles may not be drawn.", ("A", "B", "C play", "C.26", "D")),
}
ORDER = {
    "scattered": Sentence("A player who draws takes any face-down tile.", ("C play", "D")),
    "row": Sentence(
        "The boneyard is a row; every tile is drawn from the same end of it.", ("C Egypt",)
    ),
}
AUCTION = Sentence(
    "When a turn ends with two tiles left in the boneyard, these two are auctioned, once in a "
    "round. Starting with the next player, the bidding goes exactly twice round the table: each "
    "player checks or bids more than the highest bid so far, at most the chips they hold. The "
    "highest bidder pays the bid into the pot and takes both tiles; if everybody checks, the "
    "tiles stay out of play."
)


def the_boneyard(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the tiles that are not dealt."""
    left, reserve = relevance.boneyard_left(rules), rules.boneyard.reserve
    can_draw, auction = relevance.can_draw(rules), relevance.has_auction(rules)
    for_lead = relevance.can_be_drawn_for_lead(rules)
    tiles = by_table(left, lambda tiles: count_in_words(tiles, "tile") if tiles else "none")
    used = BONEYARD_REST[can_draw or for_lead or auction]
    yield used.fill(tiles=tiles) if any(left.values()) else NO_BONEYARD
    if can_draw and auction:
        yield Sentence("The last two tiles may not be drawn; they are auctioned.", ("C.26",))
    elif can_draw:
        last = f"The last {number_word(reserve)} tiles may not be drawn."
        yield RESERVE.get(reserve, Sentence(last, ("C.26",)))
    elif for_lead:
        yield Sentence("They are drawn only to decide the lead.", ("C.3", "C.13"))
    if can_draw or for_lead:
        yield ORDER[rules.boneyard.order]
    if auction:
        yield AUCTION


# --- the stakes ---


def the_stakes(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on payments besides the points for rounds."""
    if not relevance.has_payments(rules):
        return
    stakes, partners = rules.stakes, rules.deal.partners
    payer, unit = "side" if partners else "player", "chip" if stakes.chips else "point"
    if stakes.chips:
        text = (
            f"Each {payer} begins with {count_points(stakes.chips, 'chip')} and can never pay more "
            f"than {'it holds' if partners else 'they hold'}. The score is what was won minus what "
            "was paid."
        )
    else:
        possessive = "its" if partners else "their"
        text = f"What a {payer} pays is taken off {possessive} score, which may fall below 0."
    yield Sentence(text, () if stakes.chips else ("C.27",))
    if stakes.ante:
        price = count_in_words(stakes.ante, unit)
        rest = ", or all that is left" if stakes.chips else ""
        yield Sentence(f"At the start of each round each {payer} pays {price} into the pot{rest}.")
    if relevance.has_fees(rules):
        text = f"Each tile drawn costs {count_in_words(stakes.fee, unit)}, paid "
        text += "into the pot" if stakes.pot else "to nobody"
        if relevance.can_be_drawn_for_lead(rules):
            text += "; the tiles drawn to decide the lead cost nothing"
        yield Sentence(f"{text}.", ("C.27",))
    if stakes.pot:
        text = f"The {'winning side' if partners else 'winner'} takes the pot"
        if not relevance.is_always_won(rules):
            text += "; if nobody wins the round, the pot stays for the next one. A pot that is "
            text += "left when the game ends goes to nobody"
        yield Sentence(f"{text}.")


# --- the end of a round ---

GOING_OUT = Sentence(
    "A round ends when a player goes out, that is, plays their last tile.",
    ("A", "B", "C play", "D", "E"),
)
BLOCKED_AT_ONCE = Sentence(
    "It ends at once, blocked, when all tiles of the number at each end have been played, even if "
    "tiles are left to draw.",
    ("C.20",),
)
PLAY_ON = Sentence(
    "If all tiles of the numbers at both ends have been played, the round still goes on: {what} as "
    "long as tiles may be drawn.",
    ("C play",),
)
PLAY_ON_TO_THE_LAST = Sentence(
    "If all tiles of the numbers at both ends have been played, the round still goes on: the next "
    "player must draw all tiles that may be drawn.",
    ("C play",),
)
CALL = Sentence(
    "Once all tiles of the number {dead} have been played, any player may call the round blocked. "
    "Before every turn each player is asked in order, the next to play first; the first call ends "
    "the round.",
    ("E play",),
)


def end_of_a_round(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the end of a round."""
    can_draw, optional = relevance.can_draw(rules), rules.turn.draw_optional
    yield GOING_OUT
    text = "It also ends, blocked, as soon as nobody can play"
    text += " and no tile may be drawn" if can_draw else ""
    if relevance.has_auction(rules):
        text += " or is left to be auctioned" if can_draw else " after the auction"
    sources: tuple[str, ...] = ("A", "B", "C play", "E") if can_draw else ("A", "C", "C play")
    if can_draw and optional:
        text += ", or when every player has passed in succession"
        sources += ("C.27",)
    yield Sentence(f"{text}.", sources)
    blocked = rules.end.blocked
    if blocked == "at_once" and can_draw:
        yield BLOCKED_AT_ONCE
    elif blocked == "call" and (can_draw or rules.turn.tiles == 2):
        yield CALL.fill(dead="at either end" if rules.turn.tiles == 2 else "at each end")
    elif blocked == "play_on" and can_draw:
        if not optional and relevance.draw_limit(rules) == "unlimited":
            yield PLAY_ON_TO_THE_LAST
        else:
            each = f"may {_take(rules)}" if optional else "must draw"
            yield PLAY_ON.fill(what=f"each player in turn {each}")


# Explanations of the score: the winner of a round, its points, and the end of the game.


CUSTOMARY_TARGETS = {2: 100, 3: 61, 4: 61}
"""The targets of A, B, C and E, by the number of players."""
FORMULAS_OF_PIPS = ("others_minus_own", "others", "everybody", "difference")
"""Formulas that are equal after a player went out, who holds no pips."""


class Worth(NamedTuple):
    """The points that a formula gives, in words."""

    player: str
    """The points of a player who wins a round."""
    side: str
    """The points of a side that wins: the two hands of a side count as one (C.36)."""
    sources: tuple[str, ...]
    """The clauses on a player's points."""


WORTH: dict[Formula, Worth] = {
    "others_minus_own": Worth(
        "the total of all other hands minus their own",
        "the difference between the pips of the two sides",
        ("A", "B", "C score", "C.34", "E"),
    ),
    "others": Worth(
        "the total of all other hands", "the total of the other side's two hands", ("C.31", "D")
    ),
    "everybody": Worth(
        "the total of all hands, their own included",
        "the total of all four hands",
        ("C.33", "C Puerto Rico"),
    ),
    "difference": Worth(
        "the difference between each other player's pips and their own, added up",
        "the difference between the pips of the two sides",
        ("C.35",),
    ),
    "one": Worth("one point", "one point", ("C.30",)),
    "nothing": Worth("no points", "no points", ()),
}
"""The words of every formula."""
WINNER = {
    ("lowest", False): Sentence(
        "The player with the fewest pips wins the round (a player who went out has 0).",
        ("A", "B", "C score", "E"),
    ),
    ("lowest", True): Sentence(
        "The side with fewer pips in its two hands together wins the round, even if a player of "
        "the other side went out.",
        ("C.36",),
    ),
    ("out", False): Sentence(
        "Whoever goes out wins the round; in a blocked round the player with the fewest pips wins.",
        ("C.30", "C.32", "D", "C Puerto Rico"),
    ),
    ("out", True): Sentence(
        "The side of the player who goes out wins the round; in a blocked round the side with "
        "fewer pips in its two hands together wins.",
        ("C.32", "C.36"),
    ),
}
"""The winner of a round, by `Score.winner` and `Deal.partners`."""
TIE = {
    "blocker": Sentence("{blocker} who played the last tile wins it.", ("C Puerto Rico",)),
    "fewest_tiles": Sentence(
        "the {one} with the fewest tiles wins it; if that is a tie too, nobody wins.", ("C.37",)
    ),
    "lowest_end": Sentence(
        "the {one} whose highest number on any half of a tile is lowest wins it; if that is a tie "
        "too, nobody wins.",
        ("C.37",),
    ),
    "outsider": Sentence(
        "the player with the fewest pips of those who are not tied wins it; if these tie too, or "
        "there are none, nobody wins.",
        ("C.37",),
    ),
}
"""The winner of a tied blocked round, by `Score.tie`."""


def scoring(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the winner of a round, and its points."""
    score = rules.score
    text = "At the end of a round each player counts the pips on the tiles left in their hand"
    if score.double_blank and relevance.has_blank(rules):
        yield Sentence(f"{text}; the 0-0 counts {score.double_blank}.", ("A", "C Dutch"))
    else:
        yield Sentence(f"{text}.", ("A", "B", "C score", "E"))
    yield WINNER[score.winner, rules.deal.partners]
    yield from _ties(rules)
    yield from _points(rules)
    yield from _bonuses(rules)


def _ties(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on a tied blocked round, and on a tie with a player who went out."""
    partners, with_out = rules.deal.partners, relevance.can_tie_when_out(rules)
    tied = "two or more players tie for the fewest pips"
    if relevance.count_winners(rules) == 2:
        tied = f"both {'sides' if partners else 'players'} have equally many pips"
    if _is_broken(rules):
        roles = ("the side of the player", "side") if partners else ("the player", "tied player")
        text, sources = TIE[rules.score.tie].fill(blocker=roles[0], one=roles[1])
        yield Sentence(f"If {tied} in a blocked round, {text}", sources)
        if with_out:
            left = tied if partners else "another is left with only the 0-0"
            text = f"If a player went out and {left}, nobody wins the round."
            yield Sentence(text, ("B", "C score"))
    elif rules.score.winner == "out":
        text = f"If {tied} in a blocked round, nobody wins it."
        yield Sentence(text, ("C.30", "C.37", "C Puerto Rico"))
    else:
        even = " (a player left with only the 0-0 ties with one who went out)"
        even = ", even after a player went out" if partners else even
        text = f"If {tied}{even if with_out else ''}, nobody wins the round."
        yield Sentence(text, ("A", "B", "C score", "C.37", "E"))


def _is_broken(rules: Ruleset) -> bool:
    """Tell whether a tie in a blocked round may still have a winner."""
    tie = rules.score.tie
    return tie != "nobody" and (tie != "outsider" or relevance.count_winners(rules) > 2)


def _points(rules: Ruleset) -> Iterator[Sentence]:
    out, blocked = rules.score.points_out, rules.score.points_blocked
    if out == blocked == "nothing" and relevance.has_pot(rules):
        yield Sentence("Winning a round earns the pot and no points.")
    elif rules.deal.partners and WORTH[out].side == WORTH[blocked].side:
        yield Sentence(f"The winning side scores {WORTH[out].side}.", ("C.36",))
    elif rules.deal.partners:
        phrase = "After a player went out the winning side scores"
        yield Sentence(f"{phrase} {WORTH[out].side}.", ("C.36",))
        yield Sentence(f"After a blocked round it scores {WORTH[blocked].side}.", ("C.36",))
    elif out == blocked:
        text = f"The winner scores {WORTH[out].player}{_floor(rules)}."
        yield Sentence(text, WORTH[out].sources)
    else:
        phrase = WORTH["others" if out in FORMULAS_OF_PIPS else out].player
        yield Sentence(f"A winner who went out scores {phrase}.", WORTH[out].sources)
        text = f"The winner of a blocked round scores {WORTH[blocked].player}{_floor(rules)}."
        yield Sentence(text, WORTH[blocked].sources)


def _floor(rules: Ruleset) -> str:
    """Return that 0 is the least, if a winner without the fewest pips could score less."""
    signed = rules.score.points_blocked in ("others_minus_own", "difference")
    heavy = rules.score.tie in ("blocker", "outsider") and relevance.count_winners(rules) > 2
    return " (never less than 0)" if signed and heavy else ""


def _bonuses(rules: Ruleset) -> Iterator[Sentence]:
    score, always_won = rules.score, relevance.is_always_won(rules)
    early = enumerate(score.bonus[: relevance.most_rounds(rules)], 1)
    if extra := [(number, points) for number, points in early if points]:
        (first, most), *others = extra
        more = [f"of the {ordinal_word(number)} {points:,}" for number, points in others]
        text = join_words([f"{count_points(most)} extra", *more])
        text += "" if always_won else "; they lapse if nobody wins that round"
        yield Sentence(f"The winner of the {ordinal_word(first)} round gets {text}.")
    going_out = {
        "a tile that fits both ends and is not a double (capicú)": score.capicu,
        "the 0-0": score.out_with_blank if relevance.has_blank(rules) else 0,
    }
    for tile, points in going_out.items():
        if points:
            earned = f"{count_points(points)} extra"
            yield Sentence(f"Winning by going out with {tile} earns {earned}.")


# --- the game ---


def the_game(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the end of a game and its winner."""
    if fixed := rules.game.rounds:
        length = f"The game lasts {count_in_words(fixed, 'round')}"
        yield Sentence(f"{length}. The highest score wins; equal scores tie.")
        return
    targets = {seats: target(rules, seats) for seats in playable_seat_counts(rules)}
    party = "side" if rules.deal.partners else "player"
    text = f"The game is won by the first {party} to reach {by_table(targets, count_points, 'or')}."
    yield Sentence(text, _literature_of_target(rules, targets))
    after = count_in_words(rules.game.max_rounds, "round")
    yield Sentence(f"If nobody has won after {after}, the highest score wins; equal scores tie.")


def _literature_of_target(rules: Ruleset, targets: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.partners and targets == {4: 100}:
        return "C score", "E"
    if not targets.items() <= CUSTOMARY_TARGETS.items():
        return ()
    return ("A", "B") if rules.deal.partners else ("A", "B", "C score", "E")


# --- the ruleset ---


RULE_PARTS: dict[str, Callable[[Ruleset], Iterator[Sentence]]] = {
    "Players and tiles": players_and_tiles,
    "The lead": the_lead,
    "The turn": the_turn,
    "The boneyard": the_boneyard,
    "Stakes": the_stakes,
    "End of a round": end_of_a_round,
    "Scoring": scoring,
    "The game": the_game,
}
"""The parts of a game under their headings, in the order in which a player meets them."""


def explain_ruleset(rules: Ruleset) -> dict[str, list[Sentence]]:
    """Return all that a player must know to play this game, by heading."""
    parts = {heading: list(part(rules)) for heading, part in RULE_PARTS.items()}
    return {heading: sentences for heading, sentences in parts.items() if sentences}
