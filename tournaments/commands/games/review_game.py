"""The command `explain GAME --review`: the values of the options at each decision."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from arena.analysis.find import find_seat, require_one_game
from arena.analysis.text import option_words
from arena.analysis.timeline import Timeline
from arena.document.blocks import Block, Cell, Column, Paragraph, Table, table
from arena.document.terminal import open_console, renderables
from arena.rules.english import count_in_digits
from arena.ui.console import Pager, print_json, print_paged
from arena.ui.progress import track
from protocol.codec import printable
from protocol.messages import Option
from tournaments.report.review.reviewer import reference_player, review_timeline
from tournaments.report.review.sums import certain_loss
from tournaments.storage.review_log import DecisionLoss, ReviewTerms, SeatReview

LOSS = (
    "Each eighth of the deals measures the loss against the option that the others find best: so a "
    "loss is not just the difference of two values, and by chance it may be below 0."
)
"""The reason why a loss may look wrong beside its values."""
WORLDS = 512
"""Worlds of a game's review for which nobody asked for another number: they take seconds."""
OTHERS_SHOWN = 3
"""Options beside the chosen and the best one whose values are shown in a line."""


class ValuedOption(Struct, frozen=True):
    """An option and its value."""

    option: str
    """The option in words."""
    value: float
    """The lead that it brings by the round's end, in points."""
    error: float
    """The standard error of the value."""


class ValuedDecision(Struct, frozen=True, kw_only=True):
    """A decision and the values of its options."""

    question: int
    """The question's number among those to this seat in the game, from 1."""
    round: int
    """The round's number, from 1."""
    phase: str
    """The part of the round."""
    kind: str
    """The kind of the choice."""
    choice: int
    """The number of the chosen option, from 0."""
    best: int
    """The number of the best option."""
    options: tuple[ValuedOption, ...]
    loss: float
    """The cost of the choice, in points."""
    error: float
    """The standard error of the loss."""
    exact: bool
    """True if the values are those of perfect play."""


class ReviewedSeat(Struct, frozen=True):
    """A seat's decisions in a game."""

    seat: int
    entrant: str
    rounds: int
    """Rounds that the game had."""
    decisions: tuple[ValuedDecision, ...]
    """Its decisions between several options, in order."""


class GameDecisions(Struct, frozen=True):
    """The output of `boneyard explain GAME --review --json`."""

    game: str
    """The game's name."""
    worlds: int
    """Deals of the hidden tiles over which an option is valued."""
    by: str
    """The player that plays rounds on."""
    seats: tuple[ReviewedSeat, ...]


def review_one_game(
    log: Path,
    game: str | None,
    page: Pager,
    bot: str | None,
    deals: int | None,
    by: str | None,
    *,
    dearest: bool,
    in_json: bool,
) -> None:
    """Review the decisions of a game, or of a bot or seat in it, and print them.

    `dearest`: the dearest decisions first. Raises UserError, DamagedLogError.
    """
    player = reference_player(by)
    logged = require_one_game(log, game)
    names, timeline = logged.sitting.seats, Timeline(logged)
    seats = [*range(len(names))] if bot is None else [find_seat(logged, bot)]
    terms = ReviewTerms(logged.sitting.event, deals or WORLDS, player)
    reviews = [
        _reviewed(timeline, review_timeline(timeline, seat, terms))
        for seat in track(seats, "Seats reviewed", len(seats))
    ]
    name = logged.game.game
    if in_json:
        print_json(GameDecisions(name, terms.worlds, player, tuple(reviews)))
        return
    console = open_console()
    blocks = [block for one in reviews for block in _blocks(name, one, dearest)]
    print_paged(renderables(blocks, console.width), console, page)


def _reviewed(timeline: Timeline, one: SeatReview) -> ReviewedSeat:
    asked = timeline.questions(one.seat)
    valued = tuple(_valued(lost, asked[lost.number - 1].options) for lost in one.decisions)
    return ReviewedSeat(one.seat, one.entrant, one.rounds, valued)


def _valued(one: DecisionLoss, options: Sequence[Option]) -> ValuedDecision:
    return ValuedDecision(
        question=one.number,
        round=one.round,
        phase=one.phase,
        kind=one.kind,
        choice=one.choice,
        best=one.best,
        options=tuple(map(ValuedOption, map(option_words, options), one.values, one.errors)),
        loss=one.loss,
        error=one.error,
        exact=one.exact,
    )


# --- as blocks ---


def _blocks(game: str, one: ReviewedSeat, dearest_first: bool) -> Iterator[Block]:
    yield Paragraph(f"{printable(one.entrant)} in seat {one.seat} of {game}", "strong")
    if not one.decisions:
        yield Paragraph("It had no decision between several options.")
        return
    loss = round(sum(decision.loss for decision in one.decisions), 1) + 0.0
    best = sum(decision.choice == decision.best for decision in one.decisions)
    rounds = f" in {count_in_digits(one.rounds, 'round')}" if one.rounds else ""
    yield Paragraph(
        f"It lost {loss:.1f} points by its choices{rounds} and chose the best option "
        f"in {best} of {count_in_digits(len(one.decisions), 'decision')}."
    )
    order = one.decisions
    if dearest_first:
        order = tuple(sorted(order, key=lambda one: -certain_loss(_gap(one), one.error)))
    yield decision_table(order)
    yield Paragraph(LOSS, "faint")


def _gap(one: ValuedDecision) -> float:
    """Return what the best option is worth more than the chosen one."""
    return one.options[one.best].value - one.options[one.choice].value


def decision_table(shown: Sequence[ValuedDecision]) -> Table:
    """Return a line for each decision: the choice, the best option, and the others."""
    columns = [
        Column("question"),
        Column("round"),
        Column("phase", "word"),
        Column("choice", "word"),
        Column("value"),
        Column("better", "word"),
        Column("value"),
        Column("loss", detail="±"),
        Column("other options", "word", spare=True),
    ]
    return table("Decisions", columns, map(_row, shown))


def _row(one: ValuedDecision) -> list[str | Cell]:
    chosen, best = one.options[one.choice], one.options[one.best]
    better = [best.option, _signed(best.value)] if one.best != one.choice else ["", ""]
    width = "exact" if one.exact else f"{2 * one.error:.1f}"
    return [
        *(f"{one.question}", f"{one.round}", one.phase),
        *(chosen.option, _signed(chosen.value), *better),
        Cell(f"{round(one.loss, 1) + 0.0:.1f}", detail=width),
        _others(one),
    ]


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}"


def _others(one: ValuedDecision) -> str:
    """Return the other options with their values, the best first."""
    left = [option for at, option in enumerate(one.options) if at not in (one.choice, one.best)]
    left.sort(key=lambda option: -option.value)
    told = [f"{option.option} {_signed(option.value)}" for option in left[:OTHERS_SHOWN]]
    more = [f"{len(left) - OTHERS_SHOWN} more"] if len(left) > OTHERS_SHOWN else []
    return ", ".join([*told, *more])
