"""Before the first turn: players, tiles, deals that do not count, and the lead."""

from collections.abc import Iterator
from typing import assert_never

from arena.sentences import effects
from arena.sentences.words import (
    Heading,
    Sentence,
    by_table,
    clauses,
    count,
    listed,
    number,
)
from protocol.rules import Deal, Lead, Ruleset, tables

TABLE: Heading = "Players and tiles"
LEAD: Heading = "The lead"
CUSTOMARY = {2: 7, 3: 7, 4: 6}
"""The hands of A and B."""


def players_and_tiles(rules: Ruleset) -> Iterator[Sentence]:
    """Who plays with what, and which deals do not count."""
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
        return Sentence(TABLE, text, ("A", "B", "C play", "C.36"))
    at = listed(map(number, tables(rules)), "or")
    return Sentence(TABLE, f"For {at} players, each alone.", ("A", "B", "C play", "D", "E"))


def _the_set(deal: Deal) -> Sentence:
    pips, kind = deal.highest_pip, f"double-{number(deal.highest_pip)}"
    half = pips * (pips + 1) // 2
    if not deal.doubles:
        text = f"The {kind} set is used without its doubles: {half} tiles."
        return Sentence(TABLE, text, ("C Austria",))
    text = f"The {kind} set is used: {half + pips + 1} tiles."
    return Sentence(TABLE, text, ("A", "B", "C deal", "D", "E") if pips == 6 else ("C play",))


def _hands(rules: Ruleset) -> Sentence:
    hands = effects.hands(rules)
    dealt = by_table(hands, lambda hand: count(hand, "tile"))
    if rules.deal.hand == "eight_minus_seats" and len(hands) > 1:
        dealt = f"eight tiles less the number of players: {dealt}"
    return Sentence(TABLE, f"Every player is dealt {dealt}.", _hand_sources(rules, hands))


def _hand_sources(rules: Ruleset, hands: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.hand == "eight_minus_seats":
        return "C deal", "C.2", "E deal"
    if set(hands.values()) == {1}:
        return "C deal", "C.3"
    if rules.deal.partners and hands == {4: 7}:
        return "A", "C", "C deal"
    if hands.items() <= CUSTOMARY.items():
        return "A", "B", "C deal"
    return "C deal", "C.1"


def _annulled(rules: Ruleset) -> Iterator[Sentence]:
    deal, largest = rules.deal, max(effects.hands(rules).values())
    if 0 < deal.annul_suit <= min(largest, deal.highest_pip + deal.doubles):
        text = (
            f"A player who is dealt {number(deal.annul_suit)} or more tiles showing one number "
            "must say so, and all tiles are dealt again."
        )
        yield Sentence(TABLE, text, ("C.6",))
    if 0 < deal.refuse_doubles <= min(largest, deal.highest_pip + 1):
        text = (
            f"A player who is dealt {count(deal.refuse_doubles, 'double')} or more may have all "
            "tiles dealt again; the leader is asked first."
        )
        yield Sentence(TABLE, text, ("C.5",))


# --- the lead ---


def the_lead(rules: Ruleset) -> Iterator[Sentence]:
    """Who begins each round, and with what."""
    yield _first(rules)
    if effects.rounds(rules) > 1:
        yield from _later(rules)
    if effects.double_after_tie(rules):
        text = "After a round that nobody won, whoever is dealt the highest double leads."
        yield Sentence(LEAD, text, ("C Puerto Rico",))
    if effects.may_miss(rules):
        yield _missing(rules)
    yield from _first_tile(rules)


def _first(rules: Ruleset) -> Sentence:
    every = rules.lead.later == "again" and effects.rounds(rules) > 1
    text, sources = _chosen(rules)
    return Sentence(LEAD, f"{'In every round' if every else 'In the first round'} {text}", sources)


def _chosen(rules: Ruleset) -> tuple[str, tuple[str, ...]]:
    """How the leader of a round is found that does not follow from the last one."""
    match rules.lead.first:
        case "random":
            return "a player chosen at random leads.", ("A", "B", "E deal")
        case "lowest":
            return f"every player draws a tile and shows it: the lowest {BY_LOT}", ("D",)
        case "highest":
            return f"every player draws a tile and shows it: the highest {BY_LOT}", ("C.8",)
        case "count":
            return COUNTED, ("C.11",)
        case "odd_even":
            return CALLED, ("C.11",)
        case "highest_double":
            return "whoever is dealt the highest double leads.", ("C.12", "C Puerto Rico")
        case "double_six":
            return f"whoever is dealt the {_top(rules)} leads.", ("C.13", "C Puerto Rico")
        case _:
            assert_never(rules.lead.first)


BY_LOT = (
    "number of pips leads, and players who tie draw again. These tiles are shuffled back "
    "before the deal."
)
COUNTED = (
    "every player draws a tile and shows it. All their pips are divided by the number of "
    "players; the remainder plus one is the number of the player who leads, counted round the "
    "table. These tiles are shuffled back before the deal."
)
CALLED = (
    "both players draw a tile, and before these are shown one of them, chosen at random, calls "
    "whether their pips together are odd or even: the caller leads if that is right, else the "
    "other. These tiles are shuffled back before the deal."
)


def _top(rules: Ruleset) -> str:
    return f"{rules.deal.highest_pip}-{rules.deal.highest_pip}"


def _later(rules: Ruleset) -> Iterator[Sentence]:
    match rules.lead.later:
        case "rotate":
            text = f"The lead then passes {_onward(rules)} from round to round."
            yield Sentence(LEAD, text, ("C play", "C.10", "D", "E play"))
        case "same":
            yield Sentence(LEAD, "The same player leads every later round too.", ("C.9",))
        case "winner":
            yield Sentence(LEAD, _winner_leads(rules), ("C Puerto Rico",))
        case "again":
            return
        case _:
            assert_never(rules.lead.later)


def _onward(rules: Ruleset) -> str:
    if tables(rules) == (2,):
        return "to the other player"
    match rules.deal.direction:
        case "clockwise":
            return "to the player on the left"
        case "counter_clockwise":
            return "to the player on the right"


def _winner_leads(rules: Ruleset) -> str:
    who = "Whoever wins a round leads the next"
    if rules.deal.partners:
        who += ": of the winning side the player who went out, or else the one with fewer pips"
    if effects.double_after_tie(rules) or effects.always_won(rules):
        return f"{who}."
    return f"{who}. After a round that nobody won, its leader leads again."


def _missing(rules: Ruleset) -> Sentence:
    """What happens when nobody was dealt the double that is asked for."""
    one = rules.lead.first == "double_six"
    none = _nobody_has_it(rules)
    match rules.lead.missing:
        case "next_double":
            heaviest = (
                "whoever has the heaviest tile leads (of equal ones, that with the larger end)"
            )
            if one:
                heaviest = f"whoever has the highest double leads; if nobody has one, {heaviest}"
            return Sentence(LEAD, f"{none}, {heaviest}.", ("C Puerto Rico",))
        case "redeal":
            return Sentence(LEAD, f"{none}, all tiles are dealt again.", ("C.4",))
        case "draw_for_it":
            wanted = "it" if one else "one"
            text = (
                f"{none}, the players draw one tile each in turn, beginning with one chosen "
                f"at random, until somebody gets {wanted} and leads."
            )
            if rules.boneyard.reserve:
                text += " For this the boneyard may be drawn to its last tile."
            return Sentence(LEAD, text, ("C.3", "C.13"))
        case _:
            assert_never(rules.lead.missing)


def _nobody_has_it(rules: Ruleset) -> str:
    match rules.lead.first:
        case "double_six" if effects.double_after_tie(rules):
            return "If nobody has the double that is asked for"
        case "double_six":
            return f"If nobody has the {_top(rules)}"
        case "highest_double":
            return "If nobody has a double"
        case _:
            return "If nobody has a double then"


def _first_tile(rules: Ruleset) -> Iterator[Sentence]:
    if rules.deal.starter:
        text = "One tile of the boneyard is turned up and begins the line; the leader plays to it."
        yield Sentence(LEAD, text, ("E deal",))
        return
    yield _required(rules, rules.lead)


def _required(rules: Ruleset, lead: Lead) -> Sentence:
    free = Sentence(LEAD, "The first tile may be any that the leader holds.", ("C.15",))
    match lead.tile:
        case "any":
            return free
        case "highest":
            text = (
                "The first tile must be the leader's highest double or, if there is none in "
                "that hand, its heaviest tile (of equal ones, that with the larger end)."
            )
            return Sentence(LEAD, text, ("C.16",))
        case "set_double":
            return _set_double(rules) if effects.by_double(rules) else free
        case _:
            assert_never(lead.tile)


def _set_double(rules: Ruleset) -> Sentence:
    won = "double"
    if effects.may_miss(rules) and rules.lead.missing == "next_double":
        won = "double (or the heaviest tile)"
    text = f"A player who leads because of a {won} must begin with it"
    sources = clauses(("C.13",), ("C Puerto Rico",))
    if effects.free_lead(rules):
        text += "; in other rounds the first tile may be any"
        sources = clauses(sources, ("C.15",))
    return Sentence(LEAD, f"{text}.", sources)
