"""The values of an event's games, computed from its logs: their luck, and reviews of seats."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

from arena.analysis.find import require_one_game
from arena.analysis.frames import join_draws, places_in_replay
from arena.analysis.timeline import Timeline
from arena.files import DamagedFileError
from arena.logs.gamelog import read_games
from arena.rules.english import count_in_digits
from arena.ui.replay_page import CLEAR_GAP
from arena.valuation.terms import USUAL_WORLDS
from protocol.errors import UserError
from protocol.records import RoundRecord
from tournaments.event.book import Book
from tournaments.event.luck import (
    DecisionLoss,
    LogLuck,
    LuckStore,
    LuckTask,
    Policies,
    ReviewTerms,
    SeatLosses,
    luck_of_log,
    on_all_cores,
    tasks_of_log,
)

if TYPE_CHECKING:
    from arena.processes import ShowProgress
    from arena.ui.position_pages import QuizCard


# Reviews of logged games, one seat at a time: the work of the processes of a review.


class ReviewTask(Struct, frozen=True):
    """A game of a log to review.

    A kill loses what a process had of it, 2 s of its time; to read its log takes 0.02 s.
    """

    path: Path
    game: str
    seats: tuple[int, ...]
    terms: ReviewTerms


class ReviewedGames(Struct, frozen=True):
    """The reviewed seats of a task."""

    seats: tuple[SeatLosses, ...]
    faults: tuple[str, ...] = ()


def review_part(task: ReviewTask) -> ReviewedGames:
    """Review a game of a log."""
    seats, faults = list[SeatLosses](), list[str]()
    timeline: Timeline | None = None
    try:
        # A game that was cut off is in its log again, played to its end.
        games = (logged for logged in read_games(task.path) if logged.result)
        for logged in (logged for logged in games if logged.game.game == task.game):
            for seat in task.seats:
                try:
                    timeline = timeline or Timeline(logged)
                    seats.append(review_timeline(timeline, seat, task.terms))
                except UserError:
                    raise
                except Exception as bug:  # In one game of a thousand it must not stop the others.
                    why = f"a bug of Boneyard, {type(bug).__name__}: {bug}"
                    faults.append(f"{task.path}: seat {seat} of {task.game} is not reviewed: {why}")
            break
        else:
            faults.append(f"{task.path}: {task.game} is missing")
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
    from arena.analysis.text import option_words  # It needs rich.
    from arena.valuation.decision_loss import review_seat  # It needs numpy.

    questions = timeline.questions(seat)
    places = places_in_replay(join_draws(timeline.moments, None))
    for decision in review_seat(timeline, seat, terms.worlds):
        question = questions[decision.number - 1]
        yield DecisionLoss(
            **asdict(decision),
            id=question.question.id,
            at=places[question.index],
            chosen=option_words(question.options[decision.choice]),
            better=option_words(question.options[decision.best]),
        )


TimelineReader = Callable[[], Timeline]
"""A function that reads a game."""


def quiz_cards(reviewed: Iterable[tuple[SeatLosses, TimelineReader]]) -> "list[QuizCard]":
    """Return the cards of the dearest decisions of seats, each with what reads its game.

    Raises UserError.
    """
    from arena.ui.position_pages import MOST_CARDS, make_card  # It needs numpy and Jinja2.

    dear = [
        (decision, seat.seat, read)
        for seat, read in reviewed
        for decision in seat.decisions
        if decision.gap > CLEAR_GAP * decision.error
    ]
    dear.sort(key=lambda row: row[0].error - row[0].gap)
    cards = (make_card(read(), seat, decision.number) for decision, seat, read in dear)
    return [*islice(filter(None, cards), MOST_CARDS)]


def review_log(path: Path, bots: Collection[str]) -> Iterator[tuple[SeatLosses, TimelineReader]]:
    """Review the seats of bots or persons in the finished games of a log."""
    for logged in read_games(path):
        terms = ReviewTerms(logged.sitting.event, USUAL_WORLDS)
        for seat, name in enumerate(logged.sitting.seats):
            if logged.result and name in bots:
                read = partial(read_timeline, path, logged.game.game)
                yield review_timeline(Timeline(logged), seat, terms), read


def read_timeline(log: Path, game: str) -> Timeline:
    """Return the timeline of a game of a log or folder. Raises UserError."""
    return Timeline(require_one_game(log, game))


# The luck of all games of an event, computed from its logs on all cores.


def write_luck(book: Book, progress: "ShowProgress") -> list[str]:
    """Add to luck.jsonl the luck of each game that it lacks; return why some games have none yet.

    Luck tells hidden tiles: the games of a board wait until its seed is revealed. A kill loses the
    luck of a few games; the next call goes on. The folder must be locked.
    Raises DamagedFileError, OSError, UserError.
    """
    store = LuckStore(book.folder, book.event, writes=True, tasks=on_all_cores)
    store.drop_stale(book.played)
    over = [result for result in book.played if result.board in book.public]
    waiting = len(book.results) - len(over)
    missing = {result.game: result for result in over if not store.known(result)}
    store.played = lambda: over
    progress(0, len(missing))
    store.learn(missing.values())
    tasks = luck_tasks(book, missing, store.policies)
    faults = list[str]()
    for _, luck in compute_tasks(tasks, len(missing), progress):
        store.add(luck.records)
        if luck.damage:
            faults.append(f"{luck.damage}; the luck of the games after it is not known.")
    faults = [*dict.fromkeys(faults)]
    if waiting:
        games = count_in_digits(waiting, "game")
        faults.append(f"The luck of {games} must wait until their boards are over: it shows tiles.")
    return faults


def luck_tasks(book: Book, games: Iterable[str], policies: Policies) -> list[LuckTask]:
    """Return the logs of these games, a few games at a time, in the order of the ledger.

    A kill may leave the luck of a block whose results only the logs have.
    """
    wanted = set(games)
    tasks: list[LuckTask] = []
    for plan in book.sittings:
        names = [game for game in plan.game_names if game in wanted]
        tasks += tasks_of_log(book.event, policies, book.folder.log(plan.name), names)
    return tasks


def compute_tasks(
    tasks: list[LuckTask], games: int, progress: "ShowProgress"
) -> Iterator[tuple[LuckTask, LogLuck]]:
    """Yield the luck of each task; show how many games are done after the caller took it."""
    done = 0
    for task, luck in zip(tasks, on_all_cores(luck_of_log, tasks), strict=True):
        yield task, luck
        done += len(task.games)
        progress(done, games)
