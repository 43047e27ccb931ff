"""Commands that play an event or estimate one: demo, run, plan."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from arena.analysis.find import DEMO, RUNS, usual_folder
from tournaments.cli.arguments.completion import (
    complete_bots,
    complete_entrants,
    complete_events,
    complete_planned,
    complete_rules,
)
from tournaments.cli.arguments.options import CHOICES, WISH, FormatName, SectionedCommand
from tournaments.cli.cluster import tls

if TYPE_CHECKING:
    from arena.sandbox.limits import SandboxMode

Command = TypeVar("Command", bound=Callable[..., Any])


def _out_option(default: Path | None, shown: str) -> Callable[[Command], Command]:
    return click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=default,
        show_default=shown,
        shell_complete=complete_events,
        help="The event's folder; use the same one again to continue.",
    )


_jobs = click.option(
    "--jobs",
    type=click.IntRange(1, 512),
    default=None,
    help="Parallel sittings.  [default: cores - 1, or more if the bots are quick]",
)
_cluster = click.option(
    "--cluster",
    default=None,
    metavar="ADDRESS",
    help="Play on workers: those of the scheduler at this address, or with local:4 four that are "
    "started on this machine. See `boneyard worker`.",
)
_seed = click.option(
    "--seed",
    type=int,
    default=None,
    help="Fix the deals, for tests and demonstrations: anyone can then predict them.",
)


_sandbox = click.option(
    "--sandbox",
    type=WISH,
    default=None,
    help="auto: the best that this machine supports; require: bots run in a sandbox, or nothing is "
    "played; off: plain processes. See `boneyard doctor`.  [default: auto]",
)


_rules = click.option(
    "--rules",
    default=None,
    shell_complete=complete_rules,
    help="A named game or your own rules file; see `boneyard rules`.  [default: draw]",
)
_json = click.option(
    "--json", "as_json", is_flag=True, help="Print results.json instead of a table."
)


_RUN_SECTIONS = {
    "Game": ("title", "rules", "set", "seats", "boards", "move-ms", "clock", "scale", "ask-forced"),
    "Deals": ("deals", "deals-from", "deals-with", "seed"),
    "Format": (
        "format",
        "rounds",
        "challenger",
        "h0",
        "h1",
        "measure",
        "without-luck",
        "fail-unless",
        "anchor",
        "fresh-boards",
    ),
    "Machine": ("sandbox", "jobs", "cluster", "tls"),
}


@click.command(cls=SectionedCommand, sections=_RUN_SECTIONS)
@click.argument("what", nargs=-1, required=True, shell_complete=complete_bots)
@click.option("--title", default=None, help="Title of the event, for its readers.")
@_rules
@CHOICES
@click.option(
    "--seats",
    type=click.IntRange(2, 8),
    default=None,
    help="Seats at a table.  [default: the fewest possible]",
)
@click.option(
    "--boards",
    type=click.IntRange(1),
    default=None,
    help="Boards for each pairing; with versus the maximum.  [default: 50, or all set deals]",
)
@click.option(
    "--deals",
    type=click.Path(dir_okay=False),
    default=None,
    help="Play the deals of this file, a board a line; see `boneyard help events`.",
)
@click.option(
    "--deals-from",
    nargs=2,
    default=None,
    metavar="FOLDER GAME",
    help="Play the deals of a game of an event's folder or log; all: those of all its boards.",
)
@click.option(
    "--deals-with",
    multiple=True,
    metavar="FILTER",
    help="Draw only deals such as doubles>=4: doubles, suit or pips in a hand, or spread of pips; "
    "may be repeated.",
)
@click.option(
    "--format",
    type=FormatName(),
    default=None,
    help="Format of the event.  [default: round-robin]",
)
@click.option("--rounds", type=click.IntRange(1, 1000), default=None, help="swiss: rounds.  [5]")
@click.option(
    "--challenger",
    "challengers",
    multiple=True,
    metavar="BOT",
    shell_complete=complete_entrants,
    help="gauntlet [the first bot], ladder [the last]: bot that meets the field; may be repeated.",
)
@click.option("--h0", type=float, default=None, help="versus: the lead if not better.  [0]")
@click.option("--h1", type=float, default=None, help="versus: the lead if better.  [20]")
@click.option(
    "--measure",
    type=click.Choice(["elo", "nelo", "points"]),
    default=None,
    help="versus: the unit of --h0 and --h1.  [elo]",
)
@click.option(
    "--without-luck",
    is_flag=True,
    help="versus: take the luck of the draw out of the points; mostly fewer boards are needed.",
)
@click.option(
    "--move-ms", type=click.IntRange(1), default=None, help="Time for each question, in ms."
)
@click.option(
    "--clock",
    "clocks",
    multiple=True,
    metavar="BOT=TIME",
    help="Time of one bot for each question, as mine=200ms: it plays as mine@200ms, with a bank in "
    "proportion, or its own: mine=200ms-bank2s; may be repeated.",
)
@click.option(
    "--scale",
    metavar="TIME,TIME…",
    default=None,
    help="Play the first bot once at each of these clocks, as 50ms,200ms,1s; the report draws its "
    "Elo against time.",
)
@click.option(
    "--anchor",
    metavar="NAME=ELO",
    default=None,
    help="Give a bot this rating, in the report; later runs keep it.",
)
@_sandbox
@click.option(
    "--ask-forced",
    is_flag=True,
    help="Also ask if there is only one option: slower, but the timing reveals no hands.",
)
@click.option(
    "--fresh-boards",
    is_flag=True,
    help="Let bots that enter later play on boards that nobody has seen.",
)
@_seed
@_jobs
@_cluster
@tls
@click.option(
    "--keep-stderr",
    is_flag=True,
    help="Keep in the game logs what bots write to stderr, beside their answers, bounded.",
)
@_out_option(None, f"{RUNS}/ and what is played")
@_json
@click.option(
    "--fail-unless",
    type=click.Choice(["better", "undecided"]),
    default=None,
    help="versus: exit code 3 unless the first bot is better, or at least the test undecided.",
)
@click.option(
    "--luck", is_flag=True, help="Then rate the bots with the luck of the draw taken out, too."
)
def run(
    out: Path | None,
    keep_stderr: bool,
    jobs: int | None,
    cluster: str | None,
    tls: Path | None,
    seed: int | None,
    as_json: bool,
    luck: bool,
    fail_unless: Literal["better", "undecided"] | None,
    **event: Any,
) -> None:
    """Play an event: an event file, or bots by name, file or command.

    Every pairing plays every board once in each rotation of the seats. The event goes into a folder
    under runs/, called after what is played. Run the same command again to continue where it
    stopped; with more boards or rounds it plays only the missing games. A bot
    whose files changed plays on as mine@2, beside the games of the files before.

    Exit codes: 0 all is played, 1 the machine or a bug stopped the run, 2 a mistake of yours, 3 the
    answer was not that of --fail-unless, 130 Ctrl-C.

    \b
    Examples:
      boneyard run greedy counting
      boneyard run bot_a.py ./bot_b "node bot_c.mjs" --rules dutch --boards 50
      boneyard run "montecarlo --worlds 25" counting
      boneyard run friday.toml --jobs 4
      boneyard run friday.toml --cluster tls://head:8786 --tls certificates
      boneyard run greedy counting --set draw_limit=2 --seats 2
      boneyard run greedy counting --deals-with "doubles>=4"
      boneyard run my_bot.py old_bot.py --luck
      boneyard run montecarlo greedy --clock montecarlo=200ms
      boneyard run montecarlo --scale 20ms,100ms,500ms --boards 20
      boneyard run montecarlo@100ms montecarlo@1s --format versus
      boneyard run my_bot.py old_bot.py --format versus --fail-unless better
      boneyard run my_bot.py old_bot.py --format versus --measure points --h1 5 --without-luck
      boneyard run first greedy random counting --format swiss --rounds 3
    """
    from tournaments.commands.run import RunOptions, run_event
    from tournaments.plan.from_options import EventOptions

    run_options = RunOptions(
        EventOptions(**event),
        out,
        jobs,
        cluster,
        tls,
        seed,
        keep_stderr=keep_stderr,
        luck=luck,
        as_json=as_json,
        fail_unless=fail_unless,
    )
    sys.exit(run_event(run_options))


@click.command()
@click.argument("file", type=click.Path(dir_okay=False), shell_complete=complete_planned)
@click.option(
    "--boards",
    type=click.IntRange(1),
    default=None,
    help="Boards of all candidates together; a fifth more, at most 1,000, give the answer.  [5000]",
)
@_rules
@CHOICES
@_sandbox
@_seed
@_jobs
@_cluster
@tls
@_out_option(None, f"{RUNS}/ and the file's name")
@_json
def tune(
    file: str,
    out: Path | None,
    jobs: int | None,
    cluster: str | None,
    tls: Path | None,
    seed: int | None,
    as_json: bool,
    **event: Any,
) -> None:
    """Search better values for a bot's parameters, and test them.

    The event file has one bot, whose command has {name} where it reads a parameter, and the ranges
    in [tune]. Groups of candidates play the bot as it is, on the same deals; luck is taken out. At
    the end the best values play the start values on new deals, and the answer is "Better by 35 ± 12
    Elo" or "No better", with the values to paste. Run the same command again to continue. See
    `boneyard help events`.

    \b
    Examples:
      boneyard tune mine.toml
      boneyard tune mine.toml --boards 1000 --jobs 8
    """
    from tournaments.commands.run import RunOptions
    from tournaments.commands.tune import tune_bot
    from tournaments.plan.from_options import EventOptions

    options = EventOptions((file,), **event)
    sys.exit(tune_bot(RunOptions(options, out, jobs, cluster, tls, seed, as_json=as_json)))


def _takes_what_run_takes(command: click.Command) -> click.Command:
    """Add the options of `run` that describe the event, and `--jobs`."""
    own = {option.name for option in command.params} | {"out", "seed", "cluster", "tls"}
    own |= {"keep_stderr", "luck", "fail_unless"}
    command.params[:0] = [option for option in run.params if option.name not in own]
    return command


@_takes_what_run_takes
@click.command()
@click.argument("what", nargs=-1, shell_complete=complete_planned)
@click.option(
    "--separate",
    nargs=2,
    default=None,
    metavar="BOT BOT",
    shell_complete=complete_entrants,
    help="Two entrants of a folder's event.  [default: all neighbours in its table]",
)
@click.option(
    "--seconds",
    type=click.IntRange(1, 600),
    default=8,
    show_default=True,
    help="Time limit of the calibration, in s.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
def plan(
    separate: tuple[str, str] | None,
    seconds: int,
    jobs: int | None,
    as_json: bool,
    **event: Any,
) -> None:
    """Estimate an event's duration and the precision of its ratings.

    Before a run, give it the arguments of `boneyard run`: the bots play for a few seconds on
    separate deals; then the command prints how many sittings, games, questions and minutes the
    event will take, and how wide the intervals of its ratings will be. After a run, give it the
    event's folder, or nothing if it was the last one: it prints how many boards would separate two
    bots.

    \b
    Examples:
      boneyard plan greedy counting --boards 500
      boneyard plan friday.toml --jobs 4 --json
      boneyard plan friday --separate greedy counting
      boneyard plan
    """
    from tournaments.commands.plan import PlanOptions, estimate
    from tournaments.plan.from_options import EventOptions

    event["what"] = event["what"] or (str(usual_folder()),)
    sys.exit(estimate(PlanOptions(EventOptions(**event), separate, seconds, jobs, as_json)))


@click.command()
@click.option(
    "--boards",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Boards for each pairing.",
)
@_sandbox
@_jobs
@_out_option(Path(DEMO), DEMO)
@_json
def demo(
    boards: int, sandbox: "SandboxMode | None", jobs: int | None, out: Path, as_json: bool
) -> None:
    """Play a rated round robin of the sample bots in half a minute.

    The ladder of sample bots and one bot in each other language play draw to 50 points. Bots that
    this machine cannot run are left out. The deals are fixed, so that everybody sees the same demo.

    \b
    Examples:
      boneyard demo
      boneyard demo --boards 50 --out longer
      boneyard demo --json > results.json
    """
    from tournaments.commands.run import run_demo

    sys.exit(run_demo(out, boards, sandbox, jobs, as_json=as_json))
