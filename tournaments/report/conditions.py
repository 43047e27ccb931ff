"""Text about the clock, fouls, sandbox, deals and files of an event for both reports. Pure.

Backticks mark code.
"""

from collections.abc import Iterator, Sequence

from arena.rules.load import find_overrides, rules_command, ruleset_title
from arena.sandbox.limits import level_name
from protocol.records import FoulPolicy
from tournaments.plan.event import Terms
from tournaments.report.log_facts import SandboxSummary

WORKERS_TOLD = 8
"""The largest number of workers that are named one by one."""
FORFEIT = "`forfeit`: a game that earlier fouls in the sitting had lost."
"""The meaning of `forfeit`, the only class that is not a foul of its own game."""


def rules_text(event: Terms) -> str:
    """Say by which rules it was played, and which command explains them."""
    name, words = event.rules.name, find_overrides(event.rules)
    if words is None:
        return f"Rules: {name}, which is no named game; in full in `event.json`."
    title = f"{ruleset_title(name, words)}: " if words else ""
    return f"Rules: {title}`{rules_command(name, words)}`; in full in `event.json`."


def clock_text(event: Terms) -> Iterator[str]:
    """Yield sentences about the bots' time limits and about the moments of the questions."""
    of = event.clock
    yield (
        f"Clock: {of.start_ms} ms to start, {of.move_ms} ms for each question, "
        f"{of.bank_ms} ms in the bank for each game."
    )
    yield (
        "Only options: asked like any other, so that no moment tells of a hand."
        if of.forced == "ask"
        else "Only options: taken without a question, which the others can time (`forced`)."
    )


def foul_policy_text(event: Terms) -> str:
    """Return a sentence about the penalty for a foul."""
    return f"Fouls: {_cost(event.fouls, event.seats)}"


def _cost(policy: FoulPolicy, seats: int) -> str:
    cost = "a foul loses the game"
    if policy.lose == "sitting":
        many = "one foul" if policy.after == 1 else f"{policy.after} fouls"
        cost += f", and {many} in a sitting the rest of the sitting"
    if seats == 2:
        return f"{cost}."
    if policy.others == "stop":
        return f"{cost}; it ends at once, the others placed by their scores at that moment."
    return f"{cost}; the others play on, with the first legal option for the seat that fouled."


def sandbox_text(kept: Sequence[SandboxSummary]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield a sentence for each sandbox level, and the guarantees that it lacked."""
    for one in kept:
        where = f"{level_name(one.level)} {share(one.sittings, one.of)}"
        yield f"Sandbox: {where}{_on(one.workers)}.", one.missing


def share(sittings: int, of: int) -> str:
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
        yield "They come from a seed that is known. **Anyone can predict them.**"
    yield (
        "Every board's deals were fixed before the first game. `commitments.jsonl` says so; its\n"
        "SHA-256 is"
    )


KEEP = """\
Keep that number from the report as it is before the first game, and nobody can change
a deal behind your back. `seeds.jsonl` reveals each board's seed when its games are over.
To check it all:"""
"""The use of the commitments' SHA-256; the commands belong below it."""
CHECKS = ("sha256sum commitments.jsonl", "boneyard verify .")
"""The commands that check the deals."""
DISTRUST = """\
or, without trusting this program, write 30 lines after `protocol/DEALS.md` in its source, or
use those that stand beside that page; with the source in `boneyard` it is
`node boneyard/protocol/check_deals.mjs commitments.jsonl seeds.jsonl games`."""
"""The other way to check them."""


def files(event: Terms) -> Iterator[str]:
    """Yield a sentence for each file that other programs can read."""
    yield "`results.json`: all of this; `boneyard schema results` is its JSON Schema."
    yield "`games.csv`: a line for each seat of each game. `ratings.csv`, `crosstable.csv`."
    white = "White is seat 0"
    if event.rules.deal.partners:
        white = "a side is one player, called by both names; White are seats 0 and 2"
    elif event.seats > 2:
        white = (
            "each game is broken into its pairs of seats, the lower one White; they are not "
            "independent, so the errors of those programs are too narrow"
        )
    yield f"`results.pgn` for Ordo and BayesElo: {white}."
    yield "`times.json`: what the bots used of time, by the game logs."
    yield (
        "`boneyard report .` makes them all anew from `event.json`, `ledger.jsonl` and the game "
        "logs."
    )
