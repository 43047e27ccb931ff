"""Sentences about ratings: the meaning of the numbers beside them. Pure. Backticks mark code."""

from collections.abc import Mapping, Sequence

from arena.rules.english import join_words
from tournaments.rating.anchor import Anchor
from tournaments.rating.tables import FEWEST_BOARDS, Gain, Pool

PARTNERS_SHOWN = 15
"""The number of pairs of partners at each end of the table."""
OUTSIDE = (
    "The bots of the core took points off each other. Above it stands a bot that lost nothing to "
    "it, below it one that won nothing from it: {}. Such a bound changes no other rating."
)
"""The reason why some entrants stand apart."""
SWEPT = "{} won nothing from a better one, so ratings can only be bounded: {}. {} is set to {} Elo."
"""The reason why all entrants stand apart."""
NAMED = 5
"""The largest number of names that a sentence lists."""
PRIOR = (
    "Prior: Jeffreys', also known as Firth's correction: each rating has the weight of one extra "
    "draw, spread over its games by their information. It removes the average bias of maximum "
    "likelihood: for two bots, 1.6 Elo at 76 % of 300 games, 11 Elo at 95 %, 36 Elo at 56 wins of "
    "60. `show --prior 0` leaves it out, as Ordo does."
)
"""The meaning of the prior and its effect."""
INTERVALS = (
    "± is half of the 95 % interval of the lead over {}, clustered by board. In simulated "
    "events, also with 1,000 Elo from best to worst and 5 to 25 boards, 94 to 97 % of such "
    "intervals held the true value (`python -m tests.bench.coverage`)."
)
"""The meaning of ±, its reference, and its accuracy."""
WITHOUT_FOULS = (
    "Elo without fouls: Elo without the games that ended by a foul; misleading if a bot fouls when "
    "it is losing."
)
"""The caution about ratings without fouls."""
OTHER_SCALE = (
    "Elo without fouls is shown only for bots whose games without a foul connect them with the "
    "anchor."
)
"""The reason why some have no rating without fouls if there is an anchor."""
RANKS = "Two bots are in order if the 95 % interval of their difference leaves out 0."
"""The meaning of the ranks in brackets."""
FEW_BOARDS = (
    "Under four boards, too few to measure how much they differ, ± takes all games as independent."
)
"""The meaning of ± with few boards."""
LONE_GAMES = 10
"""Games from which on a rating by a single won or lost one is told."""
COST = (
    "As the bots themselves stated it; nobody checked it. Elo a dollar: the Elo over the lowest "
    "rating in the core, for each dollar that a hundred games cost. Model's: of the choices that a "
    "model was asked for, those that it made; the bot made the others, by the rule in its command "
    "(`chat`: at random, or a foul with `--fallback foul`). No option and failed: shares of "
    "the requests."
)
"""The meaning of the costs."""
LUCK = (
    "Luck: what a drawn tile was worth, by playouts, less the mean over all tiles that could have "
    "come. It is 0 on average whatever the playouts are worth, so taking it out moves nobody in "
    "the long run. Each ± is half of a 95 % interval, clustered by board."
)
"""The meaning of ratings with luck taken out."""


def placing(pool: Pool) -> list[str]:
    """Return sentences that explain the bounds and the meaning of 0 Elo."""
    bounds = {one.bound for one in pool.entrants} - {""}
    core = [one.name for one in pool.entrants if not one.bound]
    swept = bool(bounds) and len(core) == 1
    said = [OUTSIDE.format(_bound_words(pool))] if bounds - {"?"} and not swept else []
    if swept:
        loser = pool.entrants[-1].name if len(pool.entrants) == 2 else "Each bot"
        zero = f"{pool.anchor.elo:+g}" if pool.anchor else "0"
        said.append(SWEPT.format(loser, _bound_words(pool), core[0], zero))
    if "?" in bounds:
        said.append("`?`: the results do not show whether it is better than the core.")
    weak = sorted(set(core) - set(pool.level))
    if pool.anchor and not swept:
        name, elo = pool.anchor.name, pool.anchor.elo
        said.append(f"{name} is set to {elo:+g} Elo; ± refers to the lead over it.")
    elif weak:
        one = len(weak) == 1
        said.append(
            f"0 Elo is the average bot; {join_names(weak)} {'does' if one else 'do'} not count, "
            f"because {'it' if one else 'they'} took points on one board only."
        )
    elif bounds and len(core) > 1:
        said.append("0 Elo is the average bot of the core.")
    return said


def _bound_words(pool: Pool) -> str:
    """Explain the bounds by the first one as it stands in the table."""
    first = next((one for one in pool.entrants if one.bound in ("<", ">")), None)
    if first is None or first.elo is None:
        return "`<` and `>` are 95 % bounds"
    side = "below" if first.bound == "<" else "above"
    return f"`{first.bound}{first.elo:+.0f}` means with 95 % confidence {side} {first.elo:+.0f}"


def intervals(pool: Pool) -> str:
    """Explain ± in this table, and its accuracy."""
    few = any(one.boards < FEWEST_BOARDS for one in pool.entrants)
    said = INTERVALS.format(pool.anchor.name if pool.anchor else "0 Elo")
    return f"{said} {FEW_BOARDS}" if few else said


def lone_games(pool: Pool) -> list[str]:
    """Return a sentence for each rating that stands on a single game, won or lost."""
    said = []
    core = [i for i, one in enumerate(pool.entrants) if one.bound == ""]
    for i in core:
        met = [pool.crosstable[i][j] for j in core]
        games, wins = sum(one.games for one in met), sum(one.wins for one in met)
        if games >= LONE_GAMES and min(wins, games - wins) <= 1:
            kind = "won" if wins <= 1 else "lost"
            said.append(
                f"{pool.entrants[i].name} has a rating because of a single game {kind} of "
                f"{games}: without it there would be a bound."
            )
    return said


def unanchored(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Return a sentence if the anchor does not hold in this pool."""
    if anchor is None or pool.anchor is not None:
        return []
    if any(one.name == anchor.name for one in pool.entrants):
        return [f"{anchor.name} cannot be the anchor, because it is not in the core."]
    return [f"No games connect these with {anchor.name}: 0 Elo is the average bot of their core."]


def without_fouls(pool: Pool, anchor: Anchor | None) -> list[str]:
    """Say how to read the ratings without fouls, or why there are none where somebody fouled."""
    said = [WITHOUT_FOULS] if has_clean(pool) else []
    fouled = any(one.fouls for one in pool.entrants)
    if anchor and fouled and any(one.clean is None for one in pool.entrants):
        said.append(OTHER_SCALE)
    return said


def join_names(names: Sequence[str]) -> str:
    """Join the first few names and count the rest."""
    few = [*names[:NAMED], *([f"{len(names) - NAMED} more"] if len(names) > NAMED else [])]
    return join_words(few)


def has_clean(pool: Pool) -> bool:
    """Tell whether the pool also has ratings without fouls."""
    return any(rating.clean for rating in pool.entrants)


def seat_advantages(pool: Pool) -> list[str]:
    """Return one sentence for each seat whose advantage exceeds its error."""
    return [
        f"Seat {seat.seat} is worth {seat.elo:+.0f} ± {seat.half_width:.0f} Elo over the last seat."
        for seat in pool.seats
        if abs(seat.elo) > seat.half_width
    ]


def duplicate_gain(pool: Pool) -> list[str]:
    """Return a sentence on the games that replaying boards has saved, if that is known."""
    if pool.boards_save is None:
        return []
    return [
        "Replaying each board in every rotation makes a game worth "
        f"{pool.boards_save:.2f} independent games."
    ]


def luck_notes(pool: Pool) -> list[str]:
    """Return sentences on what a game tells once luck is taken out, where that is measured."""
    gains = {"wins": pool.gain_wins, "margins": pool.gain_margin}
    more = {of: one for of, one in gains.items() if one and one.low > 1}
    unsure = {of: one for of, one in gains.items() if one and one.low <= 1}
    said = []
    if more:
        said.append(f"With luck taken out, a game here tells as much {_worth(more)} with luck in.")
    if unsure:
        said.append(f"Taking luck out did not sharpen {' or '.join(unsure)} ({_worths(unsure)}).")
    rated = [one.corrected for one in pool.entrants if one.corrected and not one.bound]
    if len(rated) > 1 and any(one.elo is None for one in rated):
        said.append("`·`: with luck taken out, the results are too one-sided for a rating.")
    return said


def _worths(gains: Mapping[str, Gain]) -> str:
    return "; ".join(f"× {one.value:.1f}, {one.low:.1f}–{one.high:.1f}" for one in gains.values())


def _worth(gains: Mapping[str, Gain]) -> str:
    return join_words(
        [
            f"about {of} as {one.value:.1f} games ({one.low:.1f}–{one.high:.1f})"
            for of, one in gains.items()
        ]
    )


def partner_notes(pool: Pool) -> list[str]:
    """Return sentences that explain the table of partners."""
    said = [
        "Synergy: win % beyond the expectation from the ratings of all "
        "four; ± is half of its 95 % interval, clustered by board. By chance, one pair in twenty "
        "is outside of its interval."
    ]
    if any(two.synergy is None for two in pool.partners):
        said.append("`·`: the results cannot separate synergy from the strength of the two.")
    if len(pool.partners) > 2 * PARTNERS_SHOWN:
        said.append(f"The {PARTNERS_SHOWN} best and worst of {len(pool.partners)} pairs are shown.")
    return said
