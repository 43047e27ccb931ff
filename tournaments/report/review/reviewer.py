"""Reviews of logged games, one seat at a time: the work of the processes of `boneyard review`."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from arena.analysis import decisions
from arena.analysis.frames import frames
from arena.analysis.replay import steps
from arena.analysis.text import option_words
from arena.logs.checksummed import DamagedFileError
from arena.logs.gamelog import LoggedGame, read_games
from protocol.errors import unknown_name
from protocol.records import ChoiceRecord, RoundRecord
from tournaments.storage.review_log import DecisionLoss, ReviewTerms, SeatReview

DIGITS = 3
"""Decimals of a point that are kept."""
WORLDS = 64
"""Worlds of a review for which nobody asked for another number."""
PLAYERS = ("keen", "plain")
"""The players that can play rounds on; the first is the usual one."""


def reference_player(name: str | None) -> str:
    """Return the name of the player that plays rounds on; None means the usual one.

    Raises UserError.
    """
    if name is not None and name not in PLAYERS:
        raise unknown_name("player", name, PLAYERS)
    return name or PLAYERS[0]


class ReviewTask(Struct, frozen=True):
    """Games of one log to review."""

    path: Path
    """The log."""
    games: Mapping[str, tuple[int, ...]]
    """The games, each with the seats to review."""
    terms: ReviewTerms
    """The way in which decisions are valued."""


class ReviewedGames(Struct, frozen=True):
    """The reviewed seats of a task."""

    seats: tuple[SeatReview, ...]
    """The seats."""
    faults: tuple[str, ...] = ()
    """The reasons why others were not reviewed, in sentences."""


def review_part(task: ReviewTask) -> ReviewedGames:
    """Review some games of a log."""
    seats, faults = list[SeatReview](), list[str]()
    left = dict(task.games)
    try:
        for logged in read_games(task.path):
            # A game that was cut off is in its log again, played to its end.
            for seat in left.pop(logged.game.game, ()) if logged.result else ():
                try:
                    seats.append(review_logged(logged, seat, task.terms))
                except DamagedFileError:
                    raise
                except Exception as bug:  # In one game of a thousand it must not stop the others.
                    name = f"seat {seat} of {logged.game.game}"
                    why = f"a bug of Boneyard, {type(bug).__name__}: {bug}"
                    faults.append(f"{task.path}: {name} is not reviewed: {why}")
            if not left:
                break
        faults += [f"{task.path}: {game} is missing" for game in left]
    except DamagedFileError as error:
        faults.append(str(error))
    return ReviewedGames(tuple(seats), tuple(faults))


def review_logged(logged: LoggedGame, seat: int, terms: ReviewTerms) -> SeatReview:
    """Review the decisions of a seat in a game. Raises DamagedLogError."""
    return SeatReview(
        game=logged.game.game,
        board=logged.game.board,
        seat=seat,
        entrant=logged.sitting.seats[seat],
        rounds=sum(isinstance(record, RoundRecord) for record in logged.records),
        decisions=tuple(_losses(logged, seat, terms)),
    )


def _losses(logged: LoggedGame, seat: int, terms: ReviewTerms) -> Iterator[DecisionLoss]:
    """Yield each decision between several options."""
    from arena.valuation import playouts
    from arena.valuation.decision_loss import review_seat  # It needs numpy.

    words = {one.number: one.question.options for one in decisions.decisions(logged, seat)}
    places = moments(logged, seat)
    for one in review_seat(logged, seat, terms.worlds, playouts.PLAYERS[terms.by]):
        options = words[one.number]
        yield DecisionLoss(
            number=one.number,
            id=one.id,
            at=places.get(one.id, 0),
            round=one.round,
            phase=one.phase,
            kind=one.kind,
            choice=one.choice,
            best=one.best,
            values=tuple(round(option.lead, DIGITS) for option in one.options),
            errors=tuple(round(option.error, DIGITS) for option in one.options),
            loss=round(one.loss, DIGITS),
            error=round(one.error, DIGITS),
            exact=one.exact,
            chosen=option_words(options[one.choice]),
            better=option_words(options[one.best]),
        )


def moments(logged: LoggedGame, seat: int) -> dict[int, int]:
    """Return the moment of the replay at which each question to a seat was answered, by its id."""
    return {
        frame.record.id: at
        for at, frame in enumerate(frames(steps(logged), None))
        if isinstance(frame.record, ChoiceRecord) and frame.record.seat == seat
    }
