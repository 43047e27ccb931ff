"""Reviews of logged games, one seat at a time: the work of the processes of a review."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from arena.analysis.frames import join_draws, places_in_replay
from arena.analysis.text import option_words
from arena.analysis.timeline import Timeline
from arena.logs.checksummed import DamagedFileError
from arena.logs.gamelog import read_games
from protocol.errors import UserError
from protocol.records import RoundRecord
from tournaments.storage.review_log import DecisionLoss, ReviewTerms, SeatLosses


class ReviewTask(Struct, frozen=True):
    """Games of one log to review."""

    path: Path
    games: Mapping[str, tuple[int, ...]]
    terms: ReviewTerms


class ReviewedGames(Struct, frozen=True):
    """The reviewed seats of a task."""

    seats: tuple[SeatLosses, ...]
    faults: tuple[str, ...] = ()


def review_part(task: ReviewTask) -> ReviewedGames:
    """Review some games of a log."""
    seats, faults = list[SeatLosses](), list[str]()
    left = dict(task.games)
    try:
        for logged in read_games(task.path):
            # A game that was cut off is in its log again, played to its end.
            timeline: Timeline | None = None
            for seat in left.pop(logged.game.game, ()) if logged.result else ():
                try:
                    timeline = timeline or Timeline(logged)
                    seats.append(review_timeline(timeline, seat, task.terms))
                except UserError:
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


def review_timeline(timeline: Timeline, seat: int, terms: ReviewTerms) -> SeatLosses:
    """Review the decisions of a seat in a game."""
    logged = timeline.logged
    return SeatLosses(
        game=logged.game.game,
        board=logged.game.board,
        seat=seat,
        entrant=logged.sitting.seats[seat],
        rounds=sum(isinstance(record, RoundRecord) for record in logged.records),
        decisions=tuple(_losses(timeline, seat, terms)),
    )


def _losses(timeline: Timeline, seat: int, terms: ReviewTerms) -> Iterator[DecisionLoss]:
    """Yield each decision between several options."""
    from arena.valuation.decision_loss import review_seat  # It needs numpy.

    questions = timeline.questions(seat)
    places = places_in_replay(join_draws(timeline.moments, None))
    for one in review_seat(timeline, seat, terms.worlds):
        asked = questions[one.number - 1]
        yield DecisionLoss(
            **asdict(one),
            id=asked.question.id,
            at=places[asked.index],
            chosen=option_words(asked.options[one.choice]),
            better=option_words(asked.options[one.best]),
        )
