"""Files that follow from an event's plan, ledger and logs: made again, and compared.

Which version wrote a file only the file says, and a forger can change that: another version's file
counts as changed.
"""

import hashlib
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from arena.files import DamagedFileError, has_content, read_file
from arena.logs.catalog import GAMES_FOLDER, REPLAY_ENDING, SittingLogs
from arena.logs.checksummed import read_sealed
from arena.logs.gamelog import LoggedGame, read_games
from arena.machine import cores
from arena.processes import ShowProgress, map_tasks
from arena.ui.replay_page import is_reviewed, pack_game, replay_script, valid_games
from arena.valuation.terms import USUAL_TERMS, LuckTerms
from protocol.codec import DamagedRecordError, decode_json
from tournaments.event.book import Book
from tournaments.event.facts import log_facts
from tournaments.event.folder import Folder, digest
from tournaments.event.luck import (
    LUCK_REMEDY,
    LearnTask,
    LuckRecord,
    LuckStore,
    Policies,
    PolicyRecord,
    ReviewTerms,
    SeatLosses,
    decode_luck,
    learn,
    learn_task,
    on_all_cores,
    read_seats,
    read_terms,
    terms_of_game,
)
from tournaments.report.report import decisions_csv, report_files
from tournaments.report.results_file import Results
from tournaments.report.review import read_summary, summarize_review, summary_json
from tournaments.study.valuation import (
    ReviewTask,
    compute_tasks,
    luck_tasks,
    review_part,
)

REVIEWED_SEATS = 3
"""Seats that are reviewed again: all would take as long as the review."""
REPLAYS_A_PROCESS = 100
"""Replays for which a process is started."""
ROUNDING = 0.002
"""The difference in points, or percent of the game, that another machine's arithmetic may make."""


def _changed(path: Path, sources: str, command: str, remedy: str = "Write it again") -> str:
    return (
        f"{path}: does not follow from {sources}, or another version of Boneyard wrote it. "
        f"{remedy}: `boneyard {command}`"
    )


# --- the report ---


def is_site(folder: Folder) -> bool:
    """Tell whether a folder is the site of an event."""
    return folder.index.exists() and not folder.page.exists()


def report_faults(book: Book, suspects: Collection[Path]) -> Generator[str, None, Results]:
    """Yield the report's files that do not follow from the ledger and the logs of their time.

    The files in `suspects` are left out: they show logs that are known to be wrong. Return the
    content of results.json. Raises DamagedFileError.
    """
    folder, event = book.folder, book.event
    try:
        summary = decode_json(read_file(folder.results), Results)
    except DamagedRecordError as error:
        raise DamagedFileError(f"{folder.results}: {error}") from error
    if summary.commitments != digest(folder):
        yield f"{folder.commitments}: its SHA-256 is not the one in {folder.results.name}"
    results = book.results.beginning(summary.played)
    luck = LuckStore(folder, event, most=summary.luck.lines if summary.luck else 0)
    facts = log_facts(folder, results)
    facts = facts.public if is_site(folder) else facts
    now, old = (sum(box.sittings for box in part.sandboxes) for part in (facts, summary))
    if now < old:
        # A log is gone, which another check reports.
        facts = replace(facts, sandboxes=summary.sandboxes)
    # The first page of a site takes the place of the report's page, and its pages lead elsewhere.
    site = {folder.page, folder.replay_page} if is_site(folder) else set[Path]()
    sources = "the ledger, the logs and the commitments"
    for path, lines in report_files(Book(folder, event, results, luck), facts=facts).items():
        if path not in site.union(suspects) and not has_content(path, lines):
            yield _changed(path, sources, f"report {folder.path}")
    return summary


# --- replays ---


def replay_faults(folder: Folder, logs: Sequence[Path]) -> Iterator[str]:
    """Yield the replays that do not show what their finished log says.

    A game without a replay is no fault: not every run makes replays.
    """
    games = sum(1 for _ in folder.replays.glob(f"*{REPLAY_ENDING}"))
    # A process takes as long to start as some dozens of replays.
    few = max(1, min(games // REPLAYS_A_PROCESS, cores()))
    command = "publish" if is_site(folder) else f"replay {folder.path} --html"
    for wrong in map_tasks(wrong_replays, logs if games else (), few):
        for path in wrong:
            # A replay newer than its log is not made again: remove it first.
            yield _changed(path, "its log", command, "Remove it and make it again")


def wrong_replays(log: Path) -> list[Path]:
    """Return the replays of a log's games that do not follow from it.

    Reviewed ones of a site are left out: they may follow from an earlier review. Raises
    DamagedFileError, OSError.
    """
    folder = Folder(log.parents[1])
    replays = [
        (folder.replays / f"{logged.game.game}{REPLAY_ENDING}", logged)
        for logged in valid_games(read_games(log))
    ]
    return [path for path, logged in replays if path.exists() and _is_wrong(folder, path, logged)]


def _is_wrong(folder: Folder, path: Path, logged: LoggedGame) -> bool:
    terms: tuple[LuckTerms | None, ...] = (None,)
    if is_reviewed(path):
        if is_site(folder):
            return False
        # A reviewed replay may be older than luck.jsonl, or have its terms.
        terms = terms_of_game(folder.path, logged), USUAL_TERMS
    scripts = (replay_script(pack_game(logged, terms=option)) for option in terms)
    return not any(has_content(path, [script.encode()]) for script in scripts)


# --- luck ---


def luck_faults(book: Book, progress: ShowProgress) -> Iterator[str]:
    """Yield every figure of luck.jsonl that does not follow from the logs of its games."""
    folder = book.folder
    records: dict[str, LuckRecord] = {}
    policies: Policies = {}
    try:
        for entry in read_sealed(folder.luck, decode_luck, LUCK_REMEDY):
            record = entry.record
            if isinstance(record, PolicyRecord):
                policies[record.entrant, record.boards] = record
                continue
            if record.game in records:
                yield f"{folder.luck}: {record.game} is there twice"
            records[record.game] = record
    except DamagedFileError as error:
        yield f"{error}; the luck of no later game was checked"
    yield from _policy_faults(folder, policies)
    tasks = luck_tasks(book, records, policies)
    strange = set(records).difference(*(task.games for task in tasks))
    yield from (f"{folder.luck}: {game} is not in the schedule" for game in sorted(strange))
    for task, luck in compute_tasks(tasks, len(records), progress):
        new_records = {record.game: asdict(record) for record in luck.records}
        for game in task.games:
            if game not in new_records:
                yield f"{folder.luck}: the luck of {game} is not confirmed by a log"
            for name, figure in new_records.get(game, {}).items():
                if (claim := getattr(records[game], name)) != figure:
                    yield f"{folder.luck}: {game}: {name} is {claim}, but its log gives {figure}"


def _policy_faults(folder: Folder, policies: Policies) -> Iterator[str]:
    """Yield each policy that its games do not teach, or that has seen a later board."""
    logs, head = SittingLogs(folder.path / GAMES_FOLDER), f"{folder.luck}: the policy of"
    tasks = list[LearnTask]()
    for policy in policies.values():
        played = [game.split(".") for game in policy.games]
        if all(int(board) <= policy.boards and policy.entrant in seats for board, *seats in played):
            tasks.append(learn_task(logs, policy.entrant, policy.games, [policy.boards]))
        else:
            yield f"{head} {policy.entrant} after board {policy.boards} has learnt from other games"
    for (learnt,) in on_all_cores(learn, tasks):
        if learnt != policies[learnt.entrant, learnt.boards]:
            yield f"{head} {learnt.entrant} after board {learnt.boards} is not what games teach"


# --- the review ---


def review_faults(book: Book) -> Iterator[str]:
    """Yield the faults of an event's review.

    A sample of seats is reviewed again, chosen by the bytes of the whole file. Whoever forges a
    line can try until the sample misses it. Raises DamagedFileError.
    """
    folder, event, results = book.folder, book.event, book.results
    terms = read_terms(folder)
    if terms is None:
        if folder.review.exists():
            yield f"{folder.review}: {folder.review_log.name}, from which it follows, is missing"
        return
    keys: set[tuple[str, int]] = set()
    for row in read_seats(folder):
        key, result = (row.game, row.seat), results.get(row.game)
        entrant = result.seats[row.seat] if result and row.seat < len(result.seats) else None
        if row.entrant != entrant or key in keys:
            yield f"{folder.review_log}: the ledger has no such seat: seat {row.seat} of {row.game}"
            return
        keys.add(key)
    if summary := read_summary(folder):
        first = islice(read_seats(folder), summary.seats)
        files: dict[Path, Iterable[bytes]] = {
            folder.review: summary_json(summarize_review(terms, first, event.first_board_of)),
            folder.review_csv: decisions_csv(folder, summary.seats),
        }
        for path, lines in files.items():
            if not has_content(path, lines):
                yield _changed(path, folder.review_log.name, f"explain {folder.path} --review")
    file_hash = hashlib.sha256(read_file(folder.review_log)).digest()

    def lot_of(row: SeatLosses) -> bytes:
        return hashlib.sha256(file_hash + f"{row.game} {row.seat}".encode()).digest()

    for row in sorted(read_seats(folder), key=lot_of)[:REVIEWED_SEATS]:
        yield from _value_faults(folder, terms, row)


def _value_faults(folder: Folder, terms: ReviewTerms, losses: SeatLosses) -> Iterator[str]:
    """Yield the difference between a reviewed seat and a new review of it."""
    prefix, why = f"{folder.review_log}: seat {losses.seat} of {losses.game}", list[str]()
    for path in SittingLogs(folder.path / GAMES_FOLDER).of(losses.game):
        reviewed = review_part(ReviewTask(path, losses.game, (losses.seat,), terms))
        why += reviewed.faults
        for fresh in reviewed.seats:
            if not _is_alike(losses, fresh):
                yield f"{prefix}: another review gives other values"
            return
    yield f"{prefix} cannot be reviewed again: {'; '.join(why) or 'no log has the game'}"


def _is_alike(was: object, now: object) -> bool:
    """Tell whether two values are the same but for rounding, with all that is in them."""
    if isinstance(was, Struct) and type(was) is type(now):
        was, now = astuple(was), astuple(now)
    if isinstance(was, tuple) and isinstance(now, tuple):
        return len(was) == len(now) and all(map(_is_alike, was, now))
    close = isinstance(was, float) and isinstance(now, float) and abs(was - now) < ROUNDING
    return close or was == now
