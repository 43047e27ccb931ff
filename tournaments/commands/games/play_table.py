"""The table of `boneyard play`: the person, the bots in the other seats, and their clock."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from arena.logs.board_promises import published_commitments
from arena.sandbox.limits import SandboxMode
from protocol.errors import UserError
from protocol.messages import Clock
from protocol.ruleset import Ruleset, check_seats, playable_seat_counts
from tournaments.formats.base import Entrant
from tournaments.plan.bot_command import prepare_word, unique_name
from tournaments.plan.event import EntrantName
from tournaments.storage.folder import Folder, check_not_readable

DAY_MS = 86_400_000
"""The longest clock: a person who does not answer for so long has left."""
BANK = 5
"""The time bank of a game, in questions' times."""


class PlayOptions(NamedTuple):
    """The command's options."""

    rules: str
    """A named game, or a file of rules."""
    choices: tuple[str, ...]
    """CHOICE=VALUE."""
    against: tuple[str, ...]
    """The bots, clockwise from the person; they take turns where there are more seats."""
    seats: int | None
    """Seats at the table; None: as few as these bots need."""
    seat: int
    """The person's seat."""
    name: str
    """The person's name."""
    clock_s: int
    """Seconds for each question."""
    no_clock: bool
    """True if nobody is hurried."""
    seed: int | None
    """The seed of the deals; None: a random one."""
    sandbox: SandboxMode
    """The sandbox mode of the bots."""
    out: Path
    """The folder of the game's log."""
    terminal: bool
    """True if the person plays in the terminal instead of a browser."""
    port: int
    """The port of the page; 0: any free port."""
    browser: bool
    """True if the browser is opened."""
    played: int = 0
    """Games that were played before on the same page."""


class PreparedTable(NamedTuple):
    """A table that is ready: its entrants, its game and its log."""

    number: int
    """The game's number in its folder, and its board's."""
    names: tuple[str, ...]
    """The names in the order of the seats."""
    seat: int
    """The person's seat."""
    bots: tuple[Entrant, ...]
    """The other entrants, in the order of the seats."""
    rules: Ruleset
    """The game."""
    clock: Clock
    """The clock of the person, and of each bot without one of its own."""

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The clock of each seat; nothing if no bot has its own."""
        own = {bot.name: bot.clock.applied_to(self.clock) for bot in self.bots if bot.clock}
        return tuple(own.get(name, self.clock) for name in self.names) if own else ()

    @property
    def game(self) -> str:
        """Return the game's name."""
        return f"{self.number}.{'.'.join(self.names)}"


def check_name(name: str) -> None:
    """Refuse a person's name that a file name may not contain. Raises UserError."""
    try:
        msgspec.convert(name, EntrantName)
    except msgspec.ValidationError:
        text = "use up to 40 letters, digits, - and _"
        raise UserError(f"Invalid name {name!r}: {text}.") from None


def prepare_table(options: PlayOptions, rules: Ruleset, folder: Folder) -> PreparedTable:
    """Find and build the bots and set the table. Raises UserError."""
    size = options.seats or _fits(rules, len(options.against) + 1)
    check_seats(rules, size)
    if options.seat >= size:
        raise UserError(f"There is no seat {options.seat}: this table has seats 0 to {size - 1}.")
    if len(options.against) >= size:
        raise UserError(f"A table of {size} has no seats for {len(options.against)} bots.")
    clock = _clock(options)
    bots = _bots(options.against, size - 1, folder, clock)
    check_not_readable(folder, bots, options.sandbox)
    # Clockwise from the person: the first bot is the next to its left.
    around = [options.name, *(bot.name for bot in bots)]
    names = tuple(around[(place - options.seat) % size] for place in range(size))
    if len(set(names)) < size:
        raise UserError(f"A bot has the name {options.name} too. Choose another --name.")
    in_order = sorted(bots, key=lambda bot: names.index(bot.name))
    return PreparedTable(_next(folder), names, options.seat, tuple(in_order), rules, clock)


def _bots(words: Sequence[str], many: int, folder: Folder, clock: Clock) -> list[Entrant]:
    """Find and build the bots of these seats; a bot in several seats has a name for each.

    A bot with a clock of its own is called after it; `clock` is the table's.

    Raises UserError.
    """
    found = {word: prepare_word(word, folder.build) for word in dict.fromkeys(words)}
    bots: list[Entrant] = []
    for seat in range(many):
        bot = found[words[seat % len(words)]]
        bots.append(replace(bot, name=unique_name(bot.name, [one.name for one in bots])))
    return [
        replace(bot, name=f"{bot.name}@{bot.clock.name(clock)}") if bot.clock else bot
        for bot in bots
    ]


def _fits(rules: Ruleset, people: int) -> int:
    """Return the size of the smallest table of these rules for this many players."""
    sizes = playable_seat_counts(rules)
    return next((size for size in sizes if size >= people), sizes[-1])


def _clock(options: PlayOptions) -> Clock:
    if options.no_clock:
        return Clock(move_ms=DAY_MS, bank_ms=0)
    move_ms = options.clock_s * 1000
    return Clock(move_ms=move_ms, bank_ms=min(DAY_MS, BANK * move_ms))


def _next(folder: Folder) -> int:
    """Return the number after that of each game, also of one that nobody came to, without a log.

    Raises DamagedFileError.
    """
    names = (path.stem.partition(".")[0] for path in folder.logs())
    logged = (int(number) for number in names if number.isdigit())
    return 1 + max((*logged, *published_commitments(folder.commitments)), default=0)
