"""The book of an event: its folder opened to be read, with what follows from plan and results.

A result, a plan or a log may be added meanwhile; a book is what they were when it was opened.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from typing import TypeVar

from msgspec import Struct

from arena.engine.shuffle import board_seed
from arena.files import DamagedFileError, read_file
from arena.logs.catalog import published_seeds
from arena.logs.gamelog import sitting_lines
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError, suggestion
from protocol.records import Result
from tournaments.event.facts import Times, log_facts
from tournaments.event.folder import Folder, SeedOf, load_event, secret_of
from tournaments.event.history import Latecomer, latecomers, read_history
from tournaments.event.luck import LuckStore
from tournaments.event.results import ResultStore, results_of
from tournaments.plan.event import Event
from tournaments.plan.schedule import (
    GameIndex,
    PlannedGame,
    PlannedSitting,
    count_all_games,
    planned,
    sittings,
    stopped_entrants,
)
from tournaments.rating.tables import Corrections, Ratings

T = TypeVar("T")


class Book:
    """An event to read. Its members raise DamagedFileError if a file that they need is damaged."""

    def __init__(
        self,
        folder: Folder,
        event: Event | None = None,
        results: ResultStore | None = None,
        luck: LuckStore | None = None,
    ) -> None:
        """Open the folder, or take what is known of it. Raises UserError without an event."""
        self.folder, self.event = folder, event or load_event(folder)
        self.luck = luck or LuckStore(folder, self.event)
        if results is not None:
            self.results = results

    @cached_property
    def results(self) -> ResultStore:
        """The results in the ledger, by game."""
        return ResultStore(
            results_of(self.folder.ledger, self.event), LuckStore(self.folder, self.event)
        )

    @property
    def played(self) -> Sequence[Result]:
        """The results in their order."""
        return self.results.first()

    @cached_property
    def public(self) -> frozenset[int]:
        """Boards that are over: their seeds are revealed."""
        return frozenset(published_seeds(self.folder.seeds))

    @cached_property
    def sittings(self) -> tuple[PlannedSitting, ...]:
        """The sittings of retired versions, and then those of the schedule."""
        return (*self.past, *sittings(self.event, self.results))

    @cached_property
    def past(self) -> tuple[PlannedSitting, ...]:
        """The sittings of retired versions, as in their logs, by name."""
        return tuple(self._past())

    def _past(self) -> Iterator[PlannedSitting]:
        retired = self.event.retired
        if not retired:
            return
        index = {entrant.name: n for n, entrant in enumerate(self.event.entrants)}
        for path in self.folder.logs():
            seats = path.stem.split(".")[1:]
            if retired.isdisjoint(seats) or not index.keys() >= set(seats):
                continue
            for sitting in sitting_lines(path)[-1:]:
                yield planned(self.event, tuple(index[name] for name in seats), sitting.boards)

    @cached_property
    def seed_of(self) -> SeedOf:
        """The function from a board to its seed. Raises UserError, DamagedFileError."""
        folder, event = self.folder, self.event
        secret = secret_of(folder)
        if event.has_drawn_seeds:
            return partial(board_seed, secret, event.name)
        seeds = published_seeds(folder.deals)
        if missing := set(range(1, event.all_boards + 1)).difference(seeds):
            raise UserError(
                f"{folder.deals} has no seed of board {min(missing)}: it is damaged. Run the event "
                "again with the same deals to write it anew."
            )
        return seeds.__getitem__

    @cached_property
    def planned(self) -> int:
        """Games of the whole event."""
        return count_all_games(self.event, self.results)

    def index(self, value_of: Callable[[PlannedSitting, PlannedGame], T]) -> GameIndex[T]:
        """Map each game's name to a value of it."""
        return GameIndex(self.sittings, value_of)

    @cached_property
    def corrections(self) -> Corrections | None:
        """The luck to take out of games; None if none is known."""
        return self.luck.corrections(self.played) or None

    @cached_property
    def latecomers(self) -> tuple[Latecomer, ...]:
        """Entrants that have met boards whose deals were public when they came."""
        return latecomers(list(read_history(self.folder)), self.event.entrants, self.played)

    @cached_property
    def ratings(self) -> Ratings:
        """The tables of its pools."""
        from tournaments.rating.ratings import fit_both  # It needs numpy: 0.1 s to import.

        event, over = self.event, len(self.results) == self.planned
        return fit_both(
            event.rated(self.played),
            partners=event.rules.deal.partners,
            anchor=event.anchor,
            corrections=self.corrections,
            stopped=stopped_entrants(event, self.played, is_over=over),
        )

    @cached_property
    def reported(self) -> int:
        """Games in results.json, which the ledger had when it was written; 0 if unreadable."""

        class Played(Struct):
            played: int

        with suppress(OSError, DamagedRecordError):
            return decode_json(read_file(self.folder.results), Played).played
        return 0


# Detection of results or logs that went missing since the report was written.


NEAR = 1000
"""Games of a plan among which the nearest to an unknown one is sought."""


def shortened(book: Book) -> str | None:
    """Describe what the ledger lost if it has fewer results than the report; else None.

    More results are no loss: a run was killed, or goes on. A run that was killed while it reordered
    the ledger for a longer plan is reported too, until it goes on.
    """
    folder, count = book.folder, len(book.results)
    if count >= book.reported:
        return None
    if not folder.ledger.exists():
        return f"{folder.ledger} is missing"
    return (
        f"{folder.ledger} has {count} of the {book.reported} results that "
        f"{folder.results.name} reports"
    )


def refuse_losses(book: Book) -> None:
    """Refuse a new report that would lose what an older one had. Raises UserError."""
    refuse_unplanned(book)
    if short := shortened(book):
        raise UserError(
            f"{short}. The same `boneyard run` as before restores it from the game logs."
        )
    refuse_fewer_logs(book)


def refuse_unplanned(book: Book) -> None:
    """Refuse results of games that the plan does not have. Raises DamagedFileError."""
    folder, planned = book.folder, book.index(lambda *_: None)
    if stray := next((game for game in book.results if game not in planned), None):
        nearest = suggestion(stray, islice(planned, NEAR))
        raise DamagedFileError(
            f"{folder.ledger}: game {stray} is neither in the plan of {folder.event.name} nor in "
            "the log of an earlier version: a file is damaged, or that log is missing "
            f"({nearest})"
        )


def missing_results(book: Book) -> str | None:
    """Return a warning that reported games are played again: their seeds may be known.

    None if no game is missing. Raises UserError when neither the ledger nor the logs have any left.
    """
    folder, count = book.folder, book.reported - len(book.results)
    if count <= 0:
        return None
    if not book.results:
        raise UserError(
            f"{folder.results} reports {count} games, but neither {folder.ledger.name} nor the "
            "game logs have any. Restore them, or choose another folder (--out)."
        )
    games = "1 reported game is" if count == 1 else f"{count} reported games are"
    return f"{games} missing and will be replayed, on deals that may already be known."


def refuse_fewer_logs(book: Book) -> None:
    """Refuse to write facts from the logs if some logs are missing and facts would be lost.

    Damage in a log that is there stops no report: `verify` names it. Raises UserError.
    """
    folder, timed = book.folder, _timed(book.folder)
    game = _without_log(book) if timed else None
    if game and timed > _games(log_facts(folder, book.results).times):
        raise UserError(
            f"The log of {game} is missing, and only {folder.times} and {folder.page.name} have "
            f"its times. Restore the log, or remove {folder.times.name} to drop them."
        )


def _timed(folder: Folder) -> int:
    """Return the number of games in times.json, each counted for every seat; 0 if unreadable."""
    with suppress(OSError, DamagedRecordError):
        return _games(decode_json(read_file(folder.times), Times))
    return 0


def _games(times: Times) -> int:
    return sum(entrant.games for entrant in times.entrants)


def _without_log(book: Book) -> str | None:
    """Return the first game that has a result and no log; None if there is none."""
    paths, log = set(book.folder.logs()), book.index(lambda plan, _: book.folder.log(plan.name))
    return next((game for game in book.results if log.get(game) not in paths), None)
