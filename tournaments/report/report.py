"""The report of an event for people and for programs, from its plan, its ledger and its logs.

Nothing depends on time but times.json and, of report.html, what `measured` reads from the logs: the
same ledger and the same review give the same bytes of all others, and the same logs those of these
two. What a report has read from the logs it keeps for the next one, in .facts.jsonl, and what it
wrote of the results, in .pieces.json.
"""

import csv
import hashlib
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache
from itertools import chain, combinations, islice, permutations, zip_longest
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import UNSET, Meta, Struct
from msgspec.structs import asdict

from arena.document.blocks import to_markdown
from arena.files import open_file, read_file, replace_files, write_atomic
from arena.logs.checksummed import FileState, state_of
from arena.ui.replay_page import event_replay_page
from protocol import __version__
from protocol.codec import DamagedRecordError, decode_json, encode_json, indented_json
from protocol.errors import UserError
from protocol.records import Result, UsageSum
from protocol.ruleset import count_sides, side_of
from tournaments.event.book import Book, Rows
from tournaments.event.facts import LogFacts, keep_facts
from tournaments.event.folder import Folder, digest
from tournaments.event.luck import LuckRecord, LuckStore, read_seats, record_of
from tournaments.plan.schedule import describe_spent_out
from tournaments.rating import tables
from tournaments.rating.tables import Rating, Ratings, margins_of, share_of_pairs
from tournaments.report import event_text
from tournaments.report.document import ReportData, report_document
from tournaments.report.page import SharedText, listable, report_page
from tournaments.report.results_file import Results, luck_used, search_steps, terms_of, versions_of
from tournaments.report.review import read_summary
from tournaments.report.scaling import scalings

# Results and ratings as files that other programs read: CSV, and PGN for chess ratings. Pure.
#
# The CSV files begin with a line of column names and leave a field empty where there is nothing to
# say. Every file comes in pieces, so that a hundred thousand games need not fit into memory.
#
# ratings.csv has a line for each entrant in the order of the report. `elo` is a 95 % bound where
# `bound` is `>` (lower) or `<` (upper), and `half_width` is empty there; with `?` both are.
#
# games.csv has a line for each seat of each game:
#
# - `game`, `board`, `sitting`: their names in the event;
# - `table`: who sat there, clockwise from the name that comes first; with `board` it tells the
#   games that differ in nothing but the rotation;
# - `rotation`: the seat of the name that comes first;
# - `seat`, `entrant`, `side` (with partners 0 or 1, else the seat), `partner`;
# - `score`, `place`: as the game ended, 1 being best;
# - `points`: of the pairs of sides, those that it won, a tie ½; their mean is `score` in
#   ratings.csv;
# - `margin`: its side's score less the mean of the other sides', for each member; empty if a foul
#   ended the game, so that its mean is `margin` in ratings.csv;
# - `luck_points`, `luck_share`: the points, and the share of the pairs, that the seat owes to the
#   tiles drawn; empty if it was not computed;
# - `rounds`, `why`: how long the game was, and why it ended;
# - `foul`: what this seat did;
# - `tokens_in`, `tokens_out`, `retries`, `failures`, `model_choices`, `fallbacks`, `cents`: what
#   its answers cost and who made its choices, as the bot itself stated it; empty if no bot of the
#   game stated any cost.


COST_FIELDS = ("tokens_in", "tokens_out", "retries", "failures", "model_choices", "fallbacks")
SEAT_FIELDS = (
    "seat", "entrant", "side", "partner", "points", "place", "win_share", "margin",
)  # fmt: skip
GAME_FIELDS = (
    "game", "board", "table", "rotation", "sitting", *SEAT_FIELDS, "luck_points", "luck_share",
    "rounds", "why", "foul", *COST_FIELDS, "cents",
)  # fmt: skip
RATINGS = (
    "pool", "rank", "best_rank", "worst_rank", "entrant", "fingerprint", "elo", "half_width",
    "bound", "games", "boards", "win_share", "margin", "margin_half_width", "fouls", "clean_elo",
    "clean_half_width", "clean_bound", "clean_games", "corrected_elo", "corrected_half_width",
    "corrected_margin", "corrected_margin_half_width", "tokens_in", "tokens_out", "retries",
    "model_share", "failed_share", "illegal_share", "cents", "cents_a_game", "elo_a_dollar",
)  # fmt: skip
CROSSTABLE = ("pool", "entrant", "opponent", "games", "wins", "lead_elo", "error_elo", "los")
DECISIONS = (
    "game", "board", "seat", "entrant", "question", "round", "phase", "kind", "options", "choice",
    "best", "loss", "gap", "error", "percent_loss", "percent_gap", "exact",
)  # fmt: skip
NO_DATE = "????.??.??"
"""PGN's date of no known day: the same ledger gives the same bytes on any day."""
SCORES = {0.0: "0-1", 0.5: "1/2-1/2", 1.0: "1-0"}
"""PGN's results by White's share."""
TABLES_AT_ONCE = 1000
"""Tables whose texts are held: the ledger has game after game of one sitting."""
FILE_LINES_AT_ONCE = 1000
"""Lines of a file that are held at once."""

CsvRow = Sequence[object]
NO_COST = (None,) * len((*COST_FIELDS, "cents"))


def game_rows(
    results: Iterable[Result],
    sittings: Mapping[str, str],
    partners: bool,
    luck: LuckStore | None = None,
) -> Iterator[CsvRow]:
    """Yield the fields of games.csv for each seat of each game; `sittings`: by game."""
    records = luck.records if luck else {}  # Once: it looks at the file each time.
    for result in results:
        sitting = sittings.get(result.game, "")
        yield from _seats(result, sitting, partners, record_of(result, records))


def _seats(
    result: Result, sitting: str, partners: bool, luck: LuckRecord | None
) -> Iterator[CsvRow]:
    game = (result.game, result.board, *_table(result.seats), sitting)
    for seat, columns in enumerate(seat_columns(result, partners)):
        lucky = (luck.points[seat], luck.share[seat]) if luck else (None, None)
        foul = ""
        if result.fouls:
            foul = ";".join(foul.foul for foul in result.fouls if foul.seat == seat)
        cost = NO_COST if result.usage is UNSET else _costs(result.usage[seat])
        yield (*game, *columns, *lucky, result.rounds, result.why, foul, *cost)


@lru_cache(TABLES_AT_ONCE)
def _table(seats: tuple[str, ...]) -> tuple[str, int]:
    """Return the name of a table, and the seat of the name that comes first."""
    first = seats.index(min(seats))
    return ".".join(seats[first:] + seats[:first]), first


def _costs(usage: UsageSum) -> CsvRow:
    return [*(getattr(usage, name) for name in COST_FIELDS), usage.cents]


def seat_columns(result: Result, partners: bool) -> Iterator[CsvRow]:
    """Yield for each seat the `SEAT_FIELDS` of a game's result."""
    sides = count_sides(partners, len(result.seats))
    places, margins = result.places[:sides], margins_of(result, sides)
    seats = zip(_players(result.seats, partners), result.scores, result.places, strict=True)
    for player, score, place in seats:
        side = player[2]
        yield (*player, score, place, share_of_pairs(places, side), margins[side])


@lru_cache(TABLES_AT_ONCE)
def _players(
    seats: tuple[str, ...], partners: bool
) -> tuple[tuple[int, str, int, str | None], ...]:
    """Return each seat's number, entrant, side and partner."""
    return tuple(
        (seat, name, side_of(partners, seat), seats[(seat + 2) % len(seats)] if partners else None)
        for seat, name in enumerate(seats)
    )


def ratings_csv(ratings: Ratings, fingerprints: Mapping[str, str]) -> Iterator[bytes]:
    """Yield one line for each entrant, best first; pools are numbered from 1."""
    return csv_lines(RATINGS, rating_rows(ratings, fingerprints))


def rating_rows(ratings: Ratings, fingerprints: Mapping[str, str]) -> Iterator[CsvRow]:
    """Yield the fields of ratings.csv for each entrant."""
    return (
        _standing(rating, pool=number, rank=rank, fingerprint=fingerprints.get(rating.name))
        for number, pool in enumerate(ratings.pools, 1)
        for rank, rating in enumerate(pool.entrants, 1)
    )


def _standing(rating: Rating, **places: object) -> CsvRow:
    """Return the fields of a rating by the names of the columns; `places`: others of them."""
    best, worst = rating.ranks
    clean = asdict(rating.clean) if rating.clean else {}
    corrected = asdict(rating.corrected) if rating.corrected else {}
    fields = asdict(rating) | {f"clean_{name}": value for name, value in clean.items()}
    fields |= {f"corrected_{name}": value for name, value in corrected.items()}
    fields |= asdict(rating.cost) if rating.cost else {}
    fields |= {"entrant": rating.name, "best_rank": best, "worst_rank": worst, **places}
    return [fields.get(column) for column in RATINGS]


def crosstable_csv(ratings: Ratings) -> Iterator[bytes]:
    """Yield one line for each ordered pair of a pool's entrants that met.

    `wins` are the entrant's of `games` pairs with the opponent, draws as half; `lead_elo` is its
    rating less the opponent's and `error_elo` the standard error of that, both empty where the
    results do not say by how much one is better; `los` is how likely the entrant is the better one.
    """
    return csv_lines(CROSSTABLE, _meetings(ratings))


def _meetings(ratings: Ratings) -> Iterator[CsvRow]:
    for number, pool in enumerate(ratings.pools, 1):
        for (i, rating), (j, other) in permutations(enumerate(pool.entrants), 2):
            met, error = pool.crosstable[i][j], pool.error(i, j)
            if not met.games:
                continue  # Of a thousand entrants a million pairs may not have met.
            lead = None if error is None else round((rating.elo or 0.0) - (other.elo or 0.0), 6)
            yield number, rating.name, other.name, met.games, met.wins, lead, error, pool.los[i][j]


def csv_lines(head: CsvRow, rows: Iterable[CsvRow]) -> Iterator[bytes]:
    """Yield a CSV file, a piece at a time."""
    lines = chain((head,), rows)
    while few := list(islice(lines, FILE_LINES_AT_ONCE)):
        yield encode_rows(few)


def encode_rows(rows: Iterable[CsvRow]) -> bytes:
    """Return these lines of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def pgn(event: str, results: Iterable[Result], partners: bool) -> bytes:
    """Return games for Ordo and BayesElo: seat 0 is White, seat 1 Black; `event`: its title.

    A game of three or more is broken into its pairs of seats, of which the lower is White; they
    are not independent, and those programs' errors are too narrow. With partners a side is one
    player, called by both names.
    """
    return "".join(game for result in results for game in _games(event, result, partners)).encode()


def _games(event: str, result: Result, partners: bool) -> Iterator[str]:
    sides = count_sides(partners, len(result.seats))
    place = _tags(Event=event, Site="?", Date=NO_DATE)
    for white, black, players in _opponents(result.seats, sides):
        score = SCORES[share_of_pairs((result.places[white], result.places[black]), 0)]
        outcome = _tags(Result=score, Termination=_termination(result, sides, (white, black)))
        yield f'{place}[Round "{result.board}"]\n{players}{outcome}\n{score}\n\n'


@lru_cache(TABLES_AT_ONCE)
def _opponents(seats: tuple[str, ...], sides: int) -> tuple[tuple[int, int, str], ...]:
    """Return every two sides with the tags of their names."""
    names = ["+".join(sorted(seats[side::sides])) for side in range(sides)]
    return tuple(
        (white, black, _tags(White=names[white], Black=names[black]))
        for white, black in combinations(range(sides), 2)
    )


@lru_cache(100)
def _tags(**texts: str) -> str:
    return "".join(f"[{name} {_quoted(text)}]\n" for name, text in texts.items())


def _termination(result: Result, sides: int, pair: Sequence[int]) -> str:
    """Return the end of a game between two sides, in the words of PGN's standard."""
    fouls = {foul.foul for foul in result.fouls if foul.seat % sides in pair}
    if result.why != "foul" and not fouls:
        return "normal"
    if not fouls:
        return "abandoned"  # Another seat's foul ended it.
    if fouls == {"forfeit"}:
        return "adjudication"
    return "time forfeit" if fouls <= {"late", "forfeit"} else "rules infraction"


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def decisions_csv(folder: Folder, seats: int) -> Iterator[bytes]:
    """Yield a line for each decision of the first so many reviewed seats.

    `choice` and `best` are options in words; `loss`, for means, and `gap`, the difference of their
    values, with its standard `error` are in points, `percent_loss` and `percent_gap` in percent of
    the game; `exact` is 1 where the endgame was solved. Raises DamagedFileError.
    """
    rows = (
        (
            *(seat.game, seat.board, seat.seat, seat.entrant, loss.number, loss.round),
            *(loss.phase, loss.kind, len(loss.values), loss.chosen, loss.better),
            *(loss.loss, round(loss.gap, 3), loss.error, loss.percent_loss, loss.percent_gap),
            int(loss.exact),
        )
        for seat, _ in zip(read_seats(folder), range(seats), strict=False)
        for loss in seat.decisions
    )
    return csv_lines(DECISIONS, rows)


# Long files in pieces: one that follows from the same results as in the last report is copied.


class _Piece(NamedTuple):
    """A piece of a file."""

    source: str
    """The digest of its results."""
    size: Annotated[int, Meta(ge=0)]
    """Its bytes."""


class _KeptFile(Struct, frozen=True):
    """A file that the last report wrote."""

    state: FileState
    pieces: list[_Piece]


class _Kept(Struct, frozen=True):
    """The files that the last report wrote, and what they follow from besides the results."""

    context: str
    files: dict[str, _KeptFile]


class FilePieces:
    """The files of an event that have a line or more for each game, in pieces.

    They are most of what a report writes, and perhaps only twenty of 100,000 games are new. Pieces
    are copied if nobody has touched the file since. A game's lines follow from its result, from its
    log's name, which stays, and from what the `_context` has. Luck may come later: a report with
    luck copies nothing.
    """

    def __init__(self, book: Book | None = None) -> None:
        """Read what the last report kept, if it was made by the same code; copy nothing without."""
        self._old: dict[str, _KeptFile] = {}
        self._new: dict[Path, list[_Piece]] = {}
        self._path = book.folder.pieces if book else None
        self._context = _context(book) if book else ""
        with suppress(OSError, UserError, DamagedRecordError):
            kept = decode_json(read_file(self._path), _Kept) if self._path else None
            if kept and kept.context == self._context:
                self._old = kept.files

    def write(
        self,
        path: Path,
        head: bytes,
        results: Sequence[Result],
        encode: Callable[[Sequence[Result]], bytes],
    ) -> Iterator[bytes]:
        """Yield a file: the head, and the pieces of so many results each that `encode` returns."""
        pieces = self._new[path] = []
        with ExitStack() as stack:
            old: list[_Piece] = []
            with suppress(OSError, UserError):
                file = stack.enter_context(open_file(path))
                file.seek(len(head))
                old = self._untouched(path, len(head))
            yield head
            firsts = range(0, len(results), FILE_LINES_AT_ONCE)
            for first, known in zip_longest(firsts, old[: len(firsts)]):
                few = results[first : first + FILE_LINES_AT_ONCE]
                source = few.digest if isinstance(few, Rows) else ""
                data = file.read(known.size) if known else b""
                if not known or known.source != source:
                    data = encode(few)
                pieces.append(_Piece(source, len(data)))
                yield data

    def _untouched(self, path: Path, head: int) -> list[_Piece]:
        """Return the pieces after a head of so many bytes; none if the file is not as it was."""
        kept = self._old.get(path.name)
        if not kept or kept.state != state_of(path):
            return []
        size = head + sum(piece.size for piece in kept.pieces)
        return kept.pieces if size == kept.state[0] else []

    def keep(self) -> None:
        """Keep what was written for the next report; it does without, as on a full disk."""
        if self._path:
            with suppress(OSError, UserError):
                files = {
                    path.name: _KeptFile(state_of(path), pieces)
                    for path, pieces in self._new.items()
                }
                kept = encode_json(_Kept(self._context, files))
                write_atomic(self._path, [kept], 0o600, sync=False)


def _context(book: Book) -> str:
    """Return the hash of what all pieces follow from, the code that writes them among it."""
    code = b"".join(Path(file).read_bytes() for file in (__file__, tables.__file__))
    event, digest = book.event, hashlib.blake2b(code, digest_size=16)
    digest.update(encode_json((__version__, event.heading, event.seats, event.rules)))
    return digest.hexdigest()


# --- the report ---


class SitePage(NamedTuple):
    """The facts by which the first page of a site differs from the report in the event's folder."""

    boards: Collection[int]
    """The boards whose games are shown one by one: their seeds are revealed."""
    address: str
    """The site's address, which ends with a slash; empty if it is not known."""
    links: Sequence[tuple[str, str]] = ()
    """Addresses of pages around the site, and their labels."""


def write_report(book: Book) -> tuple[Path, ...]:
    """Write the report's files, all or none; return their paths. Raises UserError, OSError."""
    pieces = FilePieces(None if book.corrections else book)
    files = report_files(book, pieces=pieces)
    replace_files(files)
    pieces.keep()
    return tuple(files)


def report_files(
    book: Book,
    site: SitePage | None = None,
    facts: LogFacts | None = None,
    pieces: FilePieces | None = None,
) -> dict[Path, Iterable[bytes]]:
    """Return the report's files, in their order, with the facts of the logs, which are kept.

    Each comes in parts that can be read once. For a `site` they show the standings after all
    results, but single games only of its boards. `facts`: those, if others than the logs have.
    `pieces`: what the last report wrote; None: all is written anew.
    """
    folder, event, results = book.folder, book.event, book.played
    listed_results = results if site is None else [r for r in results if r.board in site.boards]
    listed = {result.game for result in listable(listed_results)}
    # Before the facts, which stay: to fit the ratings of a million games takes 220 MB for a while.
    ratings, corrections = book.ratings, book.corrections
    facts = facts or keep_facts(folder, book.results, listed)
    summary = Results(
        event=terms_of(event),
        entrants=versions_of(event),
        played=len(results),
        planned=book.planned,
        commitments=digest(folder),
        latecomers=book.latecomers,
        sandboxes=facts.sandboxes,
        ratings=ratings.stored,
        luck=luck_used(book.luck, corrections) if corrections else None,
        scaling=tuple(curve for pool in ratings.pools for curve in scalings(event, pool)) or UNSET,
        search=search_steps(book) or UNSET,
    )
    fingerprints = {entrant.name: entrant.fingerprint for entrant in event.entrants}
    warnings = event_text.warnings(book, summary, names_copies=facts.names_copies)
    notes = [*warnings, *describe_spent_out(event, book.results)]
    if withheld := len(results) - len(listed_results):
        notes.append(
            f"{withheld} games on boards that are still played count here, but are not shown yet."
        )
    review = read_summary(folder)
    data = ReportData(
        *(book, listed_results, summary.commitments, notes, facts, review, summary.luck)
    )
    document = report_document(data)
    share = SharedText(event_text.main_result(book), site is not None, *(site[1:] if site else ()))
    links = [(folder.index.name if site else folder.page.name, "Report"), *share.links]
    replay_page = event_replay_page(event.emblems, links)
    partners, places = event.rules.deal.partners, book.index(lambda plan, _: plan.name)

    def encode_games(few: Sequence[Result]) -> bytes:
        return encode_rows(game_rows(few, places, partners, book.luck))

    def encode_pgn(few: Sequence[Result]) -> bytes:
        return pgn(event.heading, few, partners)

    write, head = (pieces or FilePieces()).write, encode_rows([GAME_FIELDS])
    return {
        folder.report: [to_markdown(document).encode()],
        folder.page: [report_page(document, share, event.emblems).encode()],
        folder.replay_page: [replay_page.encode()],
        folder.times: [indented_json(facts.times), b"\n"],
        folder.results: [indented_json(summary), b"\n"],
        folder.games: write(folder.games, head, listed_results, encode_games),
        folder.ratings: ratings_csv(ratings, fingerprints),
        folder.crosstable: crosstable_csv(ratings),
        folder.pgn: write(folder.pgn, b"", listed_results, encode_pgn),
    }
