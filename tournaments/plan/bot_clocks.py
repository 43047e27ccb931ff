"""Clocks of bots' own in a plan: from the command line, and in the names of the entrants. Pure."""

from collections.abc import Sequence
from itertools import chain

from msgspec.structs import replace

from protocol.errors import UserError, unknown_name
from protocol.messages import Clock
from tournaments.formats.gauntlet import ChallengeFormat
from tournaments.formats.own_clock import parse_clock
from tournaments.plan.event_file import WrittenBot, WrittenEvent


def scale_bot(bots: Sequence[WrittenBot], clocks: str) -> tuple[WrittenBot, ...]:
    """Return the bots with the first of them once at each of these clocks, as in `50,200,1s`.

    Raises UserError.
    """
    first, *others = bots
    if first.clock:
        raise UserError(f"--scale: {first.name} has a clock of its own. Name it without one.")
    own = [parse_clock(one.strip(), "--scale") for one in clocks.split(",")]
    if len(set(own)) < max(2, len(own)):
        raise UserError(f"--scale takes two or more different clocks, as 50,200,1s, not {clocks}.")
    return (*(replace(first, clock=one) for one in own), *others)


def set_clocks(
    bots: Sequence[WrittenBot], words: Sequence[str], *, replaces: bool
) -> tuple[WrittenBot, ...]:
    """Give bots the clocks of these words, as in `mine=200ms`; `replaces`: also for another one.

    Raises UserError.
    """
    bots = list(bots)
    for word in words:
        name, given, text = word.partition("=")
        if not given:
            raise UserError(f"--clock takes a bot and its time, as in mine=200ms, not {word!r}.")
        clock = parse_clock(text, "--clock")
        places = [place for place, bot in enumerate(bots) if bot.name == name]
        if not places:
            raise unknown_name("bot in --clock:", name, [bot.name for bot in bots])
        if len(places) > 1 or (bots[places[0]].clock and not replaces):
            raise UserError(f"--clock: {name} has a clock already. Give it one only.")
        bots[places[0]] = replace(bots[places[0]], clock=clock)
    return tuple(bots)


def name_clocks(written: WrittenEvent) -> WrittenEvent:
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
    if bot.clock.move_ms is None and bot.clock.bank_ms is None:
        raise UserError(f"The clock of bot {bot.name} is empty. Write move_ms or bank_ms.")
    return replace(
        bot,
        name=f"{bot.name}@{bot.clock.name(clock)}",
        bot=bot.bot or (None if bot.run else bot.name),
        clock=bot.clock.complete(clock),
    )
