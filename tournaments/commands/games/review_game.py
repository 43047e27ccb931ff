"""The command `review` for a game: the values of the options at each decision, and the losses."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from arena.analysis import decisions
from arena.analysis.find import find_seat, require_one_game
from arena.analysis.text import option_words
from arena.document.blocks import Block, Cell, Column, Paragraph, Table, table
from arena.document.terminal import open_console, renderables
from arena.logs.gamelog import LoggedGame
from arena.rules.english import count_in_digits
from arena.ui.console import Pager, print_json, print_paged
from arena.ui.progress import track
from protocol.codec import printable
from tournaments.report.review.reviewer import WORLDS, reference_player, review_logged
from tournaments.storage.review_log import DecisionLoss, ReviewTerms, SeatReview

OTHERS_SHOWN = 3
"""Options beside the chosen and the best one whose values are shown in a line."""


class GameReviewOptions(NamedTuple):
    """The command's options; None where the user gave none."""

    log: Path
    """A game log or an event's folder."""
    game: str | None
    """A game, or a part of its name; None in a log of one game."""
    bot: str | None
    """The only bot to review, or its seat's number."""
    worlds: int | None
    """Deals of the hidden tiles over which an option is valued."""
    by: str | None
    """The player that plays rounds on."""
    dearest: bool
    """True if the dearest decisions stand first."""
    as_json: bool
    """True if the review is printed as JSON."""


class GameDecisions(Struct, frozen=True):
    """The output of `boneyard review GAME --json`."""

    terms: ReviewTerms
    """The way in which decisions are valued."""
    seats: tuple[SeatReview, ...]
    """The reviewed seats."""


def review_one_game(options: GameReviewOptions, page: Pager) -> None:
    """Review the decisions of a game and print them. Raises UserError, DamagedLogError."""
    by = reference_player(options.by)
    logged = require_one_game(options.log, options.game)
    names = logged.sitting.seats
    seats = [*range(len(names))] if options.bot is None else [find_seat(logged, options.bot)]
    terms = ReviewTerms(logged.sitting.event, options.worlds or WORLDS, by)
    reviews = [
        review_logged(logged, seat, terms) for seat in track(seats, "Seats reviewed", len(seats))
    ]
    if options.as_json:
        print_json(GameDecisions(terms, tuple(reviews)))
        return
    console = open_console()
    blocks = [
        block for one in reviews for block in _blocks(logged, one, dearest_first=options.dearest)
    ]
    print_paged(renderables(blocks, console.width), console, page)


def _blocks(logged: LoggedGame, one: SeatReview, *, dearest_first: bool) -> Iterator[Block]:
    """Yield the review of a seat."""
    yield Paragraph(f"{printable(one.bot)} in seat {one.seat} of {one.game}", "strong")
    if not one.decisions:
        yield Paragraph("It had no decision between several options.")
        return
    loss = sum(decision.loss for decision in one.decisions)
    best = sum(decision.choice == decision.best for decision in one.decisions)
    rounds = f" in {count_in_digits(one.rounds, 'round')}" if one.rounds else ""
    yield Paragraph(
        f"It lost {loss:.1f} points by its choices{rounds}: {best} of "
        f"{count_in_digits(len(one.decisions), 'decision')} were the best."
    )
    yield decision_table(logged, one, dearest_first=dearest_first)


def decision_table(logged: LoggedGame, one: SeatReview, *, dearest_first: bool = False) -> Table:
    """Return a line for each decision of a seat: the choice, the best option, and the others."""
    words = {
        asked.number: [option_words(option) for option in asked.question.options]
        for asked in decisions.decisions(logged, one.seat)
    }
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
    shown: Sequence[DecisionLoss] = one.decisions
    if dearest_first:
        shown = sorted(shown, key=lambda decision: -decision.loss)
    return table("Decisions", columns, [_row(one, words[one.number]) for one in shown])


def _row(one: DecisionLoss, words: Sequence[str]) -> list[str | Cell]:
    better = one.best != one.choice
    return [
        *(f"{one.number}", f"{one.round}", one.phase, one.chosen),
        f"{one.values[one.choice]:+.1f}",
        one.better if better else "",
        f"{one.values[one.best]:+.1f}" if better else "",
        Cell(f"{round(one.loss, 1) + 0.0:.1f}", detail=_width(one)),
        _others(one, words),
    ]


def _width(one: DecisionLoss) -> str:
    return "exact" if one.exact else f"{2 * one.error:.1f}"


def _others(one: DecisionLoss, words: Sequence[str]) -> str:
    """Return the other options with their values, the best first."""
    left = [at for at in range(len(words)) if at not in (one.choice, one.best)]
    left.sort(key=lambda at: -one.values[at])
    told = [f"{words[at]} {one.values[at]:+.1f}" for at in left[:OTHERS_SHOWN]]
    more = [f"{len(left) - OTHERS_SHOWN} more"] if len(left) > OTHERS_SHOWN else []
    return ", ".join([*told, *more])
