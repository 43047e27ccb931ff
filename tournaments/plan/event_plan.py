"""Read the plan of an event from the words and options of the command line, and build its bots."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from arena.rules.english import join_words
from arena.rules.load import load_ruleset
from arena.ui.console import shown_path
from protocol.codec import encode_json
from protocol.errors import UserError
from protocol.messages import Clock
from protocol.ruleset import Ruleset, check_seats
from tournaments.formats.base import Entrant
from tournaments.formats.gauntlet import ChallengeFormat
from tournaments.formats.own_clock import OwnClock
from tournaments.formats.round_robin import RoundRobin
from tournaments.formats.tune import GROUP, Tune
from tournaments.formats.versus import Versus
from tournaments.plan.bot_command import PLACES, parse_bots, prepare_entrant, resolve_command
from tournaments.plan.deals.deals_file import SetDeals, read_deals, read_logged_deals, too_few_deals
from tournaments.plan.event import SUFFIX, Event, WrittenBot, WrittenEvent, written_event
from tournaments.tuning.parameters import fill, starts
from tournaments.tuning.search import optimiser_here

TUNED = "-tuned"
"""The end of the name of the bot with the values that a tune found."""
LONGEST = 40 - len(TUNED)
"""The longest name of a bot that is tuned."""


def expand_tune(written: WrittenEvent, base: Path) -> WrittenEvent:
    """Return an event file with parameters as the event that is played.

    Its bots are the bot as it is, a group of candidates, and the tuned bot; all begin with the
    start values. Raises UserError.
    """
    if len(written.bots) != 1:
        raise UserError(f"A tune has one bot, and this event file has {len(written.bots)} (bots).")
    if written.format != RoundRobin() or written.teams:
        raise UserError("An event file with [tune] has no format and no teams of its own.")
    (bot,) = written.bots
    if len(bot.name) > LONGEST:
        raise UserError(f"The name of a tuned bot has at most {LONGEST} characters: {bot.name!r}.")
    words, values = resolve_command(bot, base)[0].run, starts(written.tune)
    for name in written.tune:
        place = f"{{{name}}}"
        if not any(place in word for word in words[1:]):
            raise UserError(
                f"tune.{name}: the command of bot {bot.name} has no {place}. Put it where the "
                "bot reads the value."
            )
    for word in words:
        if any(place in word for place in PLACES) and fill((word,), values) != (word,):
            raise UserError(
                f"{word!r}: a word with a parameter cannot have {{build}} or {{python}}."
            )
    first = replace(bot, run=fill(bot.run, values), arguments=fill(bot.arguments, values))
    names = (bot.name, *(f"{bot.name}-{n}" for n in range(1, GROUP + 1)), f"{bot.name}{TUNED}")
    # A listed bot is listed by its name.
    first = first if first.run else replace(first, bot=first.bot or first.name)
    form = Tune(tuple(written.tune.items()), words, _entry(bot), optimiser_here())
    return replace(written, bots=tuple(replace(first, name=name) for name in names), format=form)


def _entry(bot: WrittenBot) -> str:
    """Return the lines of an event file that say how a bot starts."""
    parts = (
        {"run": bot.run} if bot.run else {"bot": bot.bot or bot.name, "arguments": bot.arguments}
    )
    return "\n".join(f"{key} = {encode_json(value).decode()}" for key, value in parts.items())


class EventPlan(NamedTuple):
    """A written event, with the rules and deals that it names: all but the files of its bots."""

    written: WrittenEvent
    base: Path
    """The folder where the bots' relative paths start."""
    file: Path | None
    """The event file; None for bots on the command line."""
    rules: Ruleset
    boards: int
    predictable: bool
    deals: SetDeals | None
    """The deals that the organiser sets; None: they are drawn."""

    def event(self, entrants: Sequence[Entrant]) -> Event:
        """Return the event with these bots. Raises UserError if it cannot be played."""
        event = self._with(self.boards, entrants)
        if event.format.takes_luck_out:
            from arena.valuation.batch import mask_tables  # It needs numpy.

            mask_tables(event.rules, event.seats)  # It refuses rules without values.
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
        shared = {*Event.__struct_fields__} & {*WrittenEvent.__struct_fields__}
        same = {name: getattr(written, name) for name in shared}
        own: dict[str, Any] = {
            "name": written.name or ("event" if self.file else "run"),
            "rules": self.rules,
            "seats": written.seats_at_table(self.rules),
            "boards": boards,
        }
        return Event(
            **same | own,
            boards_a_sitting=written.format.BOARDS_A_SITTING,
            entrants=tuple(entrants),
            predictable=self.predictable,
            deals_set=self.deals is not None,
        )

    def with_boards_of(self, old: Event) -> "EventPlan":
        """Return the plan with at least the boards of an event that it continues."""
        if self.boards >= old.boards:
            return self
        form, boards = self.written.format.with_boards(old.boards, None)
        return self._replace(written=replace(self.written, format=form), boards=boards)

    def build(self, folder: Path) -> Event:
        """Return the whole event: find and build its bots. `folder`: for what is built.

        Raises UserError.
        """
        bots = self.written.bots
        event = self.event([prepare_entrant(bot, self.base, folder) for bot in bots])
        event.format.check_size(event)
        return event


def read_plan(
    what: Sequence[str],
    given: Mapping[str, Any] | None = None,
    *,
    choices: Sequence[str] = (),
    predictable: bool = False,
) -> EventPlan:
    """Read an event file or bots, and the rules; touch no bot. Raises UserError.

    `given`: fields in the place of the file's. `choices`: CHOICE=VALUE of the rules.
    """
    given = dict(given or {})
    # Relative paths of the command line start in the working folder, those of a file beside it.
    if "deals" in given:
        given["deals"] = f"{Path.cwd() / given['deals']}"
    if "deals_from" in given:
        source, game = given["deals_from"]
        given["deals_from"] = (f"{Path.cwd() / source}", game)
    written, base = parse_event(what, given)
    if "rules" in given:
        rules = load_ruleset(given["rules"], Path.cwd(), choices)
    else:
        rules = load_ruleset(written.rules, base, choices, at=f"{what[0]}: rules")
    if written.tune and rules.deal.partners:
        written = replace(written, teams=tuple((bot.name, bot.name) for bot in written.bots))
    deals = _set_deals(written, base, rules)
    if written.tune and deals:
        raise UserError("A tune draws its deals: those of a file or a log are too few (deals).")
    form, boards = written.format.with_boards(given.get("boards"), written.boards)
    if deals and not written.boards:
        most = len(deals.boards)
        # A versus without a number plays until it is decided, within its own bound.
        most = min(boards, most) if isinstance(form, Versus) else most
        form, boards = form.with_boards(most, None)
    written = replace(written, format=form)
    file = Path(what[0]) if Path(what[0]).suffix == SUFFIX else None
    predictable = predictable or written.seed is not None
    return EventPlan(written, base, file, rules, boards, predictable, deals)


def _set_deals(written: WrittenEvent, base: Path, rules: Ruleset) -> SetDeals | None:
    """Read the deals that the organiser sets; None if they are drawn. Raises UserError."""
    ways = [name for name in ("deals", "deals_from", "deals_with") if getattr(written, name)]
    if len(ways) > 1:
        raise UserError(f"Give only one of {join_words(ways)}: each says which deals are played.")
    seats = written.seats_at_table(rules)
    check_seats(rules, seats)
    if written.deals:
        return read_deals(Path(shown_path(base / written.deals)), rules, seats)
    if written.deals_from:
        source, game = written.deals_from
        return read_logged_deals(Path(shown_path(base / source)), game, rules, seats)
    return None


def parse_event(what: Sequence[str], given: Mapping[str, Any]) -> tuple[WrittenEvent, Path]:
    """Read an event file, or bots as words; return it with the folder where its paths start.

    `given`: fields in the place of the file's. Raises UserError.
    """
    first = Path(what[0])
    in_file = first.suffix == SUFFIX
    if in_file and len(what) > 1:
        raise UserError(f"Give one event file or bots, not {first} and {what[1]!r}.")
    written = written_event(first if in_file else None, given)
    base = first.resolve().parent if in_file else Path.cwd()
    if written.tune:
        written = expand_tune(written, base)
    bots = written.bots if in_file else parse_bots(what)
    return _name_clocks(replace(written, bots=bots)), base


# --- clocks of bots' own ---


def _name_clocks(written: WrittenEvent) -> WrittenEvent:
    """Return the plan with each bot with a clock of its own called after it, as `mine@200ms`.

    So no table, file or other program mistakes it for the bot at another clock. Teams and anchor
    may name the bot without its clock where only one has that name, and challengers always: they
    are the bot at all its clocks. Raises UserError.
    """
    if not any(bot.clock for bot in written.bots):
        return written
    named = [_named(bot, written.clock) for bot in written.bots]
    plain = [bot.name for bot in written.bots]
    names = {old: new.name for old, new in zip(plain, named, strict=True) if plain.count(old) == 1}
    form, anchor = written.format.renamed(names), written.anchor
    if isinstance(form, ChallengeFormat):
        every = [
            [new.name for new, old in zip(named, plain, strict=True) if old == name] or [name]
            for name in form.challengers
        ]
        form = replace(form, challengers=tuple(chain(*every)))
    return replace(
        written,
        bots=tuple(named),
        format=form,
        teams=tuple((names.get(one, one), names.get(two, two)) for one, two in written.teams),
        anchor=anchor and replace(anchor, name=names.get(anchor.name, anchor.name)),
    )


def _named(bot: WrittenBot, clock: Clock) -> WrittenBot:
    if bot.clock is None:
        return bot
    if bot.clock == OwnClock():
        raise UserError(f"The clock of bot {bot.name} is empty. Write move_ms, bank_ms or effort.")
    return replace(
        bot,
        name=f"{bot.name}@{bot.clock.name(clock)}",
        bot=bot.bot or (None if bot.run else bot.name),
        clock=bot.clock.complete(clock),
    )
