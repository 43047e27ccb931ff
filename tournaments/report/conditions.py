"""Text about the clock, fouls, sandbox, deals and files of an event for both reports. Pure.

Backticks mark code.
"""

from collections.abc import Iterator, Sequence

from arena.rules.english import join_words
from arena.rules.load import find_overrides, rules_command, ruleset_title
from arena.sandbox.limits import level_name
from protocol.records import FoulPolicy
from tournaments.formats.base import Entrant
from tournaments.plan.deals.deal_filter import describe_filter
from tournaments.plan.event import Event, Terms
from tournaments.report.log_facts import SandboxSummary

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


def clock_text(event: Event) -> Iterator[str]:
    """Yield sentences about the bots' time limits and the timing of questions."""
    of = event.clock
    own = "".join(
        f" {one.name}: {one.clock.move_ms} ms and {one.clock.bank_ms} ms in the bank."
        for one in event.entrants
        if one.clock
    )
    yield (
        f"Clock: {of.start_ms} ms to start, {of.move_ms} ms for each question, "
        f"{of.bank_ms} ms in the bank for each game.{own}"
    )
    yield (
        "Turns with one option: bots are asked, so the timing of questions reveals nothing about "
        "hands."
        if of.forced == "ask"
        else "Turns with one option: played without a question, which others can time (`forced`)."
    )


def foul_policy_text(event: Terms) -> str:
    """Return a sentence about the penalty for a foul."""
    return f"Fouls: {_cost(event.fouls, event.seats)}"


def _cost(policy: FoulPolicy, seats: int) -> str:
    cost = "a foul loses the game"
    if policy.lose == "sitting":
        many = "one foul loses" if policy.after == 1 else f"{policy.after} fouls lose"
        cost += f", and {many} the rest of the sitting"
    if seats == 2:
        return f"{cost}."
    if policy.others == "stop":
        return f"{cost}; the game ends at once, and the others are placed by their scores."
    return f"{cost}; the others play on, with the first legal option for the seat that fouled."


def sandbox_text(kept: Sequence[SandboxSummary]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a sentence for each sandbox level, and the guarantees that it lacked."""
    for one in kept:
        where = f"{level_name(one.level)} {describe_share(one.sittings, one.of)}"
        yield f"Sandbox: {where}{_on(one.workers)}.", one.missing


def describe_access(entrants: Sequence[Entrant]) -> Iterator[str]:
    """Yield a sentence for each bot with a network or variables, and for each host of several."""
    hosts: dict[str, dict[str, None]] = {}
    for one in entrants:
        if one.retired:
            continue
        if one.command.network:
            yield f"{one.name} has network: {', '.join(one.command.network)}."
        if one.command.environment:
            yield f"{one.name} gets {join_words(one.command.environment)} from the environment."
        for address in one.command.network:
            hosts.setdefault(address.rpartition(":")[0].lower(), {})[one.name] = None
    for host, names in hosts.items():
        if len(names) > 1:
            yield (
                f"{join_words(names)} have network to the same host, {host}, where they can tell "
                "each other their hands."
            )


def describe_share(sittings: int, of: int) -> str:
    """Return the part of the sittings in words."""
    if sittings < of:
        return f"in {sittings} of {of} sittings"
    return "in the one sitting" if of == 1 else f"in all {of} sittings"


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
    if event.deals_with:
        filters = " and ".join(f"`{one}` ({describe_filter(one)})" for one in event.deals_with)
        yield f"The first deal of each board was drawn until it satisfied {filters}."
    yield (
        "The deals of all boards were fixed before the first game. `commitments.jsonl` proves it;\n"
        "its SHA-256 is"
    )


KEEP = """\
Note this number before the first game; then any later change of a deal can be detected.
`seeds.jsonl` reveals each board's seed when its games are over. To verify the event:"""
"""The use of the commitments' SHA-256; the commands belong below it."""
CHECKS = ("sha256sum commitments.jsonl", "boneyard verify .")
"""The commands that check the deals."""
DISTRUST = """\
To verify it without Boneyard's own code, write 30 lines that follow `protocol/DEALS.md` in its
source, or use the program beside that page; with the source in `boneyard` the command is
`node boneyard/protocol/check_deals.mjs commitments.jsonl seeds.jsonl games`."""
"""The other way to check them."""


def files(event: Terms) -> Iterator[str]:
    """Yield a sentence for each file that other programs can read."""
    yield "`results.json`: all data; `boneyard help schema results` prints its JSON Schema."
    yield "`games.csv`: a line for each seat of each game. `ratings.csv`, `crosstable.csv`."
    white = "White is seat 0"
    if event.rules.deal.partners:
        white = "a side is one player with both names; White is seats 0 and 2"
    elif event.seats > 2:
        white = (
            "each game is split into its pairs of seats, the lower one White; the pairs are not "
            "independent, so the error bars of those programs are too narrow"
        )
    yield f"`results.pgn` for Ordo and BayesElo: {white}."
    yield "`times.json`: the times of the bots, from the game logs."
    yield (
        "`boneyard report .` writes all of them again from `event.json`, `ledger.jsonl` and the "
        "game logs."
    )
