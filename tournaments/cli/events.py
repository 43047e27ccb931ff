"""Commands that play an event: demo, run, worker."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.analysis.find import DEMO, RUNS
from protocol.errors import UserError
from tournaments.cli.arguments.completion import complete_bots, complete_events
from tournaments.cli.arguments.options import (
    CHOICES,
    DIRECTORY,
    JOBS,
    OLD_DIRECTORY,
    SANDBOX,
    WISH,
    SectionedCommand,
    flag,
    help_all,
    in_section,
    number,
)

OUT: dict[str, Any] = {
    "type": DIRECTORY,
    "shell_complete": complete_events,
    "help": "The event's folder; use the same one again to continue.",
}
TLS: dict[str, Any] = {
    "type": OLD_DIRECTORY,
    "default": None,
    "help": "A folder with ca.pem, cert.pem and key.pem, for the scheduler.",
}
_format, _machine, _other = (in_section(title, rare=True) for title in ("Format", "Machine", ""))
_json = click.option(
    "--json", "in_json", is_flag=True, help="Print results.json instead of a table."
)


class EventCommand(SectionedCommand):
    """A command with the options of an event file; they are made only when it is called."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the argument, the options of the event file, and the command's own."""
        from tournaments.cli.arguments.event_options import event_options

        what, *own = super().get_params(ctx)
        return [what, *event_options(), *own]


@click.command(cls=EventCommand)
@click.argument("what", nargs=-1, shell_complete=complete_bots)
@CHOICES
@_format(
    "--fail-unless",
    type=click.Choice(["better", "undecided"]),
    help="versus: exit code 3 unless the first bot is better, or at least the test undecided.",
)
@JOBS
@_machine(
    "--cluster",
    metavar="ADDRESS",
    help="Play on the workers of the scheduler at this address. See `boneyard worker`.",
)
@_machine("--tls", **TLS)
@click.option(
    "--seed",
    type=int,
    help="Fix the deals, for tests and demonstrations: anyone can then predict them.",
)
@click.option("--out", show_default=f"{RUNS}/ and what is played", **OUT)
@flag("--plan", "Only estimate the duration and the precision of the ratings.")
@number("--seconds", "Time limit of the games of --plan, in s.", 1, 600, 8, section=_other)
@flag(
    "--keep-stderr",
    "Keep in the game logs what bots write to stderr, beside their answers, bounded.",
    section=_other,
)
@_json
@help_all
def run(what: tuple[str, ...], **options: Any) -> None:
    """Play an event: an event file, or bots by name, file or command.

    Every pairing plays every board once in each rotation of the seats. The event goes into a folder
    under runs/, called after what is played. Run the same command again to continue where it
    stopped; with more boards or rounds it plays only the missing games. A bot whose files changed
    plays on as mine@2, beside the games of the files before.

    With [tune] in the event file the run searches better values for a bot's parameters, and tests
    them on new deals. With --plan the bots play for some seconds, on separate deals: it prints how
    many games, questions and minutes the event will take, and how precise its ratings will be.

    Exit codes: 0 all is played, 1 the machine or a bug stopped the run, 2 a mistake of yours, 3 the
    answer was not that of --fail-unless, 130 Ctrl-C.

    \b
    Examples:
      boneyard run greedy counting
      boneyard run bot_a.py ./bot_b "node bot_c.mjs" --rules dutch --boards 50
      boneyard run friday.toml --jobs 4 --plan
      boneyard run friday.toml --cluster tls://head:8786 --tls certificates
      boneyard run greedy counting --set draw_limit=2 --seats 2
      boneyard run montecarlo@200ms greedy
      boneyard run montecarlo@20ms montecarlo@100ms montecarlo@500ms --boards 20
      boneyard run my_bot.py old_bot.py --format versus --fail-unless better
      boneyard run my_bot.py old_bot.py --format versus --measure points --h1 5 --without-luck
      boneyard run first greedy random counting --format swiss --rounds 3
    """
    from tournaments.cli.arguments.event_options import take_event_fields

    if not what:
        raise UserError("Name two bots, as in: boneyard run mine greedy; or an event file.")
    from tournaments.commands.run import run_event

    sys.exit(run_event(what, take_event_fields(options), **options))


@click.command(cls=SectionedCommand)
@number("--boards", "Boards for each pairing.", 1, None, 20)
@SANDBOX
@JOBS
@click.option("--out", default=Path(DEMO), show_default=True, **OUT)
@_json
def demo(**options: Any) -> None:
    """See it work: the sample bots play and are rated.

    On the ladder of sample bots each meets its neighbours; a bot in each other language meets the
    first. They play draw to 30 points. Bots that this machine cannot run are left out. The
    deals are fixed, so that everybody sees the same demo.

    \b
    Examples:
      boneyard demo
      boneyard demo --boards 50 --out longer
      boneyard demo --json > results.json
    """
    from tournaments.commands.run import run_demo

    sys.exit(run_demo(**options))


@click.command(cls=SectionedCommand)
@click.argument("address")
@JOBS
@click.option("--name", default=None, help="Name in the report.  [default: machine-process]")
@click.option(
    "--folder",
    type=DIRECTORY,
    help="Folder in which to unpack, build and keep bots.  [default: a temporary one]",
)
@number(
    "--patience",
    "Time to look for the scheduler, in s, before the first connection or after a cut.",
    1,
    86_400,
    300,
)
@click.option(
    "--sandbox",
    type=WISH,
    default="auto",
    show_default=True,
    help="require: play nothing unless bots run in a sandbox; off: play only events that ask for "
    "none.",
)
@click.option("--tls", **TLS)
def worker(**options: Any) -> None:
    """Play sittings for runs on other machines.

    A scheduler at ADDRESS hands out the sittings. Start as many workers as you like, at any time,
    on machines that have the programs that the bots need; a run finds them by the same address
    (`boneyard run EVENT --cluster ADDRESS`). A worker first tests which sandbox its machine
    supports, and plays no event that requires a better one. Ctrl-C ends the worker; other workers
    then play its unfinished sittings.

    \b
    Examples:
      boneyard worker tls://head:8786 --tls certificates --jobs 8
    """
    from tournaments.cluster.address import need_engine

    # Before the import of what builds on it.
    need_engine("boneyard worker")
    from tournaments.cluster.worker import WorkerOptions, work

    sys.exit(work(WorkerOptions(**options)))
