"""Ledgers of several events as one: shared labels for entrants and numbers for boards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.analysis.find import logs
from arena.engine.deal import is_seed
from arena.files import DamagedFileError, open_file
from arena.logs.catalog import published_commitments, published_seeds
from arena.logs.checksummed import grep_prefix
from protocol.codec import (
    DamagedRecordError,
    canonical_json,
    decode_record,
    line_start,
    strip_checksum,
)
from protocol.errors import UserError
from protocol.records import GameRecord, Sitting
from protocol.ruleset import Ruleset
from tournaments.event.book import Book, ResultStore, read_ledger, results_of
from tournaments.event.folder import Folder, find_event, load_event
from tournaments.event.luck import LuckStore
from tournaments.formats.base import first_version
from tournaments.plan.event import DealKeys, Event, deal_keys, first_with_deal
from tournaments.rating.tables import Correction

FINGERPRINT_SHOWN = 8
"""Characters of a fingerprint that tell versions of an entrant apart."""
UNKNOWN_LABEL = "unknown"
"""Label for an unknown fingerprint beside a known one."""


class Source(NamedTuple):
    """A ledger, and its event if that is known."""

    name: str
    ledger: Path
    event: Event | None
    deals: Mapping[int, str]
    """The published commitments to boards' deals."""
    results: ResultStore

    @property
    def seats(self) -> int:
        """Seats at a table; 0 without results."""
        return len(self.results.at(0).seats) if self.results else 0

    @property
    def choices(self) -> bytes:
        """The settings of the rules without their name, encoded; empty if unknown."""
        return _bare(self.event.rules) if self.event else b""


def open_source(path: Path) -> Source:
    """Read a ledger, or that of an event's folder. Raises UserError, also as DamagedFileError."""
    ledger = Folder(path).ledger if path.is_dir() else path
    try:
        if not ledger.is_file():
            raise UserError(f"{path} has no ledger: {ledger.name} is missing.")
        if path == ledger:
            with open_file(ledger) as file:
                if file.read(1) not in (b"", b"{"):
                    raise UserError(f"{path} is not a ledger: name the event's folder.")
        folder = Folder(ledger.parent)
        event = load_event(folder) if folder.event.is_file() else None
        results, count = ResultStore(), 0
        read = results_of(ledger, event) if event else read_ledger(ledger)
        for count, result in enumerate(read, 1):
            results.add(result)
            if len(results) < count:
                raise DamagedFileError(f"{ledger} has game {result.game} twice: it is damaged.")
        deals = published_commitments(folder.commitments) if event else {}
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    return Source(str(path), ledger, event, deals, results)


def check_no_overlap(sources: Sequence[Source]) -> None:
    """Refuse ledgers with the same games. Raises UserError."""
    if len(sources) > 1:
        _refuse_same_games([(source.name, _games_of(source)) for source in sources])


def check_no_same_logs(paths: Sequence[Path]) -> None:
    """Refuse logs, or folders of them, with the same games. Raises UserError."""
    if len(paths) > 1:
        _refuse_same_games([(str(path), _logged_games(path)) for path in paths])


def _refuse_same_games(games: Sequence[tuple[str, set[int]]]) -> None:
    """Refuse games that would count twice: the same bots in the same seats on the same deals."""
    for (name, hashes), (other, others) in combinations(games, 2):
        if not hashes.isdisjoint(others):
            raise UserError(
                f"{name} and {other} have the same games, which would count twice. "
                "Name one of them."
            )


def _games_of(source: Source) -> set[int]:
    """Return a hash of each game of a ledger: its rules, its deals and its players."""
    place, players = str(source.ledger.resolve()), _players(source.event)
    return {
        hash(
            (
                source.choices,
                source.deals.get(result.board, (place, result.board)),
                _seated(result.seats, players),
            )
        )
        for result in source.results.values()
    }


def _logged_games(path: Path) -> set[int]:
    """Return a hash of each game that has begun in these logs; what cannot be read is left out."""
    players, hashes = _players(find_event(path)), set[int]()
    for log in logs(path):
        sitting: tuple[object, ...] = ()
        for line in grep_prefix(log, (line_start(Sitting), line_start(GameRecord))):
            with suppress(DamagedRecordError):
                record = decode_record(strip_checksum(line))
                if isinstance(record, Sitting):
                    sitting = _bare(record.rules), _seated(record.seats, players)
                elif isinstance(record, GameRecord):
                    hashes.add(hash((record.commitment, *sitting)))
    return hashes


def _players(event: Event | None) -> dict[str, str]:
    """Return the files and the own clock of each entrant."""
    plan = event.entrants if event else ()
    return {bot.name: f"{bot.fingerprint} {bot.clock or ''}" for bot in plan}


def _seated(names: Iterable[str], players: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(players.get(name, name) for name in names)


def _bare(rules: Ruleset) -> bytes:
    """Return the settings of rules without their name, encoded."""
    return canonical_json(replace(rules, name=""))


def fingerprints(source: Source) -> dict[str, str]:
    """Return the fingerprint of each entrant that the plan names."""
    return {bot.name: bot.fingerprint for bot in source.event.entrants} if source.event else {}


class EntrantNames:
    """Labels of entrants when several ledgers are rated together.

    Entrants are the same if they have the same fingerprint and, apart from the version, the same
    name: `mine@2` of one event may be `mine` of another. If the events disagree about a name, each
    of its entrants is labelled with the name and the beginning of its own fingerprint.
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        """Read the plans."""
        self._known: dict[str, dict[str, list[str]]] = {}
        identities: dict[str, set[tuple[str, str]]] = {}
        for source in sources:
            for name, fingerprint in fingerprints(source).items():
                first = first_version(name)
                self._known.setdefault(first, {}).setdefault(fingerprint, []).append(source.name)
                identities.setdefault(first, set()).add((name, fingerprint))
        # Names with several fingerprints, or with a fingerprint that has several names.
        self._disputed = {
            first
            for first, pairs in identities.items()
            if any(len(set(column)) < len(pairs) for column in zip(*pairs, strict=True))
        }

    def label(self, source: Source, name: str) -> str:
        """Return the label of an entrant of a ledger."""
        first = first_version(name)
        mine = fingerprints(source).get(name)
        if mine is None:
            return f"{name}@{UNKNOWN_LABEL}" if first in self._known else name
        return self._version(first, mine) if first in self._disputed else name

    def _version(self, name: str, fingerprint: str) -> str:
        versions = self._known[name]
        short = {version[:FINGERPRINT_SHOWN] for version in versions}
        length = FINGERPRINT_SHOWN if len(short) == len(versions) else None
        return f"{name}@{fingerprint[:length]}"

    def notices(self) -> Iterator[str]:
        """Yield a sentence for each name that several versions share."""
        for name in sorted(self._disputed):
            clauses = (
                f"{self._version(name, fingerprint)} ({', '.join(ledgers)})"
                for fingerprint, ledgers in self._known[name].items()
            )
            yield f"{name} is not the same bot in all events: {', '.join(clauses)}."


BoardNumbers = Mapping[tuple[str, int], int]
"""The number of each source's boards: boards with the same deal have one number in any event."""


def number_boards(sources: Sequence[Source]) -> BoardNumbers:
    """Return the numbers of all boards. Raises UserError, DamagedFileError."""
    boards = [(source, board) for source in sources for board in sorted(played_boards(source))]
    # A deal that is only drawn can be known by its commitment alone.
    needs_hands = any(source.event and not source.event.has_drawn_seeds for source in sources)
    hands = {source.name: _deal_keys(source) if needs_hands else {} for source in sources}
    keys = {
        number: {
            source.deals.get(board, (source.name, board)),
            (source.name, source.event.first_board_of.get(board, board) if source.event else board),
            *hands[source.name].get(board, ()),
        }
        for number, (source, board) in enumerate(boards)
    }
    first = first_with_deal(keys)
    return {(source.name, board): first[number] for number, (source, board) in enumerate(boards)}


def played_boards(source: Source) -> set[int]:
    """Return the boards with a result."""
    return {result.board for result in source.results.values()}


def _deal_keys(source: Source) -> Mapping[int, DealKeys]:
    """Return the keys of the deals whose seeds the folder has."""
    if source.event is None:
        return {}
    folder = Folder(source.ledger.parent)
    seeds = published_seeds(folder.seeds)
    if folder.secret.exists():
        seed_of = Book(folder, source.event).seed_of
        seeds = {board: seed_of(board) for board in played_boards(source)}
    sound = {board: seed for board, seed in seeds.items() if is_seed(source.event.rules, seed)}
    return deal_keys(source.event.rules, source.event.seats, sound)


def merge(
    sources: Iterable[Source], names: EntrantNames, boards: BoardNumbers, *, fouls: bool
) -> tuple[ResultStore, dict[str, Correction]]:
    """Return the results of several ledgers as those of one, and the luck to take out of games.

    A game is called by its ledger and its name there, and has the board's number of `boards`.
    `fouls`: also games with a foul. Raises DamagedFileError.
    """
    results, corrections = ResultStore(), dict[str, Correction]()
    for source in sources:
        label = cache(partial(names.label, source))
        store = LuckStore(Folder(source.ledger.parent), source.event) if source.event else None
        luck = store.corrections(source.results.values()) if store else {}
        corrections |= {f"{source.name}: {game}": correction for game, correction in luck.items()}
        for result in source.results.values():
            if fouls or not result.fouls:
                seats = tuple(map(label, result.seats))
                number = boards[source.name, result.board]
                name = f"{source.name}: {result.game}"
                results.add(replace(result, game=name, board=number, seats=seats))
    return results, corrections
