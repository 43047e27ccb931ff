"""Explanations of play: the turn, the boneyard, the stakes, and the end of a round."""

from collections.abc import Iterator
from typing import assert_never

from arena.rules import relevance
from arena.rules.english import Sentence, by_table, count_in_words, count_points, number_word
from protocol.ruleset import Ruleset, Stakes, playable_seat_counts


def the_turn(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the turn."""
    if playable_seat_counts(rules) != (2,):
        yield _direction(rules)
    yield _tiles(rules)
    if rules.deal.doubles:
        text = (
            "Doubles are laid crosswise, but they are not spinners: nothing is played to their "
            "sides."
        )
        yield Sentence(text, ("A", "B", "C play", "E play"))
    yield from _when_able(rules)
    yield _when_unable(rules)


def _direction(rules: Ruleset) -> Sentence:
    match rules.deal.direction:
        case "clockwise":
            text = "Play passes to the left, clockwise."
            return Sentence(text, ("A", "B", "C play", "E play"))
        case "counter_clockwise":
            text = "Play passes to the right, counter-clockwise."
            return Sentence(text)
        case _:
            assert_never(rules.deal.direction)


def _tiles(rules: Ruleset) -> Sentence:
    match rules.turn.tiles:
        case 1:
            text = (
                "In a turn you play one tile at either end of the line; the halves that touch "
                "must show the same number."
            )
            return Sentence(text, ("A", "B", "C play"))
        case 2:
            text = (
                "In a turn you play two tiles, one at each end of the line as it lies when your "
                "turn begins; the halves that touch must show the same number. If you cannot play "
                f"two, you play none. Only a player with a single tile left plays it alone, at "
                f"either end{_alone(rules)}."
            )
            return Sentence(text, ("E play",))
        case _:
            assert_never(rules.turn.tiles)


def _alone(rules: Ruleset) -> str:
    """Return when a last tile may be played alone, with two tiles a turn."""
    if not relevance.can_draw(rules):
        return ""
    empty = "the boneyard is empty" if rules.boneyard.reserve == 0 else "no tile may be drawn"
    return f", and only once {empty}"


def _when_able(rules: Ruleset) -> Iterator[Sentence]:
    if not relevance.can_draw(rules):
        yield Sentence("A player who can play must play.", ("C",))
    elif not rules.turn.draw_when_able:
        text = f"A player who can play must play and may not {_take(rules)} instead."
        yield Sentence(text, ("A", "C.23", "C Puerto Rico", "E play"))
    else:
        take = _take(rules)
        text = f"A player who can play may instead {take}{_draw_on(rules)}, but must then play."
        yield Sentence(text, ("B", "C play", "C.22", "D"))
        if relevance.has_free_lead(rules):
            yield _leader(rules)


def _take(rules: Ruleset) -> str:
    """Return the verb for a tile of the boneyard."""
    return "buy" if relevance.has_fees(rules) else "draw"


def _draw_on(rules: Ruleset) -> str:
    """Return how many tiles a player who can play may draw instead."""
    match relevance.draw_limit(rules):
        case "unlimited":
            return " as many tiles as they like, even after one that fits"
        case 1:
            return " one tile"
        case limit:
            return f", at most {count_in_words(limit, 'tile')} in a turn, even after one that fits"


def _leader(rules: Ruleset) -> Sentence:
    if rules.turn.leader_may_draw:
        text = "The leader may do so even before playing the first tile."
        return Sentence(text, ("B", "C play", "C.22"))
    return Sentence("Nobody may draw before the first tile has been led.", ("D",))


def _when_unable(rules: Ruleset) -> Sentence:
    turn = rules.turn
    if not relevance.can_draw(rules):
        return Sentence("A player who cannot play passes.", ("C",))
    if turn.draw_ends_turn:
        return _draw_ends_turn(rules)
    if turn.draw_optional:
        return Sentence(f"A player who cannot play {_as_wished(rules)}.", ("C.27",))
    return _must_draw(rules)


def _draw_ends_turn(rules: Ruleset) -> Sentence:
    if rules.turn.draw_optional:
        text = "A player who cannot play may draw one tile, which ends the turn, or pass."
        return Sentence(text, ("E play", "C.27"))
    text = (
        "A player who cannot play draws one tile, which ends the turn; a player who can neither "
        "play nor draw passes."
    )
    return Sentence(text, ("E play",))


def _as_wished(rules: Ruleset) -> str:
    """Return the options of a player who cannot play and need not draw."""
    take = _take(rules)
    match relevance.draw_limit(rules):
        case "unlimited":
            return f"may {take} tiles until one fits, or pass at any point"
        case 1:
            return f"may {take} one tile and must play it if it fits, or pass"
        case limit:
            many = count_in_words(limit, "tile")
            return f"may {take} up to {many} in a turn until one fits, or pass at any point"


def _must_draw(rules: Ruleset) -> Sentence:
    limit = relevance.draw_limit(rules)
    if limit == "unlimited":
        text = (
            "A player who cannot play draws until they can, and passes only when no tile may be "
            "drawn any more."
        )
        return Sentence(text, ("B", "C play", "C.18", "D"))
    if limit == 1:
        text = (
            "A player who cannot play draws one tile if one may be drawn, plays it if it fits, and "
            "otherwise passes."
        )
    else:
        text = (
            f"A player who cannot play draws up to {count_in_words(limit, 'tile')} if they may be "
            "drawn, one at a time, until one fits; a player who still cannot play passes."
        )
    sources = ("A", "C Dutch", "C.19", "C.28") if limit <= 2 else ("C.19",)
    return Sentence(text, sources)


# --- the boneyard ---


def the_boneyard(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the tiles that are not dealt."""
    yield _left(rules)
    if relevance.can_draw(rules):
        yield _reserve(rules)
    elif relevance.can_be_drawn_for_lead(rules):
        yield Sentence("They are drawn only to decide the lead.", ("C.3", "C.13"))
    if relevance.can_draw(rules) or relevance.can_be_drawn_for_lead(rules):
        yield _order(rules)
    if relevance.has_auction(rules):
        yield Sentence(AUCTION)


def _left(rules: Ruleset) -> Sentence:
    left = relevance.boneyard_left(rules)
    if not any(left.values()):
        text = "There is no boneyard: all tiles are in the players' hands."
        return Sentence(text, ("A", "C"))
    tiles = by_table(left, lambda tiles: count_in_words(tiles, "tile") if tiles else "none")
    if (
        relevance.can_draw(rules)
        or relevance.can_be_drawn_for_lead(rules)
        or relevance.has_auction(rules)
    ):
        text = f"The rest of the tiles form the boneyard, face down: {tiles}."
        return Sentence(text, ("A", "B", "C deal", "D", "E deal"))
    text = f"The tiles that are not dealt stay face down and out of play: {tiles}."
    return Sentence(text, ("C",))


def _reserve(rules: Ruleset) -> Sentence:
    reserve = rules.boneyard.reserve
    if reserve == 0:
        text = "All of them may be drawn."
        return Sentence(text, ("C.18", "C.25", "D", "E play"))
    if relevance.has_auction(rules):
        text = "The last two tiles may not be drawn; they are auctioned."
        return Sentence(text, ("C.26",))
    last = "The last tile" if reserve == 1 else f"The last {number_word(reserve)} tiles"
    sources = ("A", "B", "C play", "C.26", "D") if reserve == 2 else ("C.26",)
    return Sentence(f"{last} may not be drawn.", sources)


def _order(rules: Ruleset) -> Sentence:
    match rules.boneyard.order:
        case "scattered":
            text = "A player who draws takes any face-down tile."
            return Sentence(text, ("C play", "D"))
        case "row":
            text = "The boneyard is a row; every tile is drawn from the same end of it."
            return Sentence(text, ("C Egypt",))
        case _:
            assert_never(rules.boneyard.order)


AUCTION = (
    "When a turn ends with two tiles left in the boneyard, these two are auctioned, once in a "
    "round. Starting with the next player, the bidding goes exactly twice round the table: each "
    "player checks or bids more than the highest bid so far, at most the chips they hold. The "
    "highest bidder pays the bid into the pot and takes both tiles; if everybody checks, the "
    "tiles stay out of play."
)


# --- the stakes ---


def the_stakes(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on payments besides the points for rounds."""
    if not relevance.has_payments(rules):
        return
    stakes = rules.stakes
    yield _chips(rules)
    if stakes.ante:
        text = f"At the start of each round each {_payer(rules)} pays "
        text += f"{_price(stakes, stakes.ante)} into the pot"
        text += ", or all that is left." if stakes.chips else "."
        yield Sentence(text)
    if relevance.has_fees(rules):
        yield _fee(rules)
    if stakes.pot:
        yield Sentence(_pot(rules))


def _payer(rules: Ruleset) -> str:
    return "side" if rules.deal.partners else "player"


def _price(stakes: Stakes, price: int) -> str:
    return count_in_words(price, "chip" if stakes.chips else "point")


def _chips(rules: Ruleset) -> Sentence:
    chips, payer = rules.stakes.chips, _payer(rules)
    if chips == 0:
        whose = "its" if rules.deal.partners else "their"
        text = f"What a {payer} pays is taken off {whose} score, which may fall below 0."
        return Sentence(text, ("C.27",))
    holds = "it holds" if rules.deal.partners else "they hold"
    text = (
        f"Each {payer} begins with {count_points(chips, 'chip')} and can never pay more than "
        f"{holds}. The score is what was won minus what was paid."
    )
    return Sentence(text, ("C.27",))


def _fee(rules: Ruleset) -> Sentence:
    stakes = rules.stakes
    text = f"Each tile drawn costs {_price(stakes, stakes.fee)}"
    text += ", paid into the pot" if stakes.pot else ", paid to nobody"
    if relevance.can_be_drawn_for_lead(rules):
        text += "; the tiles drawn to decide the lead cost nothing"
    return Sentence(f"{text}.", ("C.27",))


def _pot(rules: Ruleset) -> str:
    taken = "The winning side takes the pot" if rules.deal.partners else "The winner takes the pot"
    if relevance.is_always_won(rules):
        return f"{taken}."
    return (
        f"{taken}; if nobody wins the round, the pot stays for the next one. A pot that is left "
        "when the game ends goes to nobody."
    )


# --- the end of a round ---


def end_of_a_round(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the end of a round."""
    text = "A round ends when a player goes out, that is, plays their last tile."
    yield Sentence(text, ("A", "B", "C play", "D", "E"))
    yield _blocked(rules)
    yield from _dead_ends(rules)


def _blocked(rules: Ruleset) -> Sentence:
    text = "It also ends, blocked, as soon as nobody can play"
    sources: tuple[str, ...] = ("A", "C", "C play")
    if relevance.can_draw(rules):
        text += " and no tile may be drawn"
        sources = ("A", "B", "C play", "E")
    if relevance.has_auction(rules):
        text += " or is left to be auctioned" if relevance.can_draw(rules) else " after the auction"
    if relevance.can_draw(rules) and rules.turn.draw_optional:
        text += ", or when every player has passed in succession"
        sources = (*sources, "C.27")
    return Sentence(f"{text}.", sources)


def _dead_ends(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on dead ends: all tiles of an end's number have been played."""
    match rules.end.blocked:
        case "play_on":
            if relevance.can_draw(rules):
                yield _play_on(rules)
        case "at_once":
            if relevance.can_draw(rules):
                text = (
                    "It ends at once, blocked, when all tiles of the number at each end have been "
                    "played, even if tiles are left to draw."
                )
                yield Sentence(text, ("C.20",))
        case "call":
            if relevance.can_draw(rules) or rules.turn.tiles == 2:
                yield _call(rules)
        case _:
            assert_never(rules.end.blocked)


def _play_on(rules: Ruleset) -> Sentence:
    text = "If all tiles of the numbers at both ends have been played, the round still goes on: "
    if rules.turn.draw_optional:
        text += f"each player in turn may {_take(rules)} as long as tiles may be drawn."
    elif relevance.draw_limit(rules) == "unlimited":
        text += "the next player must draw all tiles that may be drawn."
    else:
        text += "each player in turn must draw as long as tiles may be drawn."
    return Sentence(text, ("C play",))


def _call(rules: Ruleset) -> Sentence:
    dead = "at either end" if rules.turn.tiles == 2 else "at each end"
    text = (
        f"Once all tiles of the number {dead} have been played, any player may call the round "
        "blocked. Before every turn each player is asked in order, the next to play first; the "
        "first call ends the round."
    )
    return Sentence(text, ("E play",))
