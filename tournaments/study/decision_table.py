"""The columns of a table of decisions, a logged game as its rows, and the table as CSV."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from arena.analysis.timeline import AskedQuestion, Timeline
from arena.logs.gamelog import LoggedGame
from arena.training.encoding import ChoiceMask, Encoding, Vector, decision_rows, margins_by_round
from arena.valuation.terms import USUAL_WORLDS
from protocol import __version__
from protocol.codec import encode_json
from protocol.ruleset import Ruleset
from tournaments.event.luck import (
    DecisionLoss,
    LuckRecord,
    ReviewTerms,
    SeatLosses,
    luck_records,
)
from tournaments.report.report import SEAT_FIELDS, encode_rows, seat_columns
from tournaments.study.valuation import review_timeline


class Facts(Struct, frozen=True, kw_only=True):
    """The columns of a decision besides its vector and its mask, in their order."""

    event: str
    """The name of the event's folder, or of a log outside any; a number tells equal names apart."""
    game: str
    """The game's name in the event: no other game of the table has both."""
    board: int
    rules: str
    """The ruleset's name."""
    seats: int
    """The number of seats at the table."""
    seat: int
    """The seat that was asked, counted clockwise from 0."""
    side: int
    """The seat's side: with partners 0 or 1, else the seat."""
    entrant: str
    """The entrant in this seat."""
    partner: str | None
    """The entrant opposite, with partners."""
    round: int
    """The round's number in the game, from 1."""
    question: int
    """The question's number among those to this seat in the game, from 1, as `explain` counts."""
    id: int
    """The question's number on the bot's pipe."""
    options: str
    """The options as JSON, in the question's order."""
    choice: int | None
    """The index of the chosen option; empty: the seat fouled."""
    action: int | None
    """The chosen option's number in the mask; empty after a foul, or if it has none."""
    ms: float
    """The time charged, in ms."""
    foul: str | None
    """The class of the foul, if the seat fouled."""
    info: str | None
    """The bot's own numbers as JSON; empty if it sent none."""
    round_margin: float | None
    """The change of the seat's score in this round less the mean change of its rivals' scores: the
    environment's reward; empty if the game ended within the round."""
    points: int
    """The seat's score at the end of the game."""
    place: int
    """Its place, 1 being best."""
    win_share: float
    """The pairs of sides that its side won, as a share, a tie ½."""
    margin: float | None
    """Its side's score less the mean of the other sides'; empty if a foul ended the game."""
    round_luck: float | None = None
    """Points that the seat owes to the tiles drawn in this round."""
    luck_points: float | None = None
    """Points that it owes to the tiles drawn in the whole game."""
    luck_share: float | None = None
    """The same in the share of pairs of sides."""
    best: int | None = None
    """The index of the best option, by deals that the seat could not tell from the real one."""
    loss: float | None = None
    """The points that the choice cost against it: a little below 0 by chance."""
    loss_error: float | None = None
    """The standard error of `loss`; 0 in an endgame that is solved."""
    values: list[float] | None = None
    """The value of each option, in points of lead that it brings to the round's end."""


class TableKind(NamedTuple):
    """A ruleset and a number of seats: vectors of one table have one length and one meaning."""

    rules: Ruleset
    seats: int


@cache
def encoding_of(table: TableKind) -> Encoding:
    """Return the encoding of the decisions at a table."""
    return Encoding(*table)


class Example(NamedTuple):
    """A decision of a table."""

    facts: Facts
    vector: Vector
    """All that the seat knew; see `arena.training.encoding`."""
    mask: ChoiceMask
    """1 for the number of each option; see `arena.training.encoding`."""


class Wish(Struct, frozen=True):
    """The decisions that a user wants, and what to compute for each."""

    bots: frozenset[str] = frozenset()
    luck: bool = False
    review: bool = False
    """True: the loss of each decision. What an event's files have is taken from there."""

    def wants(self, name: str) -> bool:
        """Tell whether a bot's decisions are wanted."""
        return not self.bots or name in self.bots


class KnownWorth(NamedTuple):
    """The parts of an event's files about a game."""

    luck: tuple[LuckRecord, ...] = ()
    reviews: tuple[SeatLosses, ...] = ()


def examples(logged: LoggedGame, event: str, wish: Wish, worth: KnownWorth) -> Iterator[Example]:
    """Yield the wanted decisions in a finished game of an event. Raises DamagedFileError."""
    result, sitting, timeline = logged.result, logged.sitting, Timeline(logged)
    assert result, "The game is finished."
    seats = [seat for seat, name in enumerate(sitting.seats) if wish.wants(name)]
    rows = seat_columns(result, sitting.rules.deal.partners)
    columns: list[dict[str, Any]] = [dict(zip(SEAT_FIELDS, row, strict=True)) for row in rows]
    margins = margins_by_round(logged)
    luck = next((record for record in worth.luck if record.scores == result.scores), None)
    if wish.luck and luck is None:
        (luck,) = luck_records([timeline])
    reviews = {review.seat: review for review in worth.reviews}
    for seat in seats if wish.review else ():
        if seat not in reviews:
            reviews[seat] = review_timeline(timeline, seat, ReviewTerms("", USUAL_WORLDS))
    losses = {(r.seat, loss.number): loss for r in reviews.values() for loss in r.decisions}
    encoding = encoding_of(TableKind(sitting.rules, len(sitting.seats)))
    for question, answer, vector, mask, action in decision_rows(timeline, encoding, seats):
        facts = Facts(
            event=event,
            rules=sitting.rules.name,
            seats=len(sitting.seats),
            game=result.game,
            board=result.board,
            **columns[question.seat],
            round=question.round,
            question=question.number,
            id=question.question.id,
            options=encode_json(question.options).decode(),
            choice=question.choice,
            action=action,
            ms=answer.ms,
            foul=getattr(answer, "foul", None),
            info=encode_json(info).decode() if (info := getattr(answer, "info", None)) else None,
            round_margin=margins[question.round][question.seat]
            if question.round in margins
            else None,
            **(_luck(luck, question) if luck else {}),
            **_loss(losses.get((question.seat, question.number)), question.choice),
        )
        yield Example(facts, vector, mask)


def _luck(luck: LuckRecord, question: AskedQuestion) -> dict[str, Any]:
    # Nothing was drawn after the last round of the file.
    rounds = luck.rounds[question.round - 1 : question.round]
    return {
        "round_luck": rounds[0][question.seat] if rounds else 0.0,
        "luck_points": luck.points[question.seat],
        "luck_share": luck.share[question.seat],
    }


def _loss(loss: DecisionLoss | None, choice: int | None) -> dict[str, Any]:
    # A game that was played again may still have its old review.
    if loss is None or loss.choice != choice:
        return {}
    values, error = [*loss.values], loss.error
    return {"best": loss.best, "loss": loss.loss, "loss_error": error, "values": values}


def describe_table(table: TableKind) -> bytes:
    """Return what the metadata of a Parquet file say of its table, as JSON."""
    encoding = encoding_of(table)
    parts = {name: (part.start, part.stop) for name, part in encoding.parts.items()}
    return encode_json(
        {
            "version": __version__,
            "rules": table.rules,
            "seats": table.seats,
            "vector": parts,
            "mask": encoding.actions.options,
        }
    )


def encode_csv(table: TableKind, examples: Sequence[Example]) -> bytes:
    """Return the lines of these decisions as CSV: the vector is v0, v1, …, the mask m0, m1, ….

    A program reads both with no other package: `table.filter(regex="^v[0-9]")` in pandas,
    `table.select("^v[0-9]+$")` in polars.
    """
    shares = encoding_of(table).parts["tiles"].start
    rows = (
        (
            *(
                encode_json(value).decode() if isinstance(value, list) else value
                for value in astuple(facts)
            ),
            *vector[:shares].astype(np.int8).tolist(),
            # Always with a point: readers guess a column's type from its first rows.
            *(float(f"{value:.9g}") for value in vector[shares:].tolist()),
            *mask.tolist(),
        )
        for facts, vector, mask in examples
    )
    return encode_rows(rows)


def csv_file(table: TableKind, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the file: the names of its columns, then the lines."""
    encoding = encoding_of(table)
    vector = (f"v{index}" for index in range(encoding.size))
    mask = (f"m{index}" for index in range(len(encoding.actions.options)))
    yield ",".join((*Facts.__struct_fields__, *vector, *mask)).encode() + b"\n"
    yield from pieces
