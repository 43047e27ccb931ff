"""A tune as its user writes it, one bot with parameters, and the bots that play it."""

from pathlib import Path

from msgspec.structs import replace

from protocol.codec import encode_json
from protocol.errors import UserError
from tournaments.formats.round_robin import RoundRobin
from tournaments.formats.tune import GROUP, Tune
from tournaments.plan.bot_command import resolve_command
from tournaments.plan.event_file import WrittenBot, WrittenEvent
from tournaments.tuning.parameters import Values, fill, starts
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
    words = resolve_command(bot, base)[0].run
    for name in written.tune:
        place = f"{{{name}}}"
        if not any(place in word for word in words[1:]):
            raise UserError(
                f"tune.{name}: the command of bot {bot.name} has no {place}. Put it where the "
                "bot reads the value."
            )
    for word in words:
        if ("{build}" in word or "{python}" in word) and fill((word,), starts(written.tune)) != (
            word,
        ):
            raise UserError(
                f"{word!r}: a word with a parameter cannot have {{build}} or {{python}}."
            )
    first = _with_values(bot, starts(written.tune))
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


def _with_values(bot: WrittenBot, values: Values) -> WrittenBot:
    return replace(bot, run=fill(bot.run, values), arguments=fill(bot.arguments, values))
