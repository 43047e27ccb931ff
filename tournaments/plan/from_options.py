"""Build an Event from command-line options and an optional event file."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from arena.rules.english import join_words
from arena.rules.load import load_ruleset
from arena.sandbox.limits import SandboxMode
from arena.ui.console import shown_path
from protocol.errors import UserError
from protocol.ruleset import Ruleset, check_seats
from tournaments.formats.base import Entrant
from tournaments.formats.gauntlet import ChallengeFormat
from tournaments.formats.registry import FORMATS, Format
from tournaments.formats.tune import Tune
from tournaments.formats.versus import Versus
from tournaments.plan.bot_clocks import name_clocks, scale_bot, set_clocks
from tournaments.plan.bot_command import parse_bots, prepare_entrant
from tournaments.plan.deals.deals_file import SetDeals, read_deals, too_few_deals
from tournaments.plan.deals.deals_from_logs import read_logged_deals
from tournaments.plan.event import TITLE, Event
from tournaments.plan.event_file import SUFFIX, WrittenBot, WrittenEvent, read_event_file
from tournaments.plan.tune_plan import expand_tune
from tournaments.rating.anchor import anchored
from tournaments.rating.sprt_settings import Measure

SETTINGS = {
    "rounds": "--rounds",
    "challengers": "--challenger",
    **dict.fromkeys(
        ("h0", "h1", "measure", "without_luck"), "--h0, --h1, --measure, --without-luck"
    ),
}
"""Settings of formats, and the options that give them."""


class EventOptions(NamedTuple):
    """Command-line options that describe an event; None for an option that was not given."""

    what: tuple[str, ...]
    """An event file, or bots."""
    title: str | None = None
    """A title for readers."""
    rules: str | None = None
    """A named game, or a file of rules."""
    choices: tuple[str, ...] = ()
    """CHOICE=VALUE."""
    seats: int | None = None
    """Seats at a table."""
    boards: int | None = None
    """Boards for each pairing."""
    deals: str | None = None
    """A file with the deals."""
    deals_from: tuple[str, str] | None = None
    """A folder or log, and the game there whose deals are played, or all."""
    deals_with: tuple[str, ...] = ()
    """Filters of drawn deals."""
    format: str | None = None
    """The format, which decides who meets whom."""
    rounds: int | None = None
    """Rounds of a Swiss."""
    challengers: tuple[str, ...] = ()
    """Names of the challengers of a gauntlet or a ladder."""
    h0: float | None = None
    """Lead under H0 in versus,"""
    h1: float | None = None
    """lead under H1,"""
    measure: Measure | None = None
    """and the unit of both."""
    without_luck: bool = False
    """True if versus decides on points with luck taken out."""
    move_ms: int | None = None
    """Time to answer a question, in ms."""
    clocks: tuple[str, ...] = ()
    """NAME=CLOCK: clocks of bots' own."""
    scale: str | None = None
    """Clocks at which the first bot plays, as 50,200,1s."""
    anchor: str | None = None
    """NAME=ELO: an entrant whose rating is fixed beforehand."""
    sandbox: SandboxMode | None = None
    ask_forced: bool = False
    """True if a seat is asked although it has only one option."""
    fresh_boards: bool = False
    """True if bots that join a begun event play only boards whose deals nobody has seen."""


class WrittenPlan(NamedTuple):
    """An event as its user describes it, complete but for the files of its bots."""

    written: WrittenEvent
    """The event file's settings, overridden by the command line's."""
    base: Path
    """The folder where the bots' relative paths start."""
    file: Path | None
    """The event file; None for bots on the command line."""
    rules: Ruleset
    format: Format
    boards: int
    """Boards for each pairing."""
    predictable: bool
    """True if anyone can know the deals."""
    deals: SetDeals | None = None
    """The deals that the organiser sets; None: they are drawn."""

    def event(self, entrants: Sequence[Entrant]) -> Event:
        """Return the event with these bots. Raises UserError if it cannot be played."""
        event = self._with(self.boards, entrants)
        if self.deals is None:
            return event
        most = len(self.deals.boards)
        if event.all_boards > most and self.written.boards is None:
            # Each round of a Swiss or a knockout has boards of its own.
            spans = range(1, most + 1)
            fit = bisect_right(spans, most, key=lambda n: self._with(n, entrants).all_boards)
            event = self._with(max(1, fit), entrants)
        if event.all_boards > most:
            raise too_few_deals(self.deals, event.all_boards)
        return event

    def _with(self, boards: int, entrants: Sequence[Entrant]) -> Event:
        written = self.written
        return Event(
            name=written.name or ("event" if self.file else "run"),
            title=written.title,
            rules=self.rules,
            seats=written.seats_at_table(self.rules),
            boards=boards,
            boards_a_sitting=self.format.BOARDS_A_SITTING,
            format=self.format,
            teams=written.teams,
            clock=written.clock,
            fouls=written.fouls,
            sandbox=written.sandbox,
            limits=written.limits,
            entrants=tuple(entrants),
            anchor=written.anchor,
            predictable=self.predictable,
            deals_set=self.deals is not None,
            deals_with=written.deals_with,
        )

    def with_boards_of(self, old: Event) -> "WrittenPlan":
        """Return the plan with at least the boards of an event that it continues."""
        if self.boards >= old.boards:
            return self
        form, boards = self.format.with_boards(old.boards, None)
        return self._replace(format=form, boards=boards)


class PlannedEvent(NamedTuple):
    """An event, and what its folder does not keep of its user's words."""

    event: Event
    sources: Mapping[str, tuple[WrittenBot, Path]]
    """Each bot as its user writes it and the folder where its paths start, by fingerprint."""
    fresh_boards: bool
    """True if bots that join now play only boards whose deals nobody has seen."""


def read_plan(options: EventOptions, *, predictable: bool) -> WrittenPlan:
    """Read the event file and the rules; touch no bot. Raises UserError."""
    written, base = parse_event(options.what)
    written = name_clocks(_overridden(written, options))
    if options.rules is None:
        rules = load_ruleset(written.rules, base, options.choices, at=f"{options.what[0]}: rules")
    else:
        rules = load_ruleset(options.rules, Path.cwd(), options.choices)
    if written.tune and rules.deal.partners:
        written = replace(written, teams=tuple((bot.name, bot.name) for bot in written.bots))
    deals = _set_deals(written, options, base, rules)
    if written.tune and deals:
        raise UserError("A tune draws its deals: those of a file or a log are too few (deals).")
    form, boards = written.format.with_boards(options.boards, written.boards)
    if deals and not written.boards:
        most = len(deals.boards)
        # A versus without a number plays until it is decided, within its own bound.
        most = min(boards, most) if isinstance(form, Versus) else most
        form, boards = form.with_boards(most, None)
    first = Path(options.what[0])
    file = first if first.suffix == SUFFIX else None
    return WrittenPlan(written, base, file, rules, form, boards, predictable, deals)


def _set_deals(
    written: WrittenEvent, options: EventOptions, base: Path, rules: Ruleset
) -> SetDeals | None:
    """Read the deals that the organiser sets; None if they are drawn. Raises UserError."""
    # Relative paths of the command line start in the working folder.
    base = Path.cwd() if options.deals or options.deals_from else base
    said, seats = written, written.seats_at_table(rules)
    ways = {"deals": said.deals, "deals_from": said.deals_from, "deals_with": said.deals_with}
    if len(named := [name for name, value in ways.items() if value]) > 1:
        raise UserError(f"Give only one of {join_words(named)}: each says which deals are played.")
    check_seats(rules, seats)
    if said.deals:
        return read_deals(Path(shown_path(base / said.deals)), rules, seats)
    if said.deals_from:
        source, game = said.deals_from
        return read_logged_deals(Path(shown_path(base / source)), game, rules, seats)
    return None


def build_event(plan: WrittenPlan, build: Path) -> PlannedEvent:
    """Build the whole event: find and build its bots. `build`: the folder for what is built.

    Raises UserError.
    """
    written, base = plan.written, plan.base
    event = plan.event([prepare_entrant(bot, base, build) for bot in written.bots])
    event.format.check_size(event)
    # By fingerprint, because the name changes with the version.
    pairs = zip(event.entrants, written.bots, strict=True)
    sources = {entrant.fingerprint: (bot, base) for entrant, bot in pairs}
    return PlannedEvent(event, sources, written.fresh_boards)


def parse_event(what: Sequence[str]) -> tuple[WrittenEvent, Path]:
    """Read an event file, or bots as words; return it with the folder where its paths start.

    Raises UserError.
    """
    first = Path(what[0])
    if first.suffix != SUFFIX:
        return WrittenEvent(bots=parse_bots(what)), Path.cwd()
    if len(what) > 1:
        raise UserError(f"Give one event file or bots, not {first} and {what[1]!r}.")
    written, base = read_event_file(first), first.resolve().parent
    return (expand_tune(written, base) if written.tune else written), base


def _overridden(written: WrittenEvent, options: EventOptions) -> WrittenEvent:
    """Override an event file's settings by the command line's. Raises UserError."""
    clock, bots = written.clock, written.bots
    in_file = Path(options.what[0]).suffix == SUFFIX
    if options.scale and in_file:
        raise UserError(
            "--scale takes bots, not an event file: give each of its bots a [bots.clock] there."
        )
    form = _format(written.format, options)
    if options.scale:
        bots = scale_bot(bots, options.scale)
        if isinstance(form, ChallengeFormat) and not form.challengers:
            form = replace(form, challengers=(bots[0].name,))
    bots = set_clocks(bots, options.clocks, replaces=in_file)
    if options.move_ms:
        clock = replace(clock, move_ms=options.move_ms)
    if options.ask_forced:
        clock = replace(clock, forced="ask")
    return replace(
        written,
        bots=bots,
        title=_title(options.title) or written.title,
        clock=clock,
        format=form,
        seats=options.seats or written.seats,
        boards=options.boards or written.boards,
        deals=options.deals or written.deals,
        deals_from=options.deals_from or written.deals_from,
        deals_with=options.deals_with or written.deals_with,
        sandbox=options.sandbox or written.sandbox,
        anchor=anchored(options.anchor) or written.anchor,
        fresh_boards=options.fresh_boards or written.fresh_boards,
    )


def _title(title: str | None) -> str:
    if title and not re.search(TITLE, title):
        raise UserError(f"--title: a title has up to 80 characters in one line, not {title!r}.")
    return title or ""


def _format(form: Format, options: EventOptions) -> Format:
    """Override a format's settings by the command line's.

    Raises UserError if an option does not apply to this format.
    """
    if options.format and options.format != form.name:
        if isinstance(form, Tune):
            raise UserError("--format: an event file with [tune] has no other format.")
        form = FORMATS[options.format]
    given = {name: getattr(options, name) for name in SETTINGS}
    given = {name: value for name, value in given.items() if value not in (None, ())}
    if not options.without_luck:
        del given["without_luck"]
    for name in given:
        if name not in form.OPTIONS:
            more = ", and --boards for how much is played" if name == "rounds" else ""
            raise UserError(
                f"{SETTINGS[name]}: a {form.name} has no such choice; see --format{more}."
            )
    return form.with_options(given)
