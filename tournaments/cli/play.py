"""`boneyard play`: a person or an agent plays against bots, in a game that is logged as any is."""

import re
import secrets
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import click
import trio
from click.core import ParameterSource
from msgspec import UNSET
from msgspec.structs import replace
from rich.console import Console

from arena.analysis import text
from arena.analysis.alternative_deals import draw_opening
from arena.analysis.frames import LiveFrames
from arena.engine.shuffle import board_seed, commitment
from arena.logs.catalog import published_commitments
from arena.logs.gamelog import GameLog, read_games
from arena.match.bot_pool import BotPool
from arena.match.bot_process import BotProcess
from arena.match.player import HumanPlayer
from arena.match.poller import Poller
from arena.match.referee import GameSetup, Referee
from arena.match.table import Table
from arena.program import INTERRUPTED, cancelled_by_signals, run_async
from arena.rules.load import find_overrides, load_ruleset, rules_command, ruleset_title
from arena.sandbox.command import Limits, SandboxMode
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.ui.agent import (
    AgentSeat,
    AgentWay,
    agent_address,
    need_agents,
    serve_agents,
    sit_as_bot,
)
from arena.ui.console import print_line, print_note
from arena.ui.local_address import NO_WEBSOCKETS, has_browser
from arena.ui.replay_page import GameInfo, game_info
from arena.ui.terminal_player import TerminalPlayer
from arena.valuation.terms import USUAL_TERMS
from protocol import __version__
from protocol.errors import UserError
from protocol.messages import Clock
from protocol.position import read_position
from protocol.records import LOG_FORMAT, Commitment, Result, Reveal, Sitting
from protocol.ruleset import Ruleset, check_seats, playable_seat_counts
from tournaments.cli.options import (
    BROWSER,
    CHOICES,
    DIRECTORY,
    PORT,
    SANDBOX_OPTION,
    USUAL_RULES,
    command,
    complete_bots,
    complete_rules,
    flag,
    number,
    position_line,
)
from tournaments.event.folder import SECRET, Folder, check_not_readable, kept_private, publish_line
from tournaments.event.grow import held_unless_refused, seeded
from tournaments.formats.base import Entrant
from tournaments.plan.bots import prepare_word, unique_name
from tournaments.plan.event import ENTRANT, FROM_HELP, NAME_WORDS
from tournaments.plan.read_plan import check_position
from tournaments.plan.schedule import numbers
from tournaments.play.sittings import (
    STOPPED,
    greeting_complaint,
    keep_bots,
    start_bots,
    stop_sentence,
)
from tournaments.study.valuation import quiz_cards, review_log

if TYPE_CHECKING:
    from arena.ui.server import BrowserPlayer


MAX_PERSON_CLOCK_MS = 86_400_000
"""The longest clock: a person who does not answer for so long has left."""
BANK = 5
"""The time bank of a game, as a multiple of the time for a question."""


class PlayOptions(NamedTuple):
    """The command's options; its help text explains each."""

    rules: str | None
    choices: tuple[str, ...]
    opponents: tuple[str, ...]
    start: str | None
    seats: int | None
    seat: int | None
    name: str
    clock_s: int
    no_clock: bool
    seed: int | None
    sandbox: SandboxMode
    out: Path
    terminal: bool
    study: bool
    mcp: AgentWay | None
    port: int
    browser: bool
    played: int = 0
    """Games that were played before on the same page."""


class PreparedTable(NamedTuple):
    """A table that is ready: its entrants, its game and its log."""

    number: int
    """The game's number in its folder, and its board's."""
    names: tuple[str, ...]
    """The names in the order of the seats."""
    seat: int
    position: str
    """The position from which the game goes on; empty: it begins with a deal."""
    bots: tuple[Entrant, ...]
    """The other entrants, in the order of the seats."""
    rules: Ruleset
    clock: Clock
    """The clock of the person, and of each bot without one of its own."""

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """The clock of each seat; nothing if no bot has its own."""
        clocks = {bot.name: bot.clock.applied_to(self.clock) for bot in self.bots if bot.clock}
        return tuple(clocks.get(name, self.clock) for name in self.names) if clocks else ()

    @property
    def game(self) -> str:
        """Return the game's name."""
        return f"{self.number}.{'.'.join(self.names)}"


def prepare_table(options: PlayOptions, rules: Ruleset, folder: Folder) -> PreparedTable:
    """Find and build the bots and set the table. Raises UserError."""
    sizes = playable_seat_counts(rules)
    fits = (size for size in sizes if size > len(options.opponents))
    position = read_position(options.start) if options.start else None
    size = len(position.scores) if position else options.seats or next(fits, sizes[-1])
    check_seats(rules, size)
    seat = options.seat
    if seat is None:
        seat = position.seat if position else 0
    if seat >= size:
        raise UserError(f"There is no seat {seat}: this table has seats 0 to {size - 1}.")
    if len(options.opponents) >= size:
        raise UserError(f"A table of {size} has no seats for {len(options.opponents)} bots.")
    move_ms = MAX_PERSON_CLOCK_MS if options.no_clock else 1000 * options.clock_s
    bank_ms = 0 if options.no_clock else min(MAX_PERSON_CLOCK_MS, BANK * move_ms)
    clock = Clock(move_ms=move_ms, bank_ms=bank_ms)
    bots = _bots(options.opponents, size - 1, folder, clock)
    check_not_readable(folder, bots, options.sandbox)
    # Clockwise from the person: the first bot is the next to its left.
    circle = [options.name, *(bot.name for bot in bots)]
    names = tuple(circle[(place - seat) % size] for place in range(size))
    if len(set(names)) < size:
        raise UserError(f"A bot has the name {options.name} too. Choose another --name.")
    in_order = sorted(bots, key=lambda bot: names.index(bot.name))
    start, number = options.start or "", _next(folder)
    return PreparedTable(number, names, seat, start, tuple(in_order), rules, clock)


def _bots(words: Sequence[str], count: int, folder: Folder, clock: Clock) -> list[Entrant]:
    """Find and build the bots of these seats; a bot in several seats has a name for each.

    A bot with a clock of its own is called after it; `clock` is the table's.

    Raises UserError.
    """
    entrants = {word: prepare_word(word, folder.build) for word in dict.fromkeys(words)}
    bots: list[Entrant] = []
    for seat in range(count):
        bot = entrants[words[seat % len(words)]]
        bots.append(replace(bot, name=unique_name(bot.name, [other.name for other in bots])))
    return [
        replace(bot, name=f"{bot.name}@{bot.clock.name(clock)}") if bot.clock else bot
        for bot in bots
    ]


def _next(folder: Folder) -> int:
    """Return the next game's number; games that nobody came to count, though they have no log.

    Raises DamagedFileError.
    """
    names = (path.stem.partition(".")[0] for path in folder.logs())
    logged = (int(number) for number in names if number.isdigit())
    return 1 + max((*logged, *published_commitments(folder.commitments)), default=0)


PLAY_EVENT = "play"
"""The name of the event of all games that a person plays."""
Show = Callable[[HumanPlayer, LiveFrames, trio.Event], Awaitable[bool]]
"""A screen: shows a game to its end once somebody is there to see it; False: the person leaves."""


@command()
@click.argument("bots", metavar="[BOT]...", nargs=-1, shell_complete=complete_bots)
@click.option(
    "--rules",
    show_default=USUAL_RULES,
    shell_complete=complete_rules,
    help="A named game or your own rules file; see `boneyard rules`.",
)
@CHOICES
@click.option(
    "--against",
    "opponents",
    multiple=True,
    show_default="greedy",
    metavar="BOT",
    shell_complete=complete_bots,
    help="As BOT, a sample bot, a file or a command; may be repeated, clockwise from you.",
)
@click.option("--from", "start", metavar="POSITION", help=FROM_HELP)
@number("--seats", "Number of seats.  [default: as few as these bots need]", 2, 8)
@number("--seat", "Your seat.  [default: 0, or the one that the position asks]", 0, 7)
@click.option("--name", default=text.PERSON, show_default=True, help="Your name in the log.")
@number(
    "--clock",
    "Time for each question, in s; the game has a bank of five times that.",
    1,
    86_400,
    60,
    "clock_s",
)
@flag("--no-clock", "No time pressure: a day for each question.")
@click.option("--seed", type=int, help="Fix the deals, to play them again.")
@SANDBOX_OPTION
@click.option(
    "--out",
    type=DIRECTORY,
    default=Path("boneyard-play"),
    show_default=True,
    help="Folder for the logs of your games.",
)
@flag("--terminal", "Play here instead of in the browser.")
@flag(
    "--study",
    "Lay a round by hand on a page that values its options, in place of a game; --rules, --set, "
    "--port and --browser go with it.",
)
@click.option(
    "--mcp",
    type=click.Choice(get_args(AgentWay)),
    help="Leave your seat to an agent, by the Model Context Protocol: on this command's stdin and "
    "stdout, or at --port. bot: as a bot of an event it waits for its agent at --port; in a "
    "terminal it prints the address.",
)
@PORT
@BROWSER
def play(bots: tuple[str, ...], opponents: tuple[str, ...], **values: Any) -> int:
    """Play yourself, in the browser or in the terminal.

    You sit in a seat as a bot does, with the same protocol and the same referee; `boneyard replay`
    and `boneyard verify` read the log. In a partnership game you sit opposite your partner.

    \b
    Examples:
      boneyard play
      boneyard play --rules double-draw --against greedy
      boneyard play counting greedy --no-clock
      boneyard play --rules partnership --against counting --terminal
      boneyard play --against ./my_bot.py --seat 1 --seed 7
      boneyard play --study --rules dutch-two
      boneyard play counting --mcp stdio
      boneyard play --mcp bot --port 8124
      boneyard run "boneyard play --mcp bot --port 8124" greedy --sandbox off --jobs 1
      boneyard play counting --from 1.counting.greedy:12
    """
    values["sandbox"] = values["sandbox"] or "auto"
    options = PlayOptions(opponents=(*bots, *opponents) or ("greedy",), **values)
    if options.study:
        return _study(options)
    if options.mcp:
        need_agents()
    if options.mcp == "bot":
        return _be_bot(options.port)
    rules, options = _read_start(options)
    if not re.fullmatch(ENTRANT, options.name):
        raise UserError(f"Invalid name {options.name!r}: it must be {NAME_WORDS}.")
    if not (options.mcp or options.terminal or has_browser()):
        purpose = "To play in the browser"
        print_note(NO_WEBSOCKETS.format(what=purpose, instead="; so you play here"))
        options = options._replace(terminal=True)
    folder = Folder(options.out.resolve())
    if folder.event.exists():
        raise UserError(f"{folder.path} holds an event: choose another folder (--out).")
    errors: BaseExceptionGroup[Exception] | None = None
    code = INTERRUPTED
    with held_unless_refused(folder, lambda: None):
        table = prepare_table(options, rules, folder)
        try:
            here = _at_terminal if options.terminal else _in_browser
            code = run_async(_with_agent if options.mcp else here, table, folder, options)
        except* Exception as group:
            errors = group
    if errors:
        print_note(stop_sentence(folder, errors, "game", "in the game"))
        return STOPPED
    return code


STUDIED = frozenset(["study", "rules", "choices", "port", "browser"])
"""The options that go with --study."""


def _study(options: PlayOptions) -> int:
    """Serve the editor of positions until the user leaves; return the exit code."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if source is ParameterSource.COMMANDLINE and option.name not in STUDIED:
            word = option.opts[0] if isinstance(option, click.Option) else "BOT"
            raise UserError(f"{word} does not go with --study.")
    if not has_browser():
        raise UserError(NO_WEBSOCKETS.format(what="To study positions", instead=""))
    from arena.ui.position_pages import editor_page, find_study_page
    from arena.ui.server import Site, open_site

    rules = load_ruleset(options.rules or USUAL_RULES, Path.cwd(), options.choices)
    site = Site(partial(find_study_page, editor_page(rules, is_served=True)))

    async def serve() -> None:
        with cancelled_by_signals():
            async with open_site(site, options.port, "Study positions", browser=options.browser):
                await trio.sleep_forever()

    run_async(serve)
    return 0


def _be_bot(port: int) -> int:
    """Be a bot of an event, or tell its person the address; return the exit code."""
    if not port:
        raise UserError("An agent needs an address that stays: name a --port.")
    if sys.stdin.isatty():
        print_line(f"Address of the agent's seat: {agent_address(port)}")
        print_note("It is served while an event plays this command as a bot, unlocked.")
    else:
        run_async(sit_as_bot, port)
    return 0


def _read_start(options: PlayOptions) -> tuple[Ruleset, PlayOptions]:
    """Return the rules, and the options with the position as one line. Raises UserError."""
    if options.start is None:
        return load_ruleset(options.rules or USUAL_RULES, Path.cwd(), options.choices), options
    if options.rules or options.choices or options.seats:
        raise UserError("A position has rules and seats: leave out --rules, --set and --seats.")
    line = position_line(options.start)
    return check_position(line)[0], options._replace(start=line)


async def _game_between(
    table: PreparedTable, folder: Folder, options: PlayOptions, show: Show
) -> Result | None:
    """Play one game, commit to its deals before and reveal them after; None if the person left."""
    sandbox = choose_sandbox(options.sandbox, Limits(), folder.path)
    secret = secrets.token_bytes(SECRET) if options.seed is None else seeded(options.seed)
    seed = board_seed(secret, PLAY_EVENT, options.played + 1)
    # Known before the game: nobody can say later that the deals were chosen.
    publish_line(folder.commitments, Commitment(table.number, commitment(seed)))
    # The log shows every hand: only its owner may read it until the game is over.
    with kept_private(folder, lambda: True):
        result = await sat_down(table, folder, sandbox, seed, show)
    if result:
        publish_line(folder.seeds, Reveal(table.number, seed.hex()))
    _tell(folder, table, result)
    return result


def _tell(folder: Folder, table: PreparedTable, result: Result | None) -> None:
    """Print the result and the commands that replay the game."""
    logged = next(iter(read_games(folder.log(table.game))), None)
    if logged is None:
        print_note("Nobody came to play.")
        return
    print_line(text.game_line(logged))
    if result is None:
        print_note("The game was not finished and does not count.")
    print_line(f"Replay it: {replay_command(folder, table)}")
    if result:
        mistakes = replay_command(folder, table, "explain")
        print_line(f"See your mistakes: {mistakes} --review --seat {table.seat} --quiz")


def replay_command(folder: Folder, table: PreparedTable, verb: str = "replay") -> str:
    """Return the command that replays the game, or explains it."""
    near = folder.path.is_relative_to(Path.cwd())
    path = folder.path.relative_to(Path.cwd()) if near else folder.path
    return shlex.join(("boneyard", verb, str(path), table.game))


async def _at_terminal(table: PreparedTable, folder: Folder, options: PlayOptions) -> int:
    console = Console(highlight=False)
    partners = table.rules.deal.partners
    look = text.Look(table.names, console.width, partners=partners)
    for line in _welcome(table, look):
        print_line(line)
    show = TerminalPlayer(console, sys.stdin.fileno(), look).show
    return 0 if await _game_between(table, folder, options, show) else INTERRUPTED


async def _with_agent(table: PreparedTable, folder: Folder, options: PlayOptions) -> int:
    """Play a game with an agent in the seat, and answer it until it leaves."""
    assert options.mcp
    seat = AgentSeat()
    async with serve_agents(seat, options.mcp, options.port) as address:
        if address:
            print_line(f"Address of the agent's seat: {address}")
            print_note("Only this machine can reach it. Ctrl-C ends it.")
        if not await _game_between(table, folder, options, seat.show):
            return INTERRUPTED
        with cancelled_by_signals():
            await seat.closed.wait()
    return 0


async def _in_browser(table: PreparedTable, folder: Folder, options: PlayOptions) -> int:
    """Play games in the browser as long as the person asks for another; return the exit code."""
    from arena.ui.server import BrowserPlayer, open_site

    clock = table.clock.bank_ms > 0
    browser = BrowserPlayer(*_page_of(table, folder), clock=clock)
    purpose = "Open this page to play"
    async with open_site(browser.site, options.port, purpose, browser=options.browser):
        while await _game_between(table, folder, options, browser.show):
            make = {"review": _review, "quiz": _quiz}
            browser.later_pages = {name: partial(make[name], folder, table) for name in make}
            print_note("The page offers another game. Close it, or press Ctrl-C, to end.")
            if not await _wants_another(browser):
                return 0
            seat = (table.seat + browser.swap) % len(table.names)
            options = options._replace(seat=seat, played=options.played + 1)
            table = prepare_table(options, table.rules, folder)
            browser.prepare(*_page_of(table, folder))
    return INTERRUPTED


def _page_of(table: PreparedTable, folder: Folder) -> tuple[GameInfo, str]:
    return game_info(table.game, table.names, table.rules), replay_command(folder, table)


def _review(folder: Folder, table: PreparedTable) -> str:
    """Return the page of the game with the values of all choices, in seconds."""
    from arena.ui.replay_page import pack_game, replay_page

    (logged,) = read_games(folder.log(table.game))
    return replay_page(table.game, pack_game(logged, terms=USUAL_TERMS))


def _quiz(folder: Folder, table: PreparedTable) -> str:
    """Return the page that asks the person's dearest decisions again, in seconds."""
    from arena.ui.position_pages import quiz_page

    reviewed = review_log(folder.log(table.game), {table.names[table.seat]})
    return quiz_page(quiz_cards(reviewed))


async def _wants_another(browser: "BrowserPlayer") -> bool:
    """Wait until the person asks for another game; return False if they leave."""
    wanted = False
    with cancelled_by_signals():
        wanted = await browser.wants_another()
    return wanted  # noqa: RET504 - a signal ends the wait before


def _welcome(table: PreparedTable, look: text.Look) -> Iterator[str]:
    others = ", ".join(
        f"{look.name(seat)} (seat {seat})" for seat in range(len(table.names)) if seat != table.seat
    )
    yield f"Seat {table.seat} is yours; the others are {others}."
    if look.partners:
        yield f"Sides: {' against '.join(look.parties())}."
    name, words = table.rules.name, find_overrides(table.rules)
    explained = "" if words is None else f"; `{rules_command(name, words)}` explains them"
    yield f"Rules: {ruleset_title(name, words or ())}{explained}."
    if table.clock.bank_ms:
        yield f"You have {table.clock.move_ms // 1000} s for each answer, and some for the game."
    yield ""


async def sat_down(
    table: PreparedTable, folder: Folder, sandbox: Sandbox, seed: bytes, show: Show
) -> Result | None:
    """Play the game with the person at this screen; return None if they left or never connected.

    Errors come out in an exception group: StoppedError, CannotStartError, LagError, OSError,
    UserError when a bot does not greet.
    """
    person, ready, over = HumanPlayer(), trio.Event(), trio.Event()
    live = LiveFrames(_referee(table, seed), table.seat)
    results: list[Result] = []

    async def play() -> None:
        await ready.wait()
        results.append(await _game(table, folder, sandbox, live, person))
        over.set()

    with cancelled_by_signals():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(play)
            if await show(person, live, ready):
                await over.wait()
            nursery.cancel_scope.cancel()
    return results[0] if results else None


async def _game(
    table: PreparedTable, folder: Folder, sandbox: Sandbox, live: LiveFrames, person: HumanPlayer
) -> Result:
    """Play the game and keep nothing of it but its log."""
    poller = Poller()
    pool = BotPool(poller, [bot.command for bot in table.bots], table.clock.start_ms, sandbox)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(poller.run)
        async with keep_bots(pool, start=False):
            bots = await greeted(pool, table.bots)
            sitting = Sitting(
                format=LOG_FORMAT,
                boneyard=__version__,
                event=PLAY_EVENT,
                seats=table.names,
                boards=(table.number,),
                rules=table.rules,
                clock=table.clock,
                sandbox=sandbox.state,
                missing=sandbox.confinement.missing,
                clocks=table.clocks or UNSET,
                position=table.position or UNSET,
            )
            live.log = log = GameLog(folder.log(table.game), sitting)
            try:
                seats = [*bots[: table.seat], person, *bots[table.seat :]]
                result = await Table(poller, live.referee, seats, live).play()
                log.sync()
            finally:
                log.close()
        nursery.cancel_scope.cancel()
    return result


async def greeted(pool: BotPool, entrants: Sequence[Entrant]) -> list[BotProcess | None]:
    """Start the bots and return them once all have greeted.

    Raises UserError for the first that does not, StoppedError, CannotStartError, LagError.
    """
    bots = await start_bots(pool)
    for entrant, bot in zip(entrants, bots, strict=True):
        if bot and (complaint := greeting_complaint(entrant.name, bot)):
            raise UserError(complaint)
    return bots


def _referee(table: PreparedTable, seed: bytes) -> Referee:
    numbered = numbers(".".join(table.names), (table.number,), lambda _: seed)
    seating = GameSetup(
        game=table.game,
        number=numbered[table.number],
        board=table.number,
        seats=table.names,
        rules=table.rules,
        clock=table.clock,
        clocks=table.clocks,
        opening=draw_opening(table.position, seed) if table.position else None,
    )
    return Referee(seating, seed)
