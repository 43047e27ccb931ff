"""Explanations of the score: the winner of a round, its points, and the end of the game."""

from collections.abc import Iterator
from typing import NamedTuple

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
        who = ("the side of the player", "side") if partners else ("the player", "tied player")
        text, sources = TIE[rules.score.tie].fill(blocker=who[0], one=who[1])
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
        gone = "After a player went out the winning side scores"
        yield Sentence(f"{gone} {WORTH[out].side}.", ("C.36",))
        yield Sentence(f"After a blocked round it scores {WORTH[blocked].side}.", ("C.36",))
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
    heavy = rules.score.tie in ("blocker", "outsider") and relevance.count_winners(rules) > 2
    return " (never less than 0)" if signed and heavy else ""


def _bonuses(rules: Ruleset) -> Iterator[Sentence]:
    score, always_won = rules.score, relevance.is_always_won(rules)
    early = enumerate(score.bonus[: relevance.most_rounds(rules)], 1)
    if extra := [(at, points) for at, points in early if points]:
        (first, most), *others = extra
        more = [f"of the {ordinal_word(at)} {points:,}" for at, points in others]
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
    who = "side" if rules.deal.partners else "player"
    text = f"The game is won by the first {who} to reach {by_table(targets, count_points, 'or')}."
    yield Sentence(text, _target_sources(rules, targets))
    after = count_in_words(rules.game.max_rounds, "round")
    yield Sentence(f"If nobody has won after {after}, the highest score wins; equal scores tie.")


def _target_sources(rules: Ruleset, targets: dict[int, int]) -> tuple[str, ...]:
    if rules.deal.partners and targets == {4: 100}:
        return "C score", "E"
    if not targets.items() <= CUSTOMARY.items():
        return ()
    return ("A", "B") if rules.deal.partners else ("A", "B", "C score", "E")
