"""What a round is worth and to whom, and when the game is over."""

from collections.abc import Iterator
from typing import assert_never

from arena.sentences import effects
from arena.sentences.words import Heading, Sentence, by_table, listed, ordinal, points
from protocol.rules import Formula, Ruleset, tables, target

SCORING: Heading = "Scoring"
GAME: Heading = "The game"
CUSTOMARY = {2: 100, 3: 61, 4: 61}
"""The targets of A, B, C and E."""
FORMULAS_OF_PIPS = ("others_minus_own", "others", "everybody", "difference")
"""Who went out holds no pips: after that all of these are the same."""
C_FORMULA = {
    "others_minus_own": "C.34",
    "others": "C.31",
    "everybody": "C.33",
    "difference": "C.35",
    "one": "C.30",
    "nothing": "C.26",
}


def scoring(rules: Ruleset) -> Iterator[Sentence]:
    """Who wins a round, and what it is worth."""
    yield _pips(rules)
    yield _winner(rules)
    yield from _ties(rules)
    yield from _points(rules)
    yield from _bonuses(rules)


def _pips(rules: Ruleset) -> Sentence:
    text = "When a round ends, every hand counts the pips on its tiles"
    if rules.score.double_blank and effects.blank(rules):
        return Sentence(
            SCORING, f"{text}, and the 0-0 counts {rules.score.double_blank}.", ("A", "C Dutch")
        )
    return Sentence(SCORING, f"{text}.", ("A", "B", "C score", "E"))


def _winner(rules: Ruleset) -> Sentence:
    match rules.score.winner, rules.deal.partners:
        case "lowest", False:
            text = "The player with the fewest pips wins the round; a player who went out has none."
            return Sentence(SCORING, text, ("A", "B", "C score", "E"))
        case "lowest", True:
            text = (
                "The side with fewer pips in both its hands together wins the round, even if a "
                "player of the other side went out."
            )
            return Sentence(SCORING, text, ("C.36",))
        case "out", False:
            text = "Whoever goes out wins the round; if it is blocked, the fewest pips win it."
            return Sentence(SCORING, text, ("C.30", "C.32", "D", "C Puerto Rico"))
        case "out", True:
            text = (
                "The side of the player who goes out wins the round; if it is blocked, the side "
                "with fewer pips in both its hands together."
            )
            return Sentence(SCORING, text, ("C.32", "C.36"))
        case _:
            raise AssertionError("Both choices are closed.")


# --- ties ---


def _ties(rules: Ruleset) -> Iterator[Sentence]:
    """A tied blocked round, and the literal tie with somebody who went out."""
    breaker = _tie_break(rules)
    if breaker is None:
        even = ", even with a player who went out," if effects.literal_tie(rules) else ","
        text = f"If {_tied(rules)}{even} nobody wins the round."
        yield Sentence(SCORING, text, _tie_sources(rules))
        return
    text, sources = breaker
    yield Sentence(SCORING, f"If {_tied(rules)} in a blocked round, {text}.", sources)
    if effects.literal_tie(rules):
        yield Sentence(SCORING, _literal(rules), ("B", "C score"))


def _tied(rules: Ruleset) -> str:
    return (
        "both sides hold equally many pips" if rules.deal.partners else "the fewest pips are tied"
    )


def _tie_sources(rules: Ruleset) -> tuple[str, ...]:
    if rules.score.winner == "out":
        return "C.30", "C.37", "C Puerto Rico"
    return "A", "B", "C score", "C.37", "E"


def _literal(rules: Ruleset) -> str:
    if rules.deal.partners:
        return "If a player went out and both sides hold equally many pips, nobody wins the round."
    return "If a player went out and another holds only the 0-0, nobody wins the round."


def _tie_break(rules: Ruleset) -> tuple[str, tuple[str, ...]] | None:
    """How a tie in a blocked round is broken; None: nobody wins it."""
    tied = "side" if rules.deal.partners else "tied player"
    match rules.score.tie:
        case "nobody":
            return None
        case "blocker":
            whose = "the side of the player" if rules.deal.partners else "the player"
            return f"{whose} who played the last tile wins it", ("C Puerto Rico",)
        case "fewest_tiles":
            return f"the {tied} with fewer tiles wins it; if these are tied too, nobody", ("C.37",)
        case "lowest_end":
            text = (
                f"the {tied} whose highest tile end is lower wins it; if these are tied too, nobody"
            )
            return text, ("C.37",)
        case "outsider":
            if effects.parties(rules) == 2:
                return None
            text = (
                "the player with the fewest pips among the others wins it; if these are tied "
                "too, or there are none, nobody"
            )
            return text, ("C.37",)
        case _:
            assert_never(rules.score.tie)


# --- points ---


def _points(rules: Ruleset) -> Iterator[Sentence]:
    out, blocked = rules.score.points_out, rules.score.points_blocked
    if rules.deal.partners:
        yield from _side_points(out, blocked)
        return
    if out == blocked:
        yield Sentence(SCORING, f"The winner {_worth(out)}{_floor(rules)}.", _sources(out))
        return
    gone = "others" if out in FORMULAS_OF_PIPS else out
    yield Sentence(SCORING, f"Whoever wins by going out {_worth(gone)}.", _sources(out))
    text = f"The winner of a blocked round {_worth(blocked)}{_floor(rules)}."
    yield Sentence(SCORING, text, _sources(blocked))


def _worth(formula: Formula) -> str:
    match formula:
        case "others_minus_own":
            return "scores the pips in all other hands, less those in their own"
        case "others":
            return "scores the pips in all other hands"
        case "everybody":
            return "scores the pips in all hands, their own included"
        case "difference":
            return "scores, for each other player, that player's pips less their own"
        case "one":
            return "scores one point"
        case "nothing":
            return "scores no points for it"
        case _:
            assert_never(formula)


def _floor(rules: Ruleset) -> str:
    """Only who wins without the fewest pips could score less than nothing."""
    signed = rules.score.points_blocked in ("others_minus_own", "difference")
    heavy = rules.score.tie in ("blocker", "outsider") and _tie_break(rules) is not None
    return (
        ", but never less than nothing" if signed and heavy and effects.parties(rules) > 2 else ""
    )


def _sources(formula: Formula) -> tuple[str, ...]:
    match formula:
        case "others_minus_own":
            return "A", "B", "C score", C_FORMULA[formula], "E"
        case "others":
            return C_FORMULA[formula], "D"
        case "everybody":
            return C_FORMULA[formula], "C Puerto Rico"
        case "difference" | "one" | "nothing":
            return (C_FORMULA[formula],)
        case _:
            assert_never(formula)


def _side_points(out: Formula, blocked: Formula) -> Iterator[Sentence]:
    """Partners' points: the two hands of a side count as one."""
    if _side_worth(out) == _side_worth(blocked):
        yield Sentence(SCORING, f"The winning side scores {_side_worth(out)}.", ("C.36",))
        return
    text = f"After somebody went out, the winning side scores {_side_worth(out)}."
    yield Sentence(SCORING, text, ("C.36",))
    text = f"After a blocked round it scores {_side_worth(blocked)}."
    yield Sentence(SCORING, text, ("C.36",))


def _side_worth(formula: Formula) -> str:
    match formula:
        case "others_minus_own" | "difference":
            return "the difference between the pips of the two sides"
        case "others":
            return "all the pips in the two hands of the other side"
        case "everybody":
            return "all the pips in the four hands, its own included"
        case "one":
            return "one point"
        case "nothing":
            return "no points for it"
        case _:
            assert_never(formula)


def _bonuses(rules: Ruleset) -> Iterator[Sentence]:
    score, source = rules.score, ("C Puerto Rico",)
    extra = score.bonus[: effects.rounds(rules)]
    if any(extra):
        rounds = [f"{points(n)} for the {ordinal(at)}" for at, n in enumerate(extra, 1) if n]
        text = f"The winner of an early round scores more: {listed(rounds)} round of a game"
        lost = "" if effects.always_won(rules) else "; if nobody wins that round, nobody gets them"
        yield Sentence(SCORING, f"{text}{lost}.", source)
    if score.capicu:
        text = (
            f"Going out with a tile, not a double, that fits both ends (capicú) is worth "
            f"{points(score.capicu)} more."
        )
        yield Sentence(SCORING, text, source)
    if score.out_with_blank and effects.blank(rules):
        text = f"Going out with the 0-0 is worth {points(score.out_with_blank)} more."
        yield Sentence(SCORING, text, source)


# --- the game ---


def the_game(rules: Ruleset) -> Iterator[Sentence]:
    """When it is over, and who has won."""
    fixed = rules.game.rounds
    if fixed:
        length = "one round" if fixed == 1 else f"{fixed} rounds"
        text = f"The game is {length} long. The highest score wins; equal scores tie."
        yield Sentence(GAME, text)
        return
    yield _target(rules)
    rounds = rules.game.max_rounds
    after = "one round" if rounds == 1 else f"{rounds:,} rounds"
    text = f"If the game is still open after {after}, the highest score wins; equal scores tie."
    yield Sentence(GAME, text)


def _target(rules: Ruleset) -> Sentence:
    targets = {seats: target(rules, seats) for seats in tables(rules)}
    who = "side" if rules.deal.partners else "player"
    text = (
        f"The game is won by the first {who} to reach {by_table(targets, points, 'or')}. If more "
        "than one gets there in the same round, the highest score wins; equal scores play on."
    )
    return Sentence(GAME, text, _target_sources(rules, targets))


def _target_sources(rules: Ruleset, targets: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.partners and targets == {4: 100}:
        return "C score", "E"
    if not targets.items() <= CUSTOMARY.items():
        return ()
    return ("A", "B") if rules.deal.partners else ("A", "B", "C score", "E")
