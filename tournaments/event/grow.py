"""Begin an event in its folder, or continue it with the same plan or an extended one.

A run that is refused leaves its folder as it was, and no folder where there was none.
"""

import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from typing import Literal

from msgspec import UNSET
from msgspec.structs import replace

from arena.analysis.find import RUNS
from arena.engine.shuffle import commitment
from arena.files import has_content, write_atomic
from arena.logs.catalog import published_seeds
from arena.logs.checksummed import status_of
from arena.logs.gamelog import read_games
from arena.rules.english import count_in_digits
from arena.rules.load import find_overrides
from arena.ui.console import shown_path, track
from protocol.codec import encode_json, encode_line
from protocol.errors import UserError, unknown_name
from protocol.records import Commitment
from protocol.ruleset import playable_seat_counts
from tournaments.event.book import (
    Before,
    Book,
    board_spans,
    hash_commitments,
    read_history,
)
from tournaments.event.folder import (
    SECRET,
    Folder,
    SeedOf,
    check_not_readable,
    content,
    load_event,
    lock_for_writing,
    make_private,
    read_event,
    secret_of,
    seed_lines,
)
from tournaments.formats.base import Entrant, first_version, plain_name, version_number
from tournaments.formats.tables import RoundRobin
from tournaments.plan.bots import files_below, keeps_versions, kept_number, slug
from tournaments.plan.event import (
    COMPARISON_SIGNS,
    Event,
    WrittenBot,
    as_json,
    describe_repeats,
    describe_withdrawals,
    parse_filter,
    repeated_deals,
)
from tournaments.plan.read_plan import EventPlan, SetBoard, SetDeals, draw_seed, too_few_deals

FIXED = {
    "name": "the event's name",
    "rules": "the rules",
    "seats": "the number of seats",
    "boards_a_sitting": "the format",
    "clock": "the clock",
    "fouls": "what a foul costs",
    "sandbox": "the sandbox",
    "limits": "the limits of bots",
    "predictable": "the seed",
    "deals_set": "where the deals come from",
    "deals_with": "the filters of deals",
    "position": "the position",
}
"""Parts of a plan that cannot change, with their names for the user."""


def withdrawn_entrants(folder: Folder, names: Iterable[str]) -> dict[str, Entrant]:
    """Return the bots of these names as the folder's event has them, withdrawn, by name.

    A bot that withdraws now counts as withdrawn after the last board whose deals are public.
    Raises UserError without an event, and for a bot that does not play in it.
    """
    if not (names := [*names]):
        return {}
    if not folder.event.is_file():
        raise UserError(
            f"Bot {names[0]} cannot withdraw before the event has begun: leave it out (bots)."
        )
    last = max(Book(folder).shown_boards, default=0)
    entrants = load_event(folder).entrants
    playing = {first_version(bot.name): bot for bot in entrants if not bot.is_replaced}
    if unknown := next((name for name in names if name not in playing), None):
        raise unknown_name("bot in withdrawn:", unknown, playing)
    return {name: _withdrawn(playing[name], name, last) for name in names}


def _withdrawn(bot: Entrant, name: str, last: int) -> Entrant:
    after = last if bot.withdrawn_after is UNSET else bot.withdrawn_after
    return replace(bot, name=name, retired=True, withdrawn_after=after)


def resolve_versions(
    old: Event,
    new: Event,
    played: Container[str],
    number_of: Callable[[Entrant], int] | None = None,
) -> Event:
    """Return the new plan with the versions of the old plan's entrants.

    An entrant whose files are those of an earlier version is that version. Any other files make a
    new version: `mine` becomes `mine@2`, and the earlier one is retired, unless none of its games
    was `played`. A plan that names no anchor keeps the old one's. `number_of`: the least number of
    a new version.
    """
    names = {bot.name: _version(old, bot, played, number_of) for bot in new.entrants}
    renamed = [replace(bot, name=names[bot.name]) for bot in new.entrants]
    # One that played already keeps its first board.
    first = {_key(bot): bot.first_board for bot in old.entrants}
    active = [replace(bot, first_board=first.get(_key(bot), bot.first_board)) for bot in renamed]
    retirees = [
        replace(bot, retired=True)
        for bot in old.entrants
        if bot.name not in names.values()
        and first_version(bot.name) in names
        and bot.name in played
    ]
    form = new.format.renamed(names)
    teams = tuple((names.get(a, a), names.get(b, b)) for a, b in new.teams)
    entrants = (*active, *retirees)
    anchor = old.anchor
    if new.anchor:
        anchor = replace(new.anchor, name=names.get(new.anchor.name, new.anchor.name))
    elif anchor and anchor.name not in {bot.name for bot in entrants}:
        # An anchor that the plan removes is refused by `incompatibility`, in words of its own.
        after = names.get(first_version(anchor.name))
        anchor = replace(anchor, name=after) if after else None
    title = new.title or old.title
    return replace(new, title=title, entrants=entrants, format=form, teams=teams, anchor=anchor)


def _key(entrant: Entrant) -> tuple[str, str]:
    return entrant.name, entrant.fingerprint


def newcomers(old: Event, new: Event) -> frozenset[str]:
    """Return the names in the new plan of bots that are new or have other files now."""
    before = set(map(_key, old.entrants))
    return frozenset(bot.name for bot in new.entrants if _key(bot) not in before)


def delayed(new: Event, late: Container[str], first_board: int) -> Event:
    """Return the new plan with these bots playing only from this board on."""
    entrants = (
        replace(bot, first_board=first_board) if bot.name in late else bot for bot in new.entrants
    )
    return replace(new, entrants=tuple(entrants))


def _version(
    old: Event,
    entrant: Entrant,
    played: Container[str],
    number_of: Callable[[Entrant], int] | None,
) -> str:
    """Return the version of a bot in the event, by its files."""
    before = [bot for bot in old.entrants if first_version(bot.name) == entrant.name]
    for bot in before:
        if bot.fingerprint == entrant.fingerprint:
            return bot.name
    last = max((bot.name for bot in before if bot.name in played), key=version_number, default=None)
    if last is None:
        return entrant.name
    least = number_of(entrant) if number_of else 0
    return f"{entrant.name}@{max(version_number(last) + 1, least)}"


def new_versions(old: Event, new: Event) -> Iterator[tuple[str, str]]:
    """Yield each version that is retired now, with the version that replaces it."""
    playing = {first_version(bot.name): bot.name for bot in new.entrants if not bot.is_replaced}
    for name in sorted(new.replaced - old.replaced):
        yield name, playing[first_version(name)]


def incompatibility(old: Event, new: Event) -> str | None:
    """Return why the new plan cannot extend the event; None if it can, without losing anything."""
    # Limits of unavailability and of cost change no game.
    may = {name: getattr(new.limits, name) for name in ("unavailable", "cents")}
    old = replace(old, limits=replace(old.limits, **may))
    fixed = [words for name, words in FIXED.items() if getattr(old, name) != getattr(new, name)]
    if fixed:
        return f"{' and '.join(fixed)} cannot change"
    names = {entrant.name for entrant in new.entrants}
    playing = {first_version(entrant.name) for entrant in new.entrants if not entrant.retired}
    for entrant in old.entrants:
        if entrant.name not in names and first_version(entrant.name) not in map(
            first_version, names
        ):
            fault = f"bot {entrant.name} cannot be removed"
            twins = [name for name in names if plain_name(name) == plain_name(entrant.name)]
            clock = f"; with another clock it is another bot, {', '.join(sorted(twins))}"
            way = "; an event file can keep it and name it in `withdrawn`"
            return f"{fault}{clock if twins else way}"
        if entrant.withdrawn_after is not UNSET and first_version(entrant.name) in playing:
            why = "deals may have become public that it would meet"
            return f"bot {entrant.name} has withdrawn and cannot come back (withdrawn): {why}"
    if new.boards < old.boards:
        return f"it has {old.boards} boards and cannot have fewer (boards)"
    return old.format.why_not_extended(old, new)


FreshBoards = Literal["newcomers", "versions", ""]
"""The bots that play only boards whose deals nobody has seen: all that join now, those of a bot
whose files changed (unless the deals are set, for there may be no others), or none."""


class CannotExtendError(UserError):
    """The plan cannot extend the event in its folder."""


def open_event(
    folder: Folder,
    event: Event,
    seed: int | None,
    deals: SetDeals | None = None,
    fresh: FreshBoards = "",
) -> tuple[Book, list[str]]:
    """Write the event, its secret and its commitments; return its book and notes for the user.

    An event that the folder holds already is continued: unchanged, or extended, with versions of
    its entrants. `deals`: those that the organiser sets. `fresh`: the bots that play only boards
    whose deals nobody has seen.

    Raises CannotExtendError, UserError and DamagedFileError.
    """
    check_not_readable(folder, event.entrants, event.sandbox, deals and deals.source)
    if not folder.event.exists():
        # Whatever a killed run left here was never published.
        make_private(folder)
        secret = secrets.token_bytes(SECRET) if seed is None else seeded(seed)
        write_atomic(folder.secret, [secret], 0o600)
        seed_of = _planned_seeds(Book(folder, event), deals)
        event = _planned_repeats(event, seed_of)
        _write_boards(Book(folder, event), seed_of)
        # Last, so that a folder with an event has all other files.
        write_atomic(folder.event, [as_json(event)])
        return Book(folder, event), [*filter(None, [describe_repeats(event)])]
    old_book = Book(folder)
    old = old_book.event
    # One number for one version, in the event and wherever a bot is named.
    number_of = kept_number if keeps_versions(folder.path) else None
    event = resolve_versions(old, event, _Played(folder), number_of)
    public = old_book.shown_boards if _matters(old, event) else frozenset[int]()
    if fresh and public:
        late = newcomers(old, event)
        if fresh == "versions":
            late &= {after for _, after in new_versions(old, event) if event.has_drawn_seeds}
        event = delayed(event, late, max(public) + 1)
    if forbidden := incompatibility(old, event):
        raise CannotExtendError(
            f"{shown_path(folder.path)} has an event that this plan cannot extend: {forbidden}. "
            "Choose another folder (--out)."
        )
    seed_of = _planned_seeds(Book(folder, event), deals)
    event = _planned_repeats(event, seed_of)
    book = old_book.replanned(event)
    _check_promises(book, old, seed_of)
    if seed is not None and secret_of(folder) != seeded(seed):
        raise UserError(
            f"{folder.path} has an event with another --seed. Choose another folder (--out)."
        )
    notes = _go_on(book, old, public, seed_of)
    return book, [*filter(None, [describe_repeats(event)]), *notes]


def _planned_seeds(book: Book, deals: SetDeals | None) -> SeedOf:
    """Return the function from a board to its seed. Raises UserError, DamagedFileError."""
    folder, event = book.folder, book.event
    if event.has_drawn_seeds:
        return book.seed_of
    secret, boards = secret_of(folder), range(1, event.all_boards + 1)
    set_boards = deals.boards if deals else (SetBoard(),) * len(boards)
    if deals and len(set_boards) < len(boards):
        raise too_few_deals(deals, len(boards))
    # Drawing deals for a filter can take long.
    seeds = {} if deals else published_seeds(folder.deals) if folder.event.exists() else {}
    return {
        board: seeds.get(board) or draw_seed(event, secret, board, set_boards[board - 1])
        for board in track(boards, "Deals drawn", len(boards))
    }.__getitem__


def _planned_repeats(event: Event, seed_of: SeedOf) -> Event:
    """Return the event with its boards that repeat a deal."""
    drawn = event.has_drawn_seeds
    return with_repeats(
        event, {} if drawn else {n: seed_of(n) for n in range(1, event.all_boards + 1)}
    )


def with_repeats(event: Event, seeds: Mapping[int, bytes]) -> Event:
    """Return the event with those boards of these seeds that repeat a deal."""
    repeats = repeated_deals(event.rules, event.seats, seeds)
    return replace(event, repeats=tuple(repeats.items()))


def _write_boards(book: Book, seed_of: SeedOf) -> None:
    """Write the seeds that are not just drawn, and then the commitments to all."""
    folder, event = book.folder, book.event
    if not event.has_drawn_seeds:
        seeds = {board: seed_of(board) for board in range(1, event.all_boards + 1)}
        write_atomic(folder.deals, seed_lines(seeds), 0o600)
    write_atomic(folder.commitments, commitments(event, seed_of))


def _check_promises(book: Book, old: Event, seed_of: SeedOf) -> None:
    """Refuse to play deals that differ from those committed to."""
    folder, event = book.folder, book.event
    # A killed extension may have left more lines than the old plan has.
    for boards in (old.all_boards, event.all_boards):
        if has_content(folder.commitments, islice(commitments(event, seed_of), boards)):
            break
    else:
        if event.deals_set:
            raise UserError(
                f"{shown_path(folder.path)} has an event with other deals than those given now. "
                "Restore its deals, or choose another folder (--out)."
            )
        raise UserError(
            f"{folder.commitments} does not match {folder.secret.name}: one of them is damaged."
        )


def _go_on(book: Book, old: Event, public: Collection[int], seed_of: SeedOf) -> list[str]:
    """Replace the plan, after adding the old one to the history; return notes for the user."""
    folder, event = book.folder, book.event
    if _matters(old, event):
        _remember(Book(folder, old), public)
    _write_boards(book, seed_of)
    if event == old:
        return []
    write_atomic(folder.event, [as_json(event)])
    return list(_changes(old, event, public))


def _remember(old: Book, public: Iterable[int]) -> None:
    """Add the plan that is about to be replaced, once, with the boards whose deals are public.

    Raises DamagedFileError, OSError.
    """
    folder, event = old.folder, old.event
    entrants = {entrant.name: entrant.fingerprint for entrant in event.entrants}
    digest = hash_commitments(folder, event.all_boards)
    before = Before(event.all_boards, digest, board_spans(public), entrants)
    plans = list(read_history(folder))
    # An earlier call may have been killed between this line and the new plan.
    if before not in plans[-1:]:
        write_atomic(folder.history, (encode_json(plan) + b"\n" for plan in (*plans, before)))


def _matters(old: Event, event: Event) -> bool:
    """Tell whether there are new boards to commit to, or new entrants."""
    return old.all_boards != event.all_boards or bool(newcomers(old, event))


def _changes(old: Event, event: Event, public: Collection[int]) -> Iterator[str]:
    known = {*describe_withdrawals(old)}
    yield from (text for text in describe_withdrawals(event) if text not in known)
    for before, after in new_versions(old, event):
        yield (
            f"The files of bot {before} have changed. The new version plays as {after}; the "
            f"results of {before} are kept and rated separately.{_newest_file(event, after)}"
        )
    new = [bot for bot in event.entrants if bot.name in newcomers(old, event)]
    if met := [bot.name for bot in new if any(board >= bot.first_board for board in public)]:
        boards = count_in_digits(len(public), "board")
        yield (
            f"Note: {' and '.join(met)} will also play {boards} whose deals were already public. "
            "With --fresh-boards new bots play only on boards that nobody has seen."
        )


def _newest_file(event: Event, name: str) -> str:
    """Return the file of an entrant that was changed last, as a sentence; empty without files."""
    (folders,) = (bot.command.own for bot in event.entrants if bot.name == name)
    times = {path: path.stat().st_mtime for path in files_below(folders)}
    newest = max(times, key=times.__getitem__, default=None)
    return f" Its newest file is {shown_path(newest)}." if newest else ""


class _Played:
    """Entrants that have a result in the game logs."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def __contains__(self, name: object) -> bool:
        logs = (path for path in self._folder.logs() if name in path.stem.split("."))
        return any(game.result for path in logs for game in read_games(path))


def seeded(seed: int) -> bytes:
    """Return the secret that a --seed determines."""
    return hashlib.sha256(f"boneyard seed|{seed}".encode()).digest()


def commitments(event: Event, seed_of: SeedOf) -> Iterator[bytes]:
    """Yield the lines that commit to the event's deals."""
    for board in range(1, event.all_boards + 1):
        yield encode_line(Commitment(board, commitment(seed_of(board))))


@contextmanager
def held_unless_refused(folder: Folder, publish: Callable[[], None]) -> Iterator[None]:
    """Hold the folder for writing; after a UserError undo what was written, if nothing was played.

    `publish`: writes the reports again. Raises UserError, OSError.
    """
    place = folder.path
    new_folders = [path for path in (place, *place.parents) if not os.path.lexists(path)]
    entries = _entries(place)
    with lock_for_writing(folder):
        # The files that change with the plan, the plan last.
        plan = folder.history, folder.commitments, folder.event
        before = {path: content(path) for path in plan}
        logs = _sizes(folder)
        try:
            yield
        except UserError:
            if _sizes(folder).items() <= logs.items():
                if before[folder.event]:
                    _restore(folder, before, publish)
                else:
                    _remove(_entries(place) - entries, new_folders)
            raise


def _sizes(folder: Folder) -> dict[Path, int]:
    """Return the sizes of the game logs: a game that was played makes one larger."""
    return {path: status_of(path).st_size for path in folder.logs()}


def _restore(folder: Folder, before: dict[Path, bytes], publish: Callable[[], None]) -> None:
    if content(folder.event) == before[folder.event]:
        return
    for path, data in before.items():
        if data:
            write_atomic(path, [data])
        else:
            path.unlink(missing_ok=True)
    with suppress(UserError):
        publish()


def _entries(folder: Path) -> set[Path]:
    with suppress(OSError):
        return {*folder.iterdir()}
    return set()


def _remove(new: Iterable[Path], folders: Iterable[Path]) -> None:
    """Remove what is new in a folder, and the folders that were made for it."""
    for path in new:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            with suppress(PermissionError):  # Windows removes no open file: the lock is one.
                path.unlink(missing_ok=True)
    with suppress(OSError):
        for path in folders:
            path.rmdir()


BOTS_NAMED = 4
"""The most bots whose names all stand in a folder's name; of more bots, one fewer is named."""
MAX_NAMES_LENGTH = 100
"""The most characters of the bots' names in a folder's name."""

SOURCE = 30
"""The most characters of the name of a file of deals in a folder's name."""


def choose_folders(plan: EventPlan, seed: int | None) -> Iterator[tuple[Path, str]]:
    """Yield the folders of a plan for which the user names none, each with a sentence about it.

    An event file has one folder: `out`, or `runs/` and its name. Bots on the command line have a
    folder for each different event, told apart by its name or by a number at its end. First come
    the folders with this event, perhaps with other files of a bot, and then one that is free.
    """
    if plan.file:
        default = Path(RUNS, plan.config.name or slug(plan.file.stem))
        path = plan.base / plan.config.out if plan.config.out else default
        yield path, f"Folder: {path}"
        return
    name = event_name(plan, seed)
    for number in count(1):
        path = Path(RUNS, name if number == 1 else f"{name}-{number}")
        old = None
        with suppress(UserError):
            old = read_event(Folder(path))
        if old is None:
            others = f", because {RUNS}/{name} has another event" if number > 1 else ""
            yield path, f"Folder: {path}{others}"
            return
        if _is_same(old, plan):
            yield path, f"Folder: {path}, which has this event already"


def event_name(plan: EventPlan, seed: int | None) -> str:
    """Name an event after its bots, its rules, and what is unusual about it."""
    bots = [bot.name for bot in plan.config.bots]
    names = bots if len(bots) <= BOTS_NAMED else bots[: BOTS_NAMED - 1]
    while len("-".join(names)) > MAX_NAMES_LENGTH:
        names = names[:-1]
    parts = [*names, *([f"and-{len(bots) - len(names)}-more"] if len(names) < len(bots) else [])]
    return "-".join([*parts, slug(plan.rules.name), *_unusual(plan, seed)])


def _unusual(plan: EventPlan, seed: int | None) -> Iterator[str]:
    event, rules = plan.config, plan.rules
    for word in find_overrides(rules) or ():
        yield slug(word)
    seats = event.seats_at_table(rules)
    if seats != playable_seat_counts(rules)[0]:
        yield f"{seats}-seats"
    if not isinstance(event.format, RoundRobin):
        yield event.format.name
    if event.clock.move_ms != type(event.clock)().move_ms:
        yield f"{event.clock.move_ms}-ms"
    if event.clock.effort:
        yield f"{event.clock.effort}M"
    if event.clock.forced == "ask":
        yield "ask-forced"
    if event.sealed:
        yield "sealed"
    if event.sandbox != "auto":
        yield f"sandbox-{event.sandbox}"
    if event.position:
        yield f"from-{hashlib.sha256(event.position.encode()).hexdigest()[:8]}"
    if plan.deals:
        yield f"deals-{slug(plan.deals.source.stem)[:SOURCE]}"
    for rule in map(parse_filter, event.deals_with):
        yield slug(f"{rule.measure}-{COMPARISON_SIGNS[rule.sign][0]}-{rule.number}")
    if seed is not None:
        yield f"seed-{seed}"


def _is_same(old: Event, plan: EventPlan) -> bool:
    """Tell whether a plan of the same bots continues an event, whatever their files are now."""
    playing = {first_version(bot.name): bot for bot in old.entrants if not bot.retired}
    names = [bot.name for bot in plan.config.bots]
    if playing.keys() != set(names):
        return False
    if any(_is_another(playing[bot.name], bot) for bot in plan.config.bots):
        return False
    new = plan.with_boards_of(old).event([replace(playing[name], name=name) for name in names])
    return incompatibility(replace(old, entrants=new.entrants, anchor=new.anchor), new) is None


def _is_another(old: Entrant, bot: WrittenBot) -> bool:
    """Tell whether a bot of the same name has other files, and the old ones are still there."""
    files = {word for word in (bot.folder, *bot.run) if word and Path(word).is_absolute()}
    old_files = old.command.own
    return bool(files and old_files) and files.isdisjoint(old_files) and Path(old_files[0]).exists()
