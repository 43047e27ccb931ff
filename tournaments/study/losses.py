"""The points of a bot's games: by the rounds' ends, by seat, by opponent, by luck and mistakes."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import attrgetter

from msgspec import Struct

from arena.analysis.timeline import RoundEnd, Timeline, opponents
from arena.document.blocks import UNKNOWN_CELL, Column, DocumentBlock, Paragraph, table
from arena.rules.english import count_in_digits, join_words
from arena.valuation.terms import LuckTerms, ReviewedDecision, why_no_values
from protocol.records import FoulClass, Result
from protocol.ruleset import Ruleset, count_sides, side_of
from tournaments.event.facts import RoundScores
from tournaments.event.luck import LuckRecord


class RoundCauses(Struct, frozen=True):
    """Points of lead in a round that luck and mistakes account for."""

    luck: float | None
    """Points that deals and draws gave the seat's side, by playouts and the weight of their luck;
    negative: they took them. None: it is not known."""
    mistakes: float | None
    """Points that the seat's own decisions lost, by playouts; None: it is not known."""

    def plus(self, other: "RoundCauses | RoundSums") -> "RoundCauses":
        """Return the sum; a part that is unknown makes its sum unknown."""
        return RoundCauses(_both(self.luck, other.luck), _both(self.mistakes, other.mistakes))

    def describe(self) -> str:
        """Return what luck and mistakes did, after "it"."""
        luck, mistakes = round(self.luck or 0.0), max(0, round(self.mistakes or 0.0))
        parts = [f"gained {_points(luck)} by good tiles"] if luck > 0 else []
        if luck < 0:
            clause = f", {mistakes:,} to weaker choices" if mistakes else ""
            parts.append(f"lost {_points(-luck)} to bad tiles{clause}")
        elif mistakes:
            parts.append(f"lost {_points(mistakes)} to weaker choices")
        causes = {"bad tiles": self.luck, "weaker choices": self.mistakes}
        names = [name for name, points in causes.items() if points is not None] or causes
        return " and ".join(parts) or f"lost nothing to {' or '.join(names)}"


def _points(count: int) -> str:
    return f"{count:,} {'point' if count == 1 else 'points'}"


def causes_by_round(
    timeline: Timeline, seat: int, decisions: Iterable[ReviewedDecision], terms: LuckTerms
) -> dict[int, RoundCauses]:
    """Compute the luck of a seat in each round, and sum the losses of its decisions.

    There are none for rules without values.
    """
    from arena.valuation.luck import luck_of_games

    rules = timeline.logged.sitting.rules
    if why_no_values(rules):
        return {}
    luck: defaultdict[int, float] = defaultdict(float)
    mistakes: defaultdict[int, float] = defaultdict(float)
    for draw in luck_of_games([timeline], terms)[0].draws:
        luck[draw.round] += _lead(draw.points, rules, seat)
    for decision in decisions:
        mistakes[decision.round] += decision.loss
    return {
        number: RoundCauses(luck[number], mistakes[number]) for number in sorted({*luck, *mistakes})
    }


def luck_by_round(luck: LuckRecord, rules: Ruleset, seat: int) -> dict[int, float]:
    """Return the luck of a seat in each round, as luck.jsonl has it."""
    return {number: _lead(points, rules, seat) for number, points in enumerate(luck.rounds, 1)}


def _lead(points: Sequence[float], rules: Ruleset, seat: int) -> float:
    """Return the luck of a seat's side less the mean of the other sides'."""
    partners = rules.deal.partners
    sides = points[: count_sides(partners, len(points))]
    own_points = sides[side_of(partners, seat)]
    return own_points - (sum(sides) - own_points) / (len(sides) - 1)


def summed(causes: Mapping[int, RoundCauses]) -> RoundCauses:
    """Return the sums over all rounds."""
    luck = [cause.luck for cause in causes.values() if cause.luck is not None]
    mistakes = [cause.mistakes for cause in causes.values() if cause.mistakes is not None]
    return RoundCauses(sum(luck) if luck else None, sum(mistakes) if mistakes else None)


WORST = 5
"""Games that are named."""
ROUND_ENDS = {
    "won, out": "won by going out",
    "won, blocked": "won blocked",
    "lost, out": "lost, another out",
    "lost, blocked": "lost blocked",
    "even": "even",
}
"""The ends of a round for a bot, and in words."""
LOSS_WAYS = {"lost, out": "when another went out", "lost, blocked": "in blocked rounds"}
"""Ends of lost rounds in a sentence."""


class RoundSums(Struct):
    """Rounds that ended alike."""

    end: str
    rounds: int = 0
    points: int = 0
    """Points that the bot's side gained on the best other side; negative: it lost them."""
    tiles: int = 0
    pips: int = 0
    luck: float | None = 0.0
    """Points that its side gained by deals and draws; None: it is not known of all these rounds."""
    mistakes: float | None = 0.0
    """Points that its decisions lost; None: they were not all reviewed."""

    def add(self, end: RoundEnd, causes: RoundCauses) -> None:
        """Add a round."""
        self.luck = _both(self.luck, causes.luck)
        self.mistakes = _both(self.mistakes, causes.mistakes)
        self.rounds += 1
        self.points += end.swing
        self.tiles += len(end.hand)
        self.pips += end.pips


def _both(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value + other


class GameSums(Struct):
    """Games of a bot, from its side."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    points: int = 0
    against: int = 0
    """Points of the others that are compared with it, the best of them at each table."""

    def add(self, result: Result, seat: int, rivals: Sequence[int]) -> int:
        """Add a game against the best of the rivals' seats; return the places before them."""
        lead = min(result.places[other] for other in rivals) - result.places[seat]
        self.games += 1
        self.wins += lead > 0
        self.draws += lead == 0
        self.points += result.scores[seat]
        self.against += max(result.scores[other] for other in rivals)
        return lead

    @property
    def win_share(self) -> float:
        """The share of the games that it won, a draw ½."""
        return (self.wins + self.draws / 2) / self.games


class LossSums(GameSums):
    """Games in one seat, against one bot, or all games, with their lost rounds."""

    label: str = ""
    """The seat's number or the bot's name; empty for all games."""
    lost_rounds: int = 0
    lost: int = 0
    """Points that its side lost in these rounds on the best other side."""
    pips: int = 0
    """Pips left in the bot's hand in these rounds."""

    def add_lost_rounds(self, ends: Sequence[RoundEnd]) -> None:
        """Add the rounds of a game that were lost."""
        for end in ends:
            if end.swing < 0:
                self.lost_rounds += 1
                self.lost -= end.swing
                self.pips += end.pips


class WorstGame(Struct, frozen=True):
    """A game that a bot lost."""

    game: str
    points: int
    against: int
    """Points of the best other side."""
    round: int | None
    """The round that cost it the most; null if none did."""
    cost: int
    blocked: bool
    foul: FoulClass | None
    seat: int


class Losses(Struct, frozen=True):
    """The points of a bot's games."""

    entrant: str
    total: LossSums
    rounds: tuple[RoundSums, ...]
    seats: tuple[LossSums, ...]
    opponents: tuple[LossSums, ...]
    """Games by opponent; at a table of more than two, a game counts for each."""
    partners: tuple[LossSums, ...]
    """Games by partner; empty if everybody plays alone."""
    fouls: Mapping[FoulClass, int]
    worst: tuple[WorstGame, ...]
    """The games that it lost by the most points, worst first."""


CausesOf = Callable[[Result, int], Mapping[int, RoundCauses]]
"""A function that tells of a game and a seat what luck and mistakes did, by round."""
UNKNOWN_CAUSES = RoundCauses(None, None)


def count_losses(
    entrant: str,
    rules: Ruleset,
    games: Iterable[tuple[Result, int, Sequence[RoundEnd]]],
    causes: CausesOf,
) -> Losses:
    """Sum up the games of a bot, each with its seat and the rounds' ends for this seat.

    `causes` tells of each game, and its seat, what luck and mistakes did in each round.
    """
    total = LossSums()
    rounds = {end: RoundSums(end) for end in ROUND_ENDS}
    seats, others, partners = (defaultdict[str, LossSums](LossSums) for _ in range(3))
    fouls: dict[FoulClass, int] = defaultdict(int)
    worst: list[WorstGame] = []
    for result, seat, ends in games:
        rivals = opponents(rules, len(result.seats), seat)
        by_rival: defaultdict[str, list[int]] = defaultdict(list)
        for rival in rivals:
            by_rival[result.seats[rival]].append(rival)
        groups = [(total, [*rivals]), (seats[f"{seat}"], [*rivals])]
        groups += [(others[name], places) for name, places in by_rival.items()]
        if rules.deal.partners:
            groups.append((partners[result.seats[(seat + 2) % len(result.seats)]], [*rivals]))
        place, *_ = [sums.add(result, seat, places) for sums, places in groups]
        for sums, _ in groups:
            sums.add_lost_rounds(ends)
        by_round = causes(result, seat)
        for end in ends:
            rounds[_end_of(end)].add(end, by_round.get(end.round, UNKNOWN_CAUSES))
        own_fouls = [foul.foul for foul in result.fouls if foul.seat == seat]
        for foul in own_fouls:
            fouls[foul] += 1
        if place < 0:
            best = max(result.scores[other] for other in rivals)
            worst.append(_lost_game(result, seat, best, ends, own_fouls))
            worst = sorted(worst, key=lambda game: game.points - game.against)[:WORST]
    for sums_by_label in (seats, others, partners):
        for label, sums in sums_by_label.items():
            sums.label = label
    return Losses(
        entrant=entrant,
        total=total,
        rounds=tuple(sums for sums in rounds.values() if sums.rounds),
        seats=tuple(seats[seat] for seat in sorted(seats, key=int)),
        opponents=tuple(sorted(others.values(), key=lambda sums: -sums.lost)),
        partners=tuple(sorted(partners.values(), key=attrgetter("win_share"))),
        fouls=dict(fouls),
        worst=tuple(worst),
    )


def _end_of(end: RoundEnd) -> str:
    if end.swing == 0:
        return "even"
    way = "blocked" if end.out is None else "out"
    return f"{'won' if end.swing > 0 else 'lost'}, {way}"


def _lost_game(
    result: Result, seat: int, best: int, ends: Sequence[RoundEnd], fouls: Sequence[FoulClass]
) -> WorstGame:
    worst = min(ends, key=lambda end: end.swing, default=None)
    costly = worst if worst and worst.swing < 0 else None
    return WorstGame(
        game=result.game,
        points=result.scores[seat],
        against=best,
        round=costly.round if costly else None,
        cost=-costly.swing if costly else 0,
        blocked=costly is not None and costly.out is None,
        foul=fouls[0] if fouls else None,
        seat=seat,
    )


# --- as blocks ---


def losses_blocks(losses: Losses, foul: str = "") -> Iterator[DocumentBlock]:
    """Yield the account of one bot; `foul`: the words about that of its worst game, if any."""
    yield Paragraph(_headline(losses), "lead")
    yield Paragraph("\n".join(_describe_losses(losses, foul)))
    if not losses.rounds:
        return
    columns = [Column("rounds", "word"), *map(Column, ("number", "points", "a round"))]
    columns += map(Column, ("tiles left", "pips left"))
    names = [name for name in CAUSES if all(getattr(x, name) is not None for x in losses.rounds)]
    columns += (Column(CAUSES[name][0]) for name in names)
    rows = [
        (
            *_round_row(sums),
            *(f"{CAUSES[name][1] * getattr(sums, name) / sums.rounds:+.1f}" for name in names),
        )
        for sums in losses.rounds
    ]
    yield table("Rounds", columns, rows)
    yield table("By seat", [Column("seat", "name"), *GAME_COLUMNS], map(_game_row, losses.seats))
    yield table(
        "By opponent", [Column("opponent", "name"), *GAME_COLUMNS], map(_game_row, losses.opponents)
    )
    if len(losses.partners) > 1:
        columns = [Column("partner", "name"), *GAME_COLUMNS]
        yield table("By partner", columns, map(_game_row, losses.partners))
    if losses.worst:
        columns = [Column("worst games", "name"), Column("points", "word"), Column("why", "word")]
        yield table("Worst games", columns, [_worst_row(game) for game in losses.worst])


GAME_COLUMNS = [
    *map(Column, ("games", "win %", "points", "against", "lost rounds", "cost", "pips left"))
]
"""Columns of sums of games; points, cost and pips are averages."""


def _headline(losses: Losses) -> str:
    all_games = losses.total
    loss_count = all_games.games - all_games.wins - all_games.draws
    draws = f", drew {all_games.draws:,}" if all_games.draws else ""
    return (
        f"{losses.entrant} won {all_games.wins:,} of {all_games.games:,} games{draws} and lost "
        f"{loss_count:,}: {_each(all_games.points, all_games.games)} points a game to "
        f"{_each(all_games.against, all_games.games)}."
    )


def _describe_losses(losses: Losses, foul: str) -> Iterator[str]:
    """Yield sentences about where most points went."""
    ends = {sums.end: sums for sums in losses.rounds if sums.points < 0}
    total = -sum(sums.points for sums in ends.values())
    if total:
        shares = [
            f"{-100 * sums.points / total:.0f} % {LOSS_WAYS[sums.end]}" for sums in ends.values()
        ]
        rounds, tiles, pips = map(
            sum, zip(*((sums.rounds, sums.tiles, sums.pips) for sums in ends.values()), strict=True)
        )
        yield (
            f"It lost {total:,} points: {join_words(shares)}. In a lost round it was left with "
            f"{_each(tiles, rounds)} tiles ({_each(pips, rounds)} pips) on average."
        )
        if len(losses.opponents) > 1:
            most = losses.opponents[0]
            yield f"It lost most in games with {most.label}: {most.lost:,} points."
    if losses.fouls:
        counts = ", ".join(f"{count} {foul}" for foul, count in sorted(losses.fouls.items()))
        yield f"It lost {count_in_digits(sum(losses.fouls.values()), 'game')} by a foul: {counts}."
    if foul:
        did = "crashed" if losses.worst[0].foul == "gone" else "fouled"
        yield f"It {did}, as in {losses.worst[0].game}: {foul}."
    causes = reduce(RoundCauses.plus, ends.values(), RoundCauses(0.0, 0.0))
    if total and causes != UNKNOWN_CAUSES:
        yield f"In the lost rounds it {causes.describe()} (estimated; not a split of the score)."


def _round_row(sums: RoundSums) -> tuple[str, ...]:
    averages = (_each(number, sums.rounds) for number in (sums.tiles, sums.pips))
    each = f"{sums.points / sums.rounds:+.1f}"
    return ROUND_ENDS[sums.end], f"{sums.rounds:,}", f"{sums.points:+,}", each, *averages


CAUSES = {"luck": ("luck", 1), "mistakes": ("choices", -1)}
"""Columns that there are only if they are known of all rounds, points a round: head and sign."""


def _game_row(sums: LossSums) -> tuple[str, ...]:
    averages = (_each(number, sums.games) for number in (sums.points, sums.against))
    in_lost = (_each(number, sums.lost_rounds) for number in (sums.lost, sums.pips))
    win_share = f"{100 * sums.win_share:.1f}"
    return sums.label, f"{sums.games:,}", win_share, *averages, f"{sums.lost_rounds:,}", *in_lost


def _worst_row(game: WorstGame) -> tuple[str, ...]:
    blocked = ", blocked" if game.blocked else ""
    cost = f"round {game.round} cost {game.cost}{blocked}" if game.round else ""
    foul = f"foul: {game.foul}" if game.foul else ""
    return game.game, f"{game.points} – {game.against}", "; ".join(filter(None, (foul, cost)))


def _each(total: int, count: int) -> str:
    return f"{total / count:.1f}" if count else UNKNOWN_CELL


# --- all bots in short ---


def swings_of(
    rules: Ruleset, seats: int, rounds: Iterable[RoundScores]
) -> Iterator[tuple[RoundScores, list[int]]]:
    """Yield each round of a game, and the points that each seat gained on its best rival."""
    before: Sequence[int] = [0] * seats
    for round in rounds:
        gains = [now - was for now, was in zip(round.scores, before, strict=True)]
        best = [max(gains[i] for i in opponents(rules, seats, seat)) for seat in range(seats)]
        yield round, [gain - other for gain, other in zip(gains, best, strict=True)]
        before = round.scores


def overview(
    rules: Ruleset,
    names: Sequence[str],
    results: Iterable[Result],
    rounds: Mapping[str, Sequence[RoundScores]],
) -> Iterator[DocumentBlock]:
    """Yield a line for each bot: its games, and the points of its rounds by their end."""
    games = {name: LossSums(label=name) for name in names}
    points = {name: dict.fromkeys(ROUND_ENDS, 0) for name in names}
    for result in results:
        for seat, name in enumerate(result.seats):
            if name not in games or result.seats.index(name) != seat:
                continue
            games[name].add(result, seat, opponents(rules, len(result.seats), seat))
            for round, swings in swings_of(rules, len(result.seats), rounds.get(result.game, ())):
                end = f"{'won' if swings[seat] > 0 else 'lost'}, {round.why}"
                points[name][end] += swings[seat]
    columns = [Column("bot", "name"), Column("games"), Column("win %")]
    columns += [Column("points", spare=True), Column("against", spare=True)]
    columns += map(Column, list(ROUND_ENDS)[:4])
    order = sorted(
        (sums for sums in games.values() if sums.games), key=attrgetter("win_share"), reverse=True
    )
    rows = [
        (
            *_game_row(sums)[:5],
            *(f"{points[sums.label][end] / sums.games:+.1f}" for end in list(ROUND_ENDS)[:4]),
        )
        for sums in order
    ]
    yield Paragraph(
        "Points a game, and the points by which each bot won and lost rounds, by how they ended."
    )
    yield table("Points a game", columns, rows)
