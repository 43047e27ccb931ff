"""The display of a running event: progress, an estimate, live standings."""

import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from types import MappingProxyType, TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.text import Text

from arena.analysis.find import latest_folder
from arena.document.blocks import Document, DocumentBlock, Paragraph, paragraphs, to_markdown
from arena.document.terminal import open_console, print_blocks, renderables
from arena.files import read_file
from arena.rules.english import count_in_digits
from arena.ui.console import print_line, print_note, shown_path, write_in_turn
from protocol.codec import decode_json
from protocol.errors import UserError
from protocol.records import Result
from tournaments.event.book import Book, Ledger, ResultStore
from tournaments.event.facts import Times, describe_same_answers
from tournaments.event.folder import Folder
from tournaments.plan.bots import own_bot
from tournaments.plan.event import Event
from tournaments.rating.sprt import lead_text, separations
from tournaments.rating.tables import LiveRating, fouls_committed, update
from tournaments.report.event_text import (
    format_sections,
    foul_warning,
    question_line,
    result_by_ratings,
    time_limit,
    warnings,
)
from tournaments.report.results_file import Results
from tournaments.report.standings import PROVISIONAL, live_table, pool_sections, scaling_sections
from tournaments.site.status import Counts, EventState, event_state

PROGRESS_LINE_S = 10.0
"""Time between two lines into a pipe, in s."""
STANDINGS_UPDATE_S = 1.0
"""The shortest time between two updates of the live standings, in s."""
TICKS_AT_ONCE = 20
"""Games of an earlier run to add at each new one: bots must not wait for us."""
PROGRESS_FREE_LINES = 4
"""Lines of the terminal that the live table leaves free, besides those of fouls."""
FOULS_KEPT = 3
"""Length of the list of fouls below the live table."""
FOULS_TOLD = 20
"""Fouls that get a line each in a pipe; later ones are only counted."""
NEXT_COMMANDS, LUCK_COMMAND = ("explain{}", "replay{}", "verify{}"), "report --luck{} (narrower ±)"
"""Commands that a user may want after a run; one of them if luck is still in the ratings."""


class Progress:
    """The progress of a run on stderr: a live table in a terminal, occasional lines in a pipe."""

    def __init__(
        self,
        ledger: Ledger,
        fouls: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        """`fouls`: those of each bot's first games, as words for the line about its first one."""
        self._event = event = ledger.book.event
        self._first_fouls = fouls
        self._ledger = ledger
        self._partners = event.rules.deal.partners
        self._console = Console(stderr=True)
        self._is_terminal = self._console.is_terminal
        """Asked once: rich looks at the environment each time, which took half of an update."""
        self._before, self._began = len(ledger.results), time.monotonic()
        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}")
        self._bar = Bar(*columns, console=self._console)
        self._task = self._bar.add_task(
            event.heading, total=ledger.planned, completed=self._before, words=""
        )
        self._shown: RenderableType = self._bar
        # Its own thread draws what is shown then: an update would wait for a stopped terminal.
        self._live = Live(
            console=self._console,
            refresh_per_second=4,
            transient=True,
            get_renderable=lambda: self._shown,
        )
        self._next = self._began + STANDINGS_UPDATE_S
        self._ticks: dict[str, LiveRating] = {}
        self._fouls = 0
        self._last_fouls: deque[str] = deque(maxlen=FOULS_KEPT)
        self._taken_up = 0

    def __enter__(self) -> "Progress":
        """Start the display."""
        if self._is_terminal:
            write_in_turn(self._live.start)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Clear the display for the result."""
        if self._is_terminal:
            write_in_turn(self._live.stop)

    def update(self, result: Result) -> None:
        """Count a finished game."""
        now = time.monotonic()
        self._note_fouls(result)
        if not self._is_terminal:
            return self._line(now)
        state = self._state()
        words = state.describe(self._event.format.ESTIMATE)
        self._bar.update(self._task, completed=state.played, total=state.planned, words=words)
        self._tick()
        if now >= self._next:
            self._next = now + STANDINGS_UPDATE_S
            self._shown = self._table()
        return None

    def _state(self) -> EventState:
        # A run knows better than its folder how many games it began with, and when.
        counts = Counts(self._before, self._ledger.planned, True, 0, self._began)
        return event_state(self._ledger.book, counts, "", time.monotonic())

    def _table(self) -> Group:
        question = question_line(self._ledger.book)
        notes = [Text(PROVISIONAL, "dim"), *([Text(question, "bold")] if question else ())]
        notes += [Text(foul, "red", no_wrap=True, overflow="ellipsis") for foul in self._last_fouls]
        room = max(1, self._console.height - PROGRESS_FREE_LINES - len(self._last_fouls))
        blocks = [] if self._event.format.HAS_COPIES else [live_table(self._ticks)]
        table = renderables(blocks, self._console.width, room)
        return Group(*table, *notes, self._bar)

    def _note_fouls(self, result: Result) -> None:
        """Show the fouls of a game as soon as it ends."""
        for foul in fouls_committed(result):
            self._fouls += 1
            name = result.seats[foul.seat]
            first = self._first_fouls.get(name, ())
            words = f": {first[0]}" if len(first) == 1 else f": {foul.foul}"
            if words == ": late":
                words += f", with {time_limit(self._event, name)}"
            did = "fouled"
            if foul.foul == "gone":
                did, words = "crashed", words if first else ""
            text = f"{name} {did} in {result.game}{words}."
            self._last_fouls.append(text)
            if not self._is_terminal and self._fouls <= FOULS_TOLD:
                more = " Further fouls are only counted." if self._fouls == FOULS_TOLD else ""
                print_note(f"{text}{more}")

    def _tick(self) -> None:
        """Add some of the waiting games of an earlier run to the live standings."""
        for result in self._ledger.results.first()[self._taken_up :][:TICKS_AT_ONCE]:
            self._ticks |= update(self._ticks, result, self._partners)
            self._taken_up += 1

    def _line(self, now: float) -> None:
        if now < self._next:
            return
        self._next = now + PROGRESS_LINE_S
        words = self._state().describe(self._event.format.ESTIMATE)
        question = question_line(self._ledger.book)
        fouls = f" {self._fouls} fouls so far." if self._fouls > FOULS_TOLD else ""
        print_note(f"{words}{fouls} {question}".rstrip())

    @staticmethod
    def final(
        folder: Folder, results: ResultStore | None = None, *, markdown: bool = False
    ) -> None:
        """Print the result in a sentence and the tables; then where the files are, or as Markdown.

        `results`: those of the ledger, if it was read. Markdown is for a comment elsewhere, where
        nobody has the files.
        """
        summary = decode_json(read_file(folder.results), Results)
        book, is_over = Book(folder, results=results), summary.played == summary.planned
        book.planned, book.ratings, event = summary.planned, summary.ratings, book.event
        # A large ledger takes seconds to read: read it only if something depends on it.
        fouls = any(row.fouls for pool in summary.ratings.pools for row in pool.entrants)
        is_static = is_over and event.format.IS_STATIC and not event.teams
        if is_static and not fouls:
            book.results = ResultStore()
        groups = _result_groups(book, summary, is_static=is_static)
        games = f"{summary.played:,} of {summary.planned:,} games"
        if markdown:
            print_line(_comment(event.heading, games, groups))
            return
        console = open_console()
        if len(book.results) > summary.played:
            written = f"{summary.played:,} of {count_in_digits(len(book.results), 'game')}"
            console.print(f"The report could not be written: it has {written}.")
        for place, group in enumerate(groups):
            if place:
                console.print()
            print_blocks(console, group)
        console.print(games, style="bold", end="  ")
        console.print(Text(f"report: {shown_path(folder.page)}"))
        more = (
            NEXT_COMMANDS
            if summary.luck or not book.luck.has_luck
            else (LUCK_COMMAND, *NEXT_COMMANDS)
        )
        commands = (f"boneyard {words.format(_argument(folder))}" for words in more)
        console.print(Text(f"Next: {', '.join(commands)}", style="dim"))


def _comment(heading: str, games: str, groups: Iterator[Sequence[DocumentBlock]]) -> str:
    """Return a result as Markdown that GitHub, GitLab and Forgejo show: tables can be opened."""
    verdict = to_markdown(Document(heading, [*next(groups), Paragraph(f"{games} are played.")]))
    tables = to_markdown(Document("", [*chain.from_iterable(groups)])).removeprefix("# ")
    # A heading of the first size would shout in a comment.
    return f"##{verdict}\n<details><summary>Tables</summary>\n{tables}\n</details>"


def _result_groups(
    book: Book, summary: Results, *, is_static: bool
) -> Iterator[Sequence[DocumentBlock]]:
    """Yield the result in sentences, then each table, then warnings: an empty line is between."""
    event, pools = book.event, summary.ratings.pools
    lead = f"{author_result(book)} {_outlook(summary, event) if is_static else ''}".rstrip()
    yield paragraphs(filter(None, [foul_warning(book), lead]), "strong")
    yield from ([section] for section in format_sections(book))
    for pool in pools:
        yield pool_sections(pool, summary.event.anchor)
    yield from ([section] for section in scaling_sections(event, pools))
    used = decode_json(read_file(book.folder.times), Times)
    notes = (*warnings(book, summary), *describe_same_answers(used.same_bots, event.entrants))
    last = paragraphs(notes, "strong")
    if _was_late(event, used):
        from tournaments.report.document import time_section  # It needs numpy.

        last.append(time_section(used))
    yield last


def _was_late(event: Event, used: Times) -> bool:
    clocks = {bot.name: event.clock_of(number) for number, bot in enumerate(event.entrants)}
    return any(row.worst_ms > clocks.get(row.name, event.clock).move_ms for row in used.entrants)


def _argument(folder: Folder) -> str:
    """Return the folder as the argument of a command that does not find it without one."""
    with suppress(UserError):
        if latest_folder().resolve() == folder.path:
            return ""
    return f" {shown_path(folder.path)}"


def author_result(book: Book) -> str:
    """Return the result as an answer to the author of the only bot that is no sample."""
    event, pools, lead = book.event, book.ratings.pools, result_by_ratings(book)
    name = own_bot(event)
    placed = pools[0].entrants if pools else ()
    entries = [(place, row) for place, row in enumerate(placed, 1) if row.name == name]
    if not entries or event.teams:
        return lead
    ((place, rating),) = entries
    if any(rated.cost and rated.cost.stopped for rated in placed):
        return lead
    if len(placed) == 2:
        if lead.startswith(f"**{rating.name}** is better"):
            return f"Yes: {lead}"
        return f"No: {lead}" if f" is better than {rating.name} " in lead else lead
    if rating.name in lead:
        return lead
    best, worst = rating.ranks
    span = f" (between {best} and {worst})" if best < worst else ""
    return f"{lead} {rating.name} is number {place} of {len(placed)}{span}."


WIDEST_TOLD = 1000
"""Half of the widest interval of a lead that is told, in Elo: a wider one says nothing of bots."""


def _roughly(boards: int) -> str:
    return f"{float(f'{max(1, boards):.1g}'):,.0f}"


def _outlook(summary: Results, event: Event) -> str:
    """Return the boards that would separate the first two, where the results tell; or nothing."""
    first = [r.name for r in summary.ratings.pools[0].entrants if r.ranks[0] == 1][:2]
    if len(first) < 2:
        return ""
    with suppress(UserError):
        (pair,) = separations(summary.ratings, event.boards, (first[0], first[1]))
        if pair.half_width > WIDEST_TOLD:
            return ""
        lead = lead_text(pair)
        if pair.is_apart or pair.needed is None:
            return f"{lead}."
        least, most = (boards and boards - pair.played for boards in pair.needed_range)
        boards = _roughly(least or 0)
        span = f"at least {boards}" if most is None else f"about {boards} to {_roughly(most)}"
        return f"{lead}; deciding it would take {span} more boards."
    return ""
