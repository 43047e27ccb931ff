"""Explanations of play: the turn, the boneyard, the stakes, and the end of a round."""

from collections.abc import Iterator, Mapping

from arena.rules import relevance
from arena.rules.english import Sentence, by_table, count_in_words, count_points, number_word
from protocol.ruleset import Ruleset, playable_seat_counts

DIRECTION = {
    "clockwise": Sentence("Play passes to the left, clockwise.", ("A", "B", "C play", "E play")),
    "counter_clockwise": Sentence("Play passes to the right, counter-clockwise."),
}
TILES = {
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
    "several": "A player who cannot play draws up to {tiles} if they may be drawn, one at a time, "
    "until one fits; a player who still cannot play passes.",
}
MUST_DRAW_SOURCES: Mapping[int | str, tuple[str, ...]] = {
    "unlimited": ("B", "C play", "C.18", "D"),
    **dict.fromkeys((1, 2), ("A", "C Dutch", "C.19", "C.28")),
}


def the_turn(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the turn."""
    turn, limit = rules.turn, relevance.draw_limit(rules)
    if playable_seat_counts(rules) != (2,):
        yield DIRECTION[rules.deal.direction]
    empty = "the boneyard is empty" if rules.boneyard.reserve == 0 else "no tile may be drawn"
    alone = f", and only once {empty}" if relevance.can_draw(rules) else ""
    yield TILES[turn.tiles].fill(alone=alone)
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
    tiles = "" if limit == "unlimited" else count_in_words(limit, "tile")
    return texts.get(limit, texts["several"]).format(take=_take(rules), tiles=tiles)


# --- the boneyard ---

NO_BONEYARD = Sentence("There is no boneyard: all tiles are in the players' hands.", ("A", "C"))
LEFT = {
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
    used = LEFT[can_draw or for_lead or auction]
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
        whose = "its" if partners else "their"
        text = f"What a {payer} pays is taken off {whose} score, which may fall below 0."
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

OUT = Sentence(
    "A round ends when a player goes out, that is, plays their last tile.",
    ("A", "B", "C play", "D", "E"),
)
AT_ONCE = Sentence(
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
    yield OUT
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
        yield AT_ONCE
    elif blocked == "call" and (can_draw or rules.turn.tiles == 2):
        yield CALL.fill(dead="at either end" if rules.turn.tiles == 2 else "at each end")
    elif blocked == "play_on" and can_draw:
        if not optional and relevance.draw_limit(rules) == "unlimited":
            yield PLAY_ON_TO_THE_LAST
        else:
            each = f"may {_take(rules)}" if optional else "must draw"
            yield PLAY_ON.fill(what=f"each player in turn {each}")
