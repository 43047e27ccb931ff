"""While a round is played: the turn, the boneyard, the stakes, and how the round ends."""

from collections.abc import Iterator
from typing import assert_never

from arena.sentences import effects
from arena.sentences.words import Heading, Sentence, by_table, count, number, points
from protocol.rules import Ruleset, Stakes, tables

TURN: Heading = "The turn"
BONEYARD: Heading = "The boneyard"
STAKES: Heading = "Stakes"
END: Heading = "End of a round"


def the_turn(rules: Ruleset) -> Iterator[Sentence]:
    """What a player may do."""
    if tables(rules) != (2,):
        yield _direction(rules)
    yield _tiles(rules)
    if rules.deal.doubles:
        text = "Doubles lie across the line, but it does not branch there."
        yield Sentence(TURN, text, ("A", "B", "C play", "E play"))
    yield from _when_able(rules)
    yield _when_unable(rules)


def _direction(rules: Ruleset) -> Sentence:
    match rules.deal.direction:
        case "clockwise":
            text = "The turn passes to the left, clockwise."
            return Sentence(TURN, text, ("A", "B", "C play", "E play"))
        case "counter_clockwise":
            text = "The turn passes to the right, counter-clockwise."
            return Sentence(TURN, text, ("C", "C Puerto Rico"))
        case _:
            assert_never(rules.deal.direction)


def _tiles(rules: Ruleset) -> Sentence:
    match rules.turn.tiles:
        case 1:
            text = (
                "One tile is played in a turn, at either end of the line: it must show the "
                "number of the end that it touches."
            )
            return Sentence(TURN, text, ("A", "B", "C play"))
        case 2:
            last = "once nothing can be drawn any more" if effects.draws(rules) else "at any time"
            text = (
                "Two tiles are played in a turn, one at each end of the line as it lies when "
                "the turn begins; both must fit. Only a player's last tile is played alone, at "
                f"either end, {last}."
            )
            return Sentence(TURN, text, ("E play",))
        case _:
            assert_never(rules.turn.tiles)


def _when_able(rules: Ruleset) -> Iterator[Sentence]:
    turn = rules.turn
    if not effects.draws(rules):
        yield Sentence(TURN, "A player who can play must play.", ("C",))
    elif not turn.draw_when_able:
        text = "A player who can play must play, and may not draw instead."
        yield Sentence(TURN, text, ("A", "C.23", "C Puerto Rico", "E play"))
    else:
        more = "" if turn.draw_limit == 1 else ", and go on drawing after a tile that fits"
        text = f"A player who can play may draw instead{more}, but may not pass."
        yield Sentence(TURN, text, ("B", "C play", "C.22", "D"))
        if effects.free_lead(rules):
            yield _leader(rules)


def _leader(rules: Ruleset) -> Sentence:
    if rules.turn.leader_may_draw:
        text = "The leader may draw before the first tile too."
        return Sentence(TURN, text, ("B", "C play", "C.22"))
    return Sentence(TURN, "But the first tile must be led before anybody draws.", ("D",))


def _when_unable(rules: Ruleset) -> Sentence:
    turn = rules.turn
    if not effects.draws(rules):
        return Sentence(TURN, "A player who cannot play passes.", ("C",))
    if turn.draw_ends_turn:
        may = "may draw one tile, or pass" if turn.draw_optional else "draws one tile"
        then = "when nothing can be drawn any more, such a player passes"
        text = f"A player who cannot play {may}, and the turn is over; {then}."
        return Sentence(TURN, text, ("E play", "C.27") if turn.draw_optional else ("E play",))
    if turn.draw_optional:
        return Sentence(TURN, f"A player who cannot play may {_as_wished(rules)}.", ("C.27",))
    return _must_draw(rules)


def _as_wished(rules: Ruleset) -> str:
    limit = effects.draw_limit(rules)
    if limit == 1:
        return "draw one tile, but may also pass"
    tiles = "tiles" if limit == "unlimited" else _up_to(limit)
    return f"draw {tiles} until one can be played, but may also pass at any time"


def _up_to(limit: int) -> str:
    return "one tile" if limit == 1 else f"up to {count(limit, 'tile')}, one by one,"


def _must_draw(rules: Ruleset) -> Sentence:
    limit = effects.draw_limit(rules)
    if limit == "unlimited":
        text = (
            "A player who cannot play must draw until a tile can be played, and passes only when "
            "no more may be drawn."
        )
        return Sentence(TURN, text, ("B", "C play", "C.18", "D"))
    then = "then plays if possible, else passes"
    if limit == 1:
        text = f"A player who cannot play must draw one tile, {then}."
    else:
        text = (
            f"A player who cannot play must draw {_up_to(limit)} until one can be played, {then}."
        )
    sources = ("A", "C Dutch", "C.19", "C.28") if limit <= 2 else ("C.19",)
    return Sentence(TURN, text, sources)


# --- the boneyard ---


def the_boneyard(rules: Ruleset) -> Iterator[Sentence]:
    """What is not dealt, and who gets it."""
    yield _left(rules)
    if effects.draws(rules):
        yield _reserve(rules)
    if effects.draws(rules) or effects.drawn_for(rules):
        yield _order(rules)
    if effects.auctions(rules):
        yield Sentence(BONEYARD, AUCTION, ("C.26",))


def _left(rules: Ruleset) -> Sentence:
    left = effects.left(rules)
    if not any(left.values()):
        return Sentence(BONEYARD, "There is none: all tiles are in the players' hands.", ("A", "C"))
    tiles = by_table(left, lambda tiles: count(tiles, "tile") if tiles else "none")
    if effects.draws(rules):
        text = f"The tiles that are not dealt lie face down: {tiles}."
        return Sentence(BONEYARD, text, ("A", "B", "C deal", "D", "E deal"))
    text = f"No turn draws from the tiles that are not dealt: {tiles}."
    return Sentence(BONEYARD, text, ("C",))


def _reserve(rules: Ruleset) -> Sentence:
    reserve = rules.boneyard.reserve
    if reserve == 0:
        text = "All of them may be drawn, to the last one."
        return Sentence(BONEYARD, text, ("C.18", "C.25", "D", "E play"))
    last = "The last tile stays" if reserve == 1 else f"The last {number(reserve)} tiles stay"
    sources = ("A", "B", "C play", "C.26", "D") if reserve == 2 else ("C.26",)
    return Sentence(BONEYARD, f"{last} there and may not be drawn.", sources)


def _order(rules: Ruleset) -> Sentence:
    match rules.boneyard.order:
        case "scattered":
            return Sentence(BONEYARD, "Whoever draws takes any of them.", ("C Egypt", "D"))
        case "row":
            text = "They lie in a row, and everybody must draw from the same end of it."
            return Sentence(BONEYARD, text, ("C Egypt",))
        case _:
            assert_never(rules.boneyard.order)


AUCTION = (
    "When only two are left they are auctioned after the turn, once in a round. The next "
    "player begins, and it goes twice round the table: each in turn checks, or bids more "
    "than the last bid and at most the chips at hand. The highest bidder pays the bid into "
    "the pot and takes both tiles; if all check, they stay out."
)


# --- the stakes ---


def the_stakes(rules: Ruleset) -> Iterator[Sentence]:
    """What is paid besides points for rounds."""
    if not effects.pays(rules):
        return
    stakes = rules.stakes
    yield _chips(rules)
    if stakes.ante:
        text = (
            f"In every round each {_payer(rules)} pays {_price(stakes, stakes.ante)} into the pot"
        )
        text += ", or whatever is left." if stakes.chips else "."
        yield Sentence(STAKES, text, ("C.26",))
    if effects.fees(rules):
        yield _fee(stakes)
    if stakes.pot:
        text = "Whoever wins the round takes the pot; after a round that nobody won it stays in."
        if effects.always_won(rules):
            text = "Whoever wins the round takes the pot."
        yield Sentence(STAKES, text, ("C.26", "C.27"))


def _payer(rules: Ruleset) -> str:
    return "side" if rules.deal.partners else "player"


def _price(stakes: Stakes, price: int) -> str:
    return count(price, "chip" if stakes.chips else "point")


def _chips(rules: Ruleset) -> Sentence:
    chips = rules.stakes.chips
    if chips == 0:
        text = "What is paid comes off the payer's score, which may fall below zero."
        return Sentence(STAKES, text, ("C.27",))
    text = (
        f"Each {_payer(rules)} begins with {points(chips, 'chip')}, and nobody can pay more than "
        "they hold. The score is what was won less what was paid."
    )
    return Sentence(STAKES, text, ("C.26", "C.27"))


def _fee(stakes: Stakes) -> Sentence:
    where = " into the pot" if stakes.pot else ", and nobody gets it"
    text = f"Every tile drawn in a turn costs {_price(stakes, stakes.fee)}{where}."
    return Sentence(STAKES, text, ("C.27",))


# --- the end of a round ---


def end_of_a_round(rules: Ruleset) -> Iterator[Sentence]:
    """When a round is over."""
    text = "A round ends when somebody plays their last tile and so goes out."
    yield Sentence(END, text, ("A", "B", "C play", "D", "E"))
    yield _blocked(rules)
    yield from _dead_ends(rules)


def _blocked(rules: Ruleset) -> Sentence:
    if not effects.draws(rules):
        text = "It is blocked, and ends too, as soon as nobody can play."
        return Sentence(END, text, ("A", "C", "C play"))
    text = "It is blocked, and ends too, as soon as nobody can play and nothing may be drawn"
    sources: tuple[str, ...] = ("A", "B", "C play", "E")
    if rules.turn.draw_optional:
        text += ", or when all players pass one after the other"
        sources = (*sources, "C.27")
    return Sentence(END, f"{text}.", sources)


def _dead_ends(rules: Ruleset) -> Iterator[Sentence]:
    """What happens when all tiles of an end's number lie on the line."""
    match rules.end.blocked:
        case "play_on":
            if effects.draws(rules):
                yield _play_on(rules)
        case "at_once":
            if effects.draws(rules):
                text = (
                    "It ends at once when every tile of the numbers at both ends lies on the line."
                )
                yield Sentence(END, text, ("C.20",))
        case "call":
            if effects.draws(rules) or rules.turn.tiles == 2:
                yield _call(rules)
        case _:
            assert_never(rules.end.blocked)


def _play_on(rules: Ruleset) -> Sentence:
    how = "may" if rules.turn.draw_optional else "must"
    text = (
        "Dead ends, on which no tile fits any more, do not end it: as long as there are tiles "
        f"to draw, the players in turn {how} draw them."
    )
    return Sentence(END, text, ("C play",))


def _call(rules: Ruleset) -> Sentence:
    dead = (
        "every tile of the number at one end" if rules.turn.tiles == 2 else
        "every tile of the numbers at both ends"
    )  # fmt: skip
    text = (
        f"Once {dead} lies on the line, any player may call the game blocked: each is asked "
        "before every turn, and the first call ends the round."
    )
    return Sentence(END, text, ("E play",))
