"""The columns of a table of decisions, and a logged game as its rows."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from msgspec import Struct

from arena.analysis.timeline import Timeline
from arena.logs.gamelog import LoggedGame
from arena.training.actions import Mask
from arena.training.decision_rows import DecisionRow, decision_rows, margins_by_round
from arena.training.encoding import Encoding, Vector
from protocol.codec import encode_json
from protocol.ruleset import Ruleset, count_sides, side_of
from tournaments.dataset.worth import KnownWorth, Loss, compute_losses, read_losses, read_luck
from tournaments.rating.tables import share_of_pairs
from tournaments.report.exports import margin_of
from tournaments.storage.log_luck import LuckRecord, luck_of_game

NOTHING = KnownWorth()


class Facts(Struct, frozen=True, kw_only=True):
    """The columns of a decision besides its vector and its mask, in their order."""

    event: str
    """The event's name."""
    game: str
    """The game's name in the event."""
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
    """The number of the chosen option in the mask; empty: it fouled, or the option has none."""
    ms: float
    """The time charged, in ms."""
    foul: str | None
    """The class of the foul, if the seat fouled."""
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


class Table(NamedTuple):
    """A ruleset and a number of seats: vectors of one table have one length and one meaning."""

    rules: Ruleset
    seats: int
    """The number of seats."""


@cache
def encoding_of(table: Table) -> Encoding:
    """Return the encoding of the decisions at a table."""
    return Encoding(*table)


class Example(NamedTuple):
    """A decision of a table."""

    facts: Facts
    """All other columns."""
    vector: Vector
    """All that the seat knew; see `arena.training.encoding`."""
    mask: Mask
    """1 for the number of each option; see `arena.training.actions`."""


class Wish(Struct, frozen=True):
    """The decisions that a user wants, and what shall be computed for each."""

    bots: frozenset[str] = frozenset()
    """The bots that made them; empty: all."""
    luck: bool = False
    """True: the luck of each game."""
    review: bool = False
    """True: the loss of each decision. What an event's files have is taken from there."""

    def wants(self, name: str) -> bool:
        """Tell whether a bot's decisions are wanted."""
        return not self.bots or name in self.bots


def examples(logged: LoggedGame, wish: Wish, known: KnownWorth = NOTHING) -> Iterator[Example]:
    """Yield the wanted decisions in a finished game. Raises DamagedFileError."""
    names = logged.sitting.seats
    encoding = encoding_of(Table(logged.sitting.rules, len(names)))
    seats = [seat for seat, name in enumerate(names) if wish.wants(name)]
    shared = {seat: _shared(logged, seat) for seat in seats}
    margins = margins_by_round(logged)
    assert logged.result, "The game is finished."
    timeline, luck = Timeline(logged), read_luck(known.luck, logged.result)
    if wish.luck and luck is None:
        luck = luck_of_game(logged)
    losses = read_losses(known.reviews)
    for seat in seats if wish.review else ():
        losses[seat] = losses.get(seat) or compute_losses(timeline, seat)
    for row in decision_rows(timeline, encoding, seats):
        facts = Facts(
            **shared[row.seat],
            **_answered(row),
            round_margin=margins[row.round][row.seat] if row.round in margins else None,
            **(_luck(luck, row) if luck else {}),
            **_loss(losses.get(row.seat, {}).get(row.number), row.choice),
        )
        yield Example(facts, row.vector, row.mask)


def _luck(luck: LuckRecord, row: DecisionRow) -> dict[str, Any]:
    # Nothing was drawn after the last round of the file.
    rounds = luck.rounds[row.round - 1 : row.round]
    return {
        "round_luck": rounds[0][row.seat] if rounds else 0.0,
        "luck_points": luck.points[row.seat],
        "luck_share": luck.share[row.seat],
    }


def _loss(found: Loss | None, choice: int | None) -> dict[str, Any]:
    # A game that was played again may still have its old review.
    if found is None or found.choice != choice:
        return {}
    _, best, loss, error, values = found
    return {"best": best, "loss": loss, "loss_error": error, "values": values}


def _shared(logged: LoggedGame, seat: int) -> dict[str, Any]:
    """Return the columns that all decisions of a seat in a game share."""
    result, sitting = logged.result, logged.sitting
    assert result, "The game is finished."
    names, partners = sitting.seats, sitting.rules.deal.partners
    side, sides = side_of(partners, seat), count_sides(partners, len(names))
    return {
        "event": sitting.event,
        "game": result.game,
        "board": result.board,
        "rules": sitting.rules.name,
        "seats": len(names),
        "seat": seat,
        "side": side,
        "entrant": names[seat],
        "partner": names[(seat + 2) % 4] if partners else None,
        "points": result.scores[seat],
        "place": result.places[seat],
        "win_share": share_of_pairs(result.places[:sides], side),
        "margin": margin_of(result, side, sides),
    }


def _answered(row: DecisionRow) -> dict[str, Any]:
    """Return the columns of the question and its answer."""
    return {
        "round": row.round,
        "question": row.number,
        "id": row.id,
        "options": encode_json(row.options).decode(),
        "choice": row.choice,
        "action": row.action,
        "ms": row.ms,
        "foul": row.foul,
    }
