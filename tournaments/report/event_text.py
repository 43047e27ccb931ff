"""Sentences about an event: its format, progress, winner, versions and conditions. Pure.

Backticks mark code.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap

from arena.document.blocks import Section
from arena.rules.english import count_in_digits, join_words
from arena.rules.load import find_overrides, rules_command, ruleset_title
from arena.sealed.module import is_module
from protocol.messages import Clock
from protocol.records import FoulClass
from protocol.ruleset import rotations, target
from tournaments.event.book import Book, describe_latecomers
from tournaments.event.facts import SandboxSummary, describe_same_files
from tournaments.formats.base import Entrant, LinkToGames, first_version
from tournaments.plan.event import (
    Event,
    Terms,
    describe_filter,
    describe_repeats,
    describe_withdrawals,
)
from tournaments.plan.schedule import stopped_entrants
from tournaments.rating.tables import Pool, is_luck_out
from tournaments.report.results_file import LuckUsed, Results

MAX_WINNERS_NAMED = 6
"""The largest number of entrants that are named as possible winners."""
FOULS_DECIDE = 0.1
"""The least share of a bot's games lost by fouls that is told before a verdict: of equal bots, one
that so loses a tenth has 35 Elo less."""
MOST_NAMED = 3
"""The most bots of a kind, as such or weaker ones, that are named."""
FOUL_WORDS: Mapping[FoulClass, str] = {
    "late": "lateness",
    "gone": "crashes",
    "illegal": "illegal choices",
    "malformed": "lines that are not messages",
}
"""The causes of lost games in words; others are named by their class."""
SURE = 0.975
"""The chance to be the stronger one from which a bot is said to be it, and a cell is shaded: the
limit of a 95 % interval."""
LENGTHS = ("target", "rounds")
"""Choices of the rules that say how long a game is."""
UNEVEN_TOLD = 3
"""The largest number of uneven pairings that are named."""


def headline(book: Book) -> str:
    """Return a sentence about the game, the format and the number of games played.

    Another one says how many boards repeat a deal, if any does.
    """
    event = book.event
    form, notes = event.format, [describe_repeats(event), *describe_withdrawals(event)]
    sides = "both sides" if event.seats == 2 else "all seats"
    return (
        f"{_game_of(event)}, {event.seats} players; {form.name.replace('-', ' ')}"
        f"{form.introduce(event)}: {form.describe_boards(event)}, each from {sides} (a board). "
        f"{' '.join(filter(None, [done(book), *notes]))}"
    )


def _game_of(event: Event) -> str:
    """Return the game and its length, as `Draw to 30 points`."""
    rules, rounds = event.rules, event.rules.game.rounds
    length = f"over {count_in_digits(rounds, 'round')}"
    if not rounds:
        length = f"to {count_in_digits(target(rules, event.seats), 'point')}"
    words = [word for word in find_overrides(rules) or () if word.partition("=")[0] not in LENGTHS]
    return f"{rules.name[:1].upper()}{rules.name[1:]} {length}" + "".join(
        f", {word}" for word in words
    )


def done(book: Book) -> str:
    """Return a sentence about the number of games played."""
    if len(book.results) == book.planned:
        return f"All {book.planned:,} games played."
    return f"{len(book.results):,} of {book.event.format.ESTIMATE}{book.planned:,} games played."


def main_result(book: Book) -> str:
    """Return the main result in a sentence or two; first, what fouls decided of it."""
    return " ".join(filter(None, (foul_warning(book), result_by_ratings(book))))


def foul_warning(book: Book) -> str:
    """Return sentences about the bots that lost many of their games by fouls; empty without any.

    No verdict may stand without it: what was measured of such a bot is not how it plays.
    """
    games, classes = book.appearances
    fouled = {name: kinds.total() for name, kinds in classes.items()}
    worst = sorted(fouled, key=lambda name: (-fouled[name] / games[name], name))
    worst = [name for name in worst if fouled[name] >= FOULS_DECIDE * games[name]]
    sentences = [
        _fouls_of(name, classes[name], games[name], time_limit(book.event, name))
        for name in worst[:MOST_NAMED]
    ]
    if others := len(worst) - len(sentences):
        sentences.append(f"So it was for {count_in_digits(others, 'other bot')}.")
    return " ".join(sentences)


def _fouls_of(name: str, classes: Counter[FoulClass], games: int, limit: str) -> str:
    total = classes.total()
    if len(classes) == 1:
        ((foul, _),) = classes.items()
        way = FOUL_WORDS.get(foul, f"fouls (`{foul}`)")
        way += f" (it has {limit})" if foul == "late" else ""
    else:
        way = f"fouls ({join_words(f'{count} `{foul}`' for foul, count in classes.most_common())})"
    decider = "the clock" if set(classes) == {"late"} else "fouls"
    return (
        f"**{name}** lost {total:,} of its {count_in_digits(games, 'game')} by {way}: {decider} "
        "decided, not play."
    )


def result_by_ratings(book: Book) -> str:
    """Return who is better, or that it is undecided, by the format and the ratings."""
    event, ratings, is_over = book.event, book.ratings, len(book.results) == book.planned
    if not ratings.pools and not book.results:
        return "No game is finished yet."
    if stopped := stopped_entrants(event, book.played, is_over=is_over):
        # It may have chosen the moment: no sentence may give it the event.
        return f"No result yet: {join_words(sorted(stopped))} stopped at `limits.cents`."
    ranks = ""
    if ratings.pools:
        ranks = by_ratings(ratings.pools[0]) + _not_compared(event, ratings.pools[0])
    return event.format.describe_lead(event, book.active, is_over, ranks)


def _not_compared(event: Event, pool: Pool) -> str:
    """Return a sentence, after a space, about the bots of which the pool's ratings say nothing."""
    rated = {rating.name for rating in pool.entrants}
    others = [bot.name for bot in event.entrants if not bot.retired and bot.name not in rated]
    if not others:
        return ""
    names = join_words(others) if len(others) <= MAX_WINNERS_NAMED else f"{len(others)} other bots"
    return f" {names} met none of these bots."


def by_ratings(pool: Pool) -> str:
    """Return a sentence about who is first, or may be, by the ratings."""
    names = [rating.name for rating in pool.entrants if rating.ranks[0] == 1]
    luck = "luck taken out, " if is_luck_out(pool) else ""
    if len(pool.entrants) == 2:
        leader, other = (rating.name for rating in pool.entrants)
        basis = f"({_evidence(pool)}, {luck}95 %)"
        if len(names) == 1:
            return f"**{leader}** is better than {other} {basis}."
        return f"Undecided between {leader} and {other} {basis}."
    if len(names) == 1:
        return f"**{names[0]}** is first ({luck}95 % against each other bot)."
    if len(names) <= MAX_WINNERS_NAMED:
        level = f"{join_words(names)} cannot be told apart yet ({luck}95 % for each pair)"
        return f"{level}{_weaker(pool, names)}."
    return f"{names[0]} leads; too few boards to be sure that it is the best."


def _weaker(pool: Pool, names: Sequence[str]) -> str:
    """Return a clause about the bots that are surely weaker than each of these, or their number."""
    if pool.is_large:
        return ""
    places = {rating.name: place for place, rating in enumerate(pool.entrants)}
    weaker = [
        other
        for other, place in places.items()
        if other not in names and all(pool.los[places[name]][place] > SURE for name in names)
    ]
    if not weaker:
        return ""
    are = "is" if len(weaker) == 1 else "are"
    some = f"{len(weaker)} others" if len(weaker) > MOST_NAMED else join_words(weaker)
    return f"; {some} {are} weaker"


def _evidence(pool: Pool) -> str:
    """Return on what the ratings of two rest: on boards, and after a sweep on its games."""
    first = pool.entrants[0]
    if first.win_share == 1:
        return f"{first.name} won {pool.games} of {count_in_digits(pool.games, 'game')}"
    return count_in_digits(pool.boards, "board")


def format_sections(book: Book, link: LinkToGames = lambda *_: "") -> list[Section]:
    """Return the format's own tables, with links to games if `link` makes them."""
    return list(book.event.format.report(book.event, book.active, link))


def uneven(book: Book) -> str:
    """Name the pairings whose rotations were not all played equally often.

    Empty if there are none, or if the event is finished.
    """
    if len(book.results) >= book.planned:
        return ""
    played = Counter(result.seats for result in book.active)
    # Of a thousand bots most pairings are even.
    tables = {
        min(rotations(seats))
        for seats, games in played.items()
        if games != played[seats[1:] + seats[:1]]
    }
    pairings = [(table, [played[seats] for seats in sorted(rotations(table))]) for table in tables]
    if not pairings:
        return ""
    pairings.sort(key=lambda pairing: (min(pairing[1]) - max(pairing[1]), pairing[0]))
    text = "; ".join(starmap(_describe_uneven_rotations, pairings[:UNEVEN_TOLD]))
    rest = len(pairings) - UNEVEN_TOLD
    more = f"; {rest} more such pairings" if rest > 0 else ""
    return f"{text}{more}: continue the run before you rely on these results."


def luck_known(luck: LuckUsed | None, played: int) -> str:
    """Say of how many games the luck is known; empty if of all, or if nobody asked."""
    if luck is None or luck.games == played:
        return ""
    return (
        f"The luck of {luck.games} of {played} games is known; the others count as they were "
        "played. `boneyard report --luck` computes the rest."
    )


def choices_foreseen(luck: LuckUsed | None) -> str:
    """Say how well the playouts of luck know the bots; empty if nothing was learnt."""
    if luck is None or not luck.foreseen:
        return ""
    shares = [f"{100 * share:.0f} % of {name}'s" for name, share in luck.foreseen.items()]
    return f"The playouts of luck guessed right {join_words(shares)} choices between plays."


def warnings(book: Book, summary: Results, *, names_copies: bool = True) -> Iterator[str]:
    """Yield what a reader must know before relying on the results."""
    event, gaps = book.event, (uneven(book), luck_known(summary.luck, summary.played))
    bias = event.format.describe_bias(event, book.active) if book.results else ""
    yield from filter(None, (bias, *gaps, describe_latecomers(summary.latecomers)))
    if names_copies and not event.format.HAS_COPIES:
        yield from describe_same_files(event.entrants)
    yield from describe_access(event.entrants)


def _describe_uneven_rotations(seats: tuple[str, ...], games: Sequence[int]) -> str:
    names = f"{join_words(dict.fromkeys(seats))}{', in this order,' if len(seats) > 2 else ''}"
    if sum(games) == max(games):
        count = count_in_digits(sum(games), "game")
        return (
            f"{count} of {names} {'was' if sum(games) == 1 else 'were'} played in one rotation only"
        )
    count = join_words(map(str, sorted(games, reverse=True)))
    return f"{names} played {count} games in their {len(games)} rotations"


def question_line(book: Book) -> str:
    """Return the state of the sequential test of versus in one line; empty in other formats."""
    return book.event.format.describe_state(book.event, book.active)


EARLIER = "Their games count in the ratings under their own names; they no longer play."
"""The introduction to the list of earlier versions."""


def versions(book: Book) -> Iterator[str]:
    """Yield a sentence for each entrant that is an earlier version."""
    entrants = book.event.entrants
    for bot in entrants:
        if bot.is_replaced:
            played = sum(bot.name in result.seats for result in book.played)
            after = next(
                version.name
                for version in entrants
                if not version.is_replaced
                and first_version(version.name) == first_version(bot.name)
            )
            yield f"`{bot.name}`, {played} games; replaced by `{after}` with other files."


WORKERS_TOLD = 8
"""The largest number of workers that are named one by one."""
FORFEIT = "`forfeit`: a game that was lost by earlier fouls in the sitting."
"""The meaning of `forfeit`, the only class that is not a foul of its own game."""


def rules_text(event: Terms) -> str:
    """Name the rules of the event, and the command that explains them."""
    name, words = event.rules.name, find_overrides(event.rules)
    if words is None:
        return f"Rules: {name}, which is not a named game; `event.json` has them in full."
    title = f"{ruleset_title(name, words)}: " if words else ""
    return f"Rules: {title}`{rules_command(name, words)}`; `event.json` has them in full."


def clock_words(clock: Clock) -> str:
    """Return the limits of a bot, to be followed by words about the bank."""
    unit = "million instructions" if clock.effort else "ms"
    return f"{clock.move_ms} {unit} and {clock.bank_ms} {'million' if clock.effort else 'ms'}"


def time_limit(event: Event, name: str) -> str:
    """Return the limits of an entrant, as `300 ms and 5000 ms in the bank`."""
    clock = event.clock_of([bot.name for bot in event.entrants].index(name))
    return f"{clock_words(clock)} in the bank"


def clock_text(event: Event) -> Iterator[str]:
    """Yield sentences about the bots' time limits and the timing of questions."""
    clock, sealed = event.clock, {bot.name for bot in event.entrants if is_module(bot.command.argv)}
    clocks = "".join(
        f" {bot.name}: {clock_words(event.clock_of(number))} in the bank."
        for number, bot in enumerate(event.entrants)
        if bot.clock or bot.name in sealed
    )
    yield (
        f"Clock: {clock.start_ms / 1000:g} s to start, {clock.move_ms} ms for each question, "
        f"{clock.bank_ms} ms in the bank for each game.{clocks}"
    )
    yield (
        "Turns with one option: bots are asked, so the timing of questions reveals nothing about "
        "hands."
        if clock.forced == "ask"
        else "Turns with one option: played without asking, so others can notice them (`forced`)."
    )


def foul_policy_text(event: Terms) -> str:
    """Return a sentence about the penalty for a foul."""
    policy, cost = event.fouls, "Fouls: a foul loses the game"
    if policy.lose == "sitting":
        count = "one foul loses" if policy.after == 1 else f"{policy.after} fouls lose"
        cost += f", and {count} the rest of the sitting"
    if event.seats == 2:
        return f"{cost}."
    if policy.others == "stop":
        return f"{cost}; the game ends at once, and the others are placed by their scores."
    return f"{cost}; the others play on, with the first legal option for the seat that fouled."


def sandbox_text(sandboxes: Sequence[SandboxSummary]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a sentence for each way in which bots were confined, and the promises it lacked."""
    for sandbox in sandboxes:
        state = f"{sandbox.state} {describe_share(sandbox.sittings, sandbox.of)}"
        yield f"Sandbox: {state}{_on(sandbox.workers)}.", sandbox.missing


def describe_access(entrants: Sequence[Entrant]) -> Iterator[str]:
    """Yield a sentence for each bot with a network or variables, and for each host of several."""
    hosts: dict[str, dict[str, None]] = {}
    for bot in entrants:
        if bot.retired:
            continue
        if bot.command.network:
            yield f"{bot.name} has network: {', '.join(bot.command.network)}."
        if bot.command.environment:
            yield f"{bot.name} gets {join_words(bot.command.environment)} from the environment."
        for address in bot.command.network:
            hosts.setdefault(address.rpartition(":")[0].lower(), {})[bot.name] = None
    for host, names in hosts.items():
        if len(names) > 1:
            yield (
                f"{join_words(names)} have network to the same host, {host}, where they can tell "
                "each other their hands."
            )


def describe_share(sittings: int, total: int) -> str:
    """Return the part of the sittings in words."""
    if sittings < total:
        return f"in {sittings} of {total} sittings"
    return "in the one sitting" if total == 1 else f"in all {total} sittings"


def _on(workers: Sequence[str]) -> str:
    """Name the workers; leave out the event's own machine, and the names in a long list."""
    if len(workers) > WORKERS_TOLD:
        return f", on {len(workers)} workers that `times.json` names"
    return f", on {', '.join(workers)}" if workers else ""


def promise(event: Terms) -> Iterator[str]:
    """Yield the promises about the deals; the commitments' SHA-256 belongs below them."""
    if event.predictable:
        yield "The deals come from a known seed. **Anyone can predict them.**"
    if event.deals_set:
        yield "The deals were set by the organiser, **who knew them;** they are not random."
    if event.position:
        yield (
            f"Every game goes on from `{event.position}`: its tiles are public, and the seeds drew "
            "the others."
        )
    if event.deals_with:
        filters = " and ".join(f"`{rule}` ({describe_filter(rule)})" for rule in event.deals_with)
        yield f"The first deal of each board was drawn until it satisfied {filters}."
    yield (
        "The deals of all boards were fixed before the first game. `commitments.jsonl` proves it;\n"
        "its SHA-256 is"
    )


COMMITMENT_TEXT = """\
Note this number before the first game; then any later change of a deal can be detected.
`seeds.jsonl` reveals each board's seed when its games are over. To verify the event:"""
"""The use of the commitments' SHA-256; the commands belong below it."""
CHECKS = ("sha256sum commitments.jsonl", "boneyard verify .")
"""The commands that check the deals."""
DISTRUST = """\
To verify it without Boneyard's own code follow `protocol/DEALS.md` in its source; with the source
in `boneyard` the command is
`node boneyard/protocol/check_deals.mjs commitments.jsonl seeds.jsonl games`."""
"""The other way to check them."""
FILES_TEXT = """\
All data for other programs: `results.json`, `games.csv`, `ratings.csv`, `crosstable.csv`, \
`results.pgn`, `times.json`; see `boneyard help ratings`. `boneyard report .` writes them again \
from `event.json`, `ledger.jsonl` and the game logs."""
"""The files for other programs."""
