"""Explanations of the score: the winner of a round, its points, and the end of the game."""

from collections.abc import Iterator
from typing import NamedTuple, assert_never

from arena.rules import relevance
from arena.rules.english import (
    Sentence,
    by_table,
    count_in_words,
    count_points,
    join_words,
    ordinal_word,
)
from protocol.ruleset import Formula, Ruleset, playable_seat_counts, target

CUSTOMARY = {2: 100, 3: 61, 4: 61}
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
    "nothing": Worth("no points", "no points", ("C.26",)),
}
"""The words of every formula."""


def scoring(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the winner of a round, and its points."""
    yield _pips(rules)
    yield _winner(rules)
    yield from _ties(rules)
    yield from _points(rules)
    yield from _bonuses(rules)


def _pips(rules: Ruleset) -> Sentence:
    text = "At the end of a round each player counts the pips on the tiles left in their hand"
    if rules.score.double_blank and relevance.has_blank(rules):
        text = f"{text}; the 0-0 counts {rules.score.double_blank}."
        return Sentence(text, ("A", "C Dutch"))
    return Sentence(f"{text}.", ("A", "B", "C score", "E"))


def _winner(rules: Ruleset) -> Sentence:
    match rules.score.winner, rules.deal.partners:
        case "lowest", False:
            text = "The player with the fewest pips wins the round (a player who went out has 0)."
            return Sentence(text, ("A", "B", "C score", "E"))
        case "lowest", True:
            text = (
                "The side with fewer pips in its two hands together wins the round, even if a "
                "player of the other side went out."
            )
            return Sentence(text, ("C.36",))
        case "out", False:
            text = (
                "Whoever goes out wins the round; in a blocked round the player with the fewest "
                "pips wins."
            )
            return Sentence(text, ("C.30", "C.32", "D", "C Puerto Rico"))
        case "out", True:
            text = (
                "The side of the player who goes out wins the round; in a blocked round the side "
                "with fewer pips in its two hands together wins."
            )
            return Sentence(text, ("C.32", "C.36"))
        case _:
            raise AssertionError("Both choices are closed.")


# --- ties ---


def _ties(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on a tied blocked round, and on a tie with a player who went out."""
    breaker = _tie_break(rules)
    if breaker is None:
        text = f"If {_tied(rules)}{_even_out(rules)}, nobody wins the round."
        if rules.score.winner == "out":
            text = f"If {_tied(rules)} in a blocked round, nobody wins it."
        yield Sentence(text, _tie_sources(rules))
        return
    text, sources = breaker
    yield Sentence(f"If {_tied(rules)} in a blocked round, {text}.", sources)
    if relevance.can_tie_when_out(rules):
        yield Sentence(_literal(rules), ("B", "C score"))


def _tied(rules: Ruleset) -> str:
    if rules.deal.partners:
        return "both sides have equally many pips"
    if relevance.count_winners(rules) == 2:
        return "both players have equally many pips"
    return "two or more players tie for the fewest pips"


def _even_out(rules: Ruleset) -> str:
    """Return the words for a tie with a player who went out; empty if there can be none."""
    if not relevance.can_tie_when_out(rules):
        return ""
    if rules.deal.partners:
        return ", even after a player went out"
    return " (a player left with only the 0-0 ties with one who went out)"


def _tie_sources(rules: Ruleset) -> tuple[str, ...]:
    if rules.score.winner == "out":
        return "C.30", "C.37", "C Puerto Rico"
    return "A", "B", "C score", "C.37", "E"


def _literal(rules: Ruleset) -> str:
    if rules.deal.partners:
        return "If a player went out and both sides have equally many pips, nobody wins the round."
    return "If a player went out and another is left with only the 0-0, nobody wins the round."


def _tie_break(rules: Ruleset) -> tuple[str, tuple[str, ...]] | None:
    """Return how a tie in a blocked round is broken, and the clauses; None: nobody wins it."""
    tied = "side" if rules.deal.partners else "tied player"
    again = "if that is a tie too, nobody wins"
    match rules.score.tie:
        case "nobody":
            return None
        case "blocker":
            whose = "the side of the player" if rules.deal.partners else "the player"
            return f"{whose} who played the last tile wins it", ("C Puerto Rico",)
        case "fewest_tiles":
            return f"the {tied} with the fewest tiles wins it; {again}", ("C.37",)
        case "lowest_end":
            text = (
                f"the {tied} whose highest number on any half of a tile is lowest wins it; {again}"
            )
            return text, ("C.37",)
        case "outsider":
            if relevance.count_winners(rules) == 2:
                return None
            text = (
                "the player with the fewest pips of those who are not tied wins it; if these tie "
                "too, or there are none, nobody wins"
            )
            return text, ("C.37",)
        case _:
            assert_never(rules.score.tie)


# --- points ---


def _points(rules: Ruleset) -> Iterator[Sentence]:
    out, blocked = rules.score.points_out, rules.score.points_blocked
    if out == blocked == "nothing" and relevance.has_pot(rules):
        yield Sentence("Winning a round earns the pot and no points.")
    elif rules.deal.partners:
        yield from _side_points(rules)
    elif out == blocked:
        text = f"The winner scores {WORTH[out].player}{_floor(rules)}."
        yield Sentence(text, WORTH[out].sources)
    else:
        gone = WORTH["others" if out in FORMULAS_OF_PIPS else out].player
        yield Sentence(f"A winner who went out scores {gone}.", WORTH[out].sources)
        text = f"The winner of a blocked round scores {WORTH[blocked].player}{_floor(rules)}."
        yield Sentence(text, WORTH[blocked].sources)


def _floor(rules: Ruleset) -> str:
    """Return that 0 is the least, if a winner without the fewest pips could score less."""
    signed = rules.score.points_blocked in ("others_minus_own", "difference")
    heavy = rules.score.tie in ("blocker", "outsider") and _tie_break(rules) is not None
    return " (never less than 0)" if signed and heavy and relevance.count_winners(rules) > 2 else ""


def _side_points(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on partners' points."""
    out, blocked = WORTH[rules.score.points_out].side, WORTH[rules.score.points_blocked].side
    if out == blocked:
        yield Sentence(f"The winning side scores {out}.", ("C.36",))
        return
    gone = "After a player went out the winning side scores"
    yield Sentence(f"{gone} {out}.", ("C.36",))
    yield Sentence(f"After a blocked round it scores {blocked}.", ("C.36",))


def _bonuses(rules: Ruleset) -> Iterator[Sentence]:
    score = rules.score
    if any(score.bonus[: relevance.most_rounds(rules)]):
        yield Sentence(_early(rules))
    if score.capicu:
        text = (
            "Winning by going out with a tile that fits both ends and is not a double (capicú) "
            f"earns {count_points(score.capicu)} extra."
        )
        yield Sentence(text)
    if score.out_with_blank and relevance.has_blank(rules):
        text = (
            f"Winning by going out with the 0-0 earns {count_points(score.out_with_blank)} extra."
        )
        yield Sentence(text)


def _early(rules: Ruleset) -> str:
    """Return the extra points for the first rounds of a game."""
    extra = [
        (at, n) for at, n in enumerate(rules.score.bonus[: relevance.most_rounds(rules)], 1) if n
    ]
    (first, most), *others = extra
    more = [f"of the {ordinal_word(at)} {n:,}" for at, n in others]
    text = join_words([f"{count_points(most)} extra", *more])
    lost = "" if relevance.is_always_won(rules) else "; they lapse if nobody wins that round"
    return f"The winner of the {ordinal_word(first)} round gets {text}{lost}."


# --- the game ---


def the_game(rules: Ruleset) -> Iterator[Sentence]:
    """Yield the sentences on the end of a game and its winner."""
    fixed = rules.game.rounds
    if fixed:
        length = f"The game lasts {count_in_words(fixed, 'round')}"
        yield Sentence(f"{length}. The highest score wins; equal scores tie.")
        return
    yield _target(rules)
    after = count_in_words(rules.game.max_rounds, "round")
    text = f"If nobody has won after {after}, the highest score wins; equal scores tie."
    yield Sentence(text)


def _target(rules: Ruleset) -> Sentence:
    targets = {seats: target(rules, seats) for seats in playable_seat_counts(rules)}
    who = "side" if rules.deal.partners else "player"
    text = f"The game is won by the first {who} to reach {by_table(targets, count_points, 'or')}."
    return Sentence(text, _target_sources(rules, targets))


def _target_sources(rules: Ruleset, targets: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.partners and targets == {4: 100}:
        return "C score", "E"
    if not targets.items() <= CUSTOMARY.items():
        return ()
    return ("A", "B") if rules.deal.partners else ("A", "B", "C score", "E")
