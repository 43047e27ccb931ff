"""The bots' greetings before the first game: a bot that does not greet is its user's mistake."""

import re
from collections.abc import Callable, Iterable

import trio

from arena.match.bot_pool import BotPool
from arena.match.piped_process import CannotStartError
from arena.match.poller import Poller
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.selftest.network import network_faults
from protocol.errors import UserError
from tournaments.formats.base import Entrant
from tournaments.plan.bot_command import shell_word
from tournaments.runner.exit import RunStoppedError
from tournaments.runner.machine import cores
from tournaments.runner.sitting import greeting_complaint, start_bots

CHECK = "(Try `boneyard check {word}`; it says how to fix the bot.)"
"""Advice for a bot that does not greet."""
UNSEEN = (
    "(A locked bot can read only the files that its command names. `folder` or "
    "`reads` in an event file add more; --sandbox off shows whether this is the reason.)"
)
"""Further advice if the sandbox may be the reason."""
UNREAD = re.compile(
    r"no such file|not ?found|(cannot|can't|could not|unable to) (find|open|load|read)"
    r"|no module named|permission denied|not permitted|ENOENT|EACCES|EPERM",
    re.IGNORECASE,
)
"""Complaints of programs, in any language, about a file that they cannot read."""


async def check_greetings(
    entrants: Iterable[Entrant],
    start_ms: int,
    sandbox: Sandbox,
    *,
    at_home: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Start every active bot once before the first game. Raises UserError for the first at fault.

    Each bot has `start_ms` to greet; as many start at a time as there are cores. A bot that does
    not greet is the user's mistake, and costs no game. `at_home`: the bots' files are where their
    user knows them, so that advice can name them. `say` is told for which unavailable bot, and how
    long, the run waits. Raises RunStoppedError if the machine is short of something.
    """
    poller = Poller()
    # The candidates of a tune have one command.
    first = {one.command: one for one in reversed([*entrants]) if not one.retired}
    connected = sandbox.is_locked and any(command.network for command in first)
    if connected and (wrong := await trio.to_thread.run_sync(network_faults)):
        kept = f"The sandbox does not keep what `network` promises here: {', '.join(wrong)}."
        raise UserError(kept)
    active = enumerate(reversed(first.values()))
    complaints: dict[int, str] = {}

    async def check_on() -> None:
        for place, entrant in active:
            if complaint := await _complaint(poller, entrant, start_ms, sandbox, at_home, say):
                complaints[place] = complaint
            # Every bot before the one that failed has been started by now, and is waited for.
            if complaints:
                break

    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        async with trio.open_nursery() as starters:
            for _ in range(cores()):
                starters.start_soon(check_on)
        nursery.cancel_scope.cancel()
    if complaints:
        raise UserError(complaints[min(complaints)])


async def _complaint(
    poller: Poller,
    entrant: Entrant,
    start_ms: int,
    sandbox: Sandbox,
    at_home: bool,
    say: Callable[[str], None],
) -> str | None:
    """Return what is wrong with an entrant's bot; None if it greets."""

    def tell_pause(why: str, seconds: float) -> None:
        say(f"Bot {entrant.name}: {why}. It is started again in {seconds:.0f} s.")

    pool = BotPool(poller, [entrant.command], start_ms, sandbox, tell_pause=tell_pause)
    complaint = None
    try:
        (bot,) = await start_bots(pool)
        if bot and (complaint := greeting_complaint(entrant.name, bot)):
            if at_home:
                complaint += f" {CHECK.format(word=shell_word(entrant))}"
            complaint += sandbox_hint(sandbox, bot.stderr_tail(), silent=not bot.has_written)
    except CannotStartError as error:
        complaint = f"Bot {entrant.name}: {error}."
    except RunStoppedError as stop:
        raise RunStoppedError(f"Bot {entrant.name}: {stop}") from stop
    finally:
        await pool.close()
    return complaint


def sandbox_hint(sandbox: Sandbox, words: str, *, silent: bool) -> str:
    """Return a hint at the sandbox, if that may be why a bot did not greet; else nothing.

    It may be if the bot's stderr ends with `words` about something that it cannot read, or if
    there are no words and its stdout was `silent` too.
    """
    may_be = UNREAD.search(words) if words else silent
    return f" {UNSEEN}" if may_be and sandbox.is_locked else ""
