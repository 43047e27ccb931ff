"""Commands about this machine and the program itself: doctor, help, help schema, worker."""

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from arena.ui.console import plain_console, print_json
from protocol.codec import log_schema, protocol_schema, schema_of
from protocol.errors import UserError, unknown_name
from tournaments.cli.main import unknown_command
from tournaments.cli.options import (
    DIRECTORY,
    JOBS,
    TLS,
    WISH,
    command,
    complete,
    flag,
    number,
    typed,
)
from tournaments.cli.rate import RATED_FORMAT, Rated
from tournaments.event.luck import REVIEW_FORMAT
from tournaments.report.results_file import RESULTS_FORMAT, Results
from tournaments.report.review import ReviewSummary

# The command `help schema`: prints the JSON Schemas that programs may rely on.


def _league_schema() -> dict[str, Any]:
    from tournaments.league.ratings import LeagueTable  # It needs numpy.

    return schema_of(LeagueTable, "Boneyard league")


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "protocol": protocol_schema,
    "log": log_schema,
    "results": partial(schema_of, Results, f"Boneyard results {RESULTS_FORMAT}"),
    "review": partial(schema_of, ReviewSummary, f"Boneyard review {REVIEW_FORMAT}"),
    "rated": partial(schema_of, Rated, f"Boneyard ratings {RATED_FORMAT}"),
    "league": _league_schema,
}
"""The protocol, a line of a game log, results.json, review.json, `show A B --json`, league.json."""


def print_schema(name: str = "protocol") -> None:
    """Print a schema by its name. Raises UserError."""
    if name not in SCHEMAS:
        raise unknown_name("schema", name, SCHEMAS)
    print_json(SCHEMAS[name](), indent=2)


def require_linux(name: str) -> None:
    """Refuse a command that other systems do not have. Raises UserError."""
    if sys.platform != "linux":
        raise UserError(
            f"`{name}` needs Linux: run it in a Linux container or a virtual machine, on Windows "
            "in WSL 2; `boneyard help sandbox` describes ours."
        )


# The command `worker`: plays sittings for runs on other machines.


@command()
@click.argument("address")
@JOBS
@click.option("--name", help="Name in the report.  [default: machine-process]")
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
@TLS()
def worker(**options: Any) -> int:
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
    require_linux("worker")
    from tournaments.play.cluster.orders import need_engine

    # First: the import below needs the engine's packages.
    need_engine("boneyard worker")
    from tournaments.play.cluster.worker import work

    return work(**options)


# Commands about this machine and the program itself: doctor, help.


@command()
@flag("--json", "Print every attempt as JSON.", "as_json")
def doctor(as_json: bool) -> None:
    """Test whether bots can be locked in on this machine.

    It runs a bot that tries every mechanism of the sandbox once, as each run does, beside a plain
    process that shows that the attempts can succeed. It takes about a second and leaves no files or
    processes behind.

    \b
    Examples:
      boneyard doctor
      boneyard doctor --json
    """
    require_linux("doctor")
    from arena.sandbox.command import OFF
    from arena.sandbox.report import guarantee_table, verdict
    from arena.sandbox.select import describe_network, examine, try_to_lock
    from arena.sealed.module import about_toolchains

    # Most events are in folders below the working folder.
    locked, off = try_to_lock(Path.cwd()), examine(OFF, Path.cwd())
    if off.why_not:
        raise UserError(
            f"Nothing can be tried here: {off.why_not} `boneyard doctor` needs a folder that you "
            "may write to: start it in one."
        )
    if as_json:
        print_json((locked, off), indent=2)
        return
    console, sentences = plain_console(), list(verdict(locked))
    console.print(guarantee_table((locked, off)), "", sep="\n")
    if locked.is_proven:
        sentences.append(describe_network())
    sentences.append(about_toolchains())
    for sentence in sentences:
        console.print(sentence, soft_wrap=not console.is_terminal, markup=False)


PROGRAM_NAME = "boneyard"
COMPLETION_VARIABLE = "_BONEYARD_COMPLETE"
"""The environment variable in which a shell asks for completions."""
SHELLS = ("bash", "zsh", "fish")
TOPICS = {
    "authors": ("sample_bots", "README.md"),
    "protocol": ("protocol", "SPEC.md"),
    "rulesets": ("arena.rules", "README.md"),
    "events": ("tournaments", "EVENTS.md"),
    "install": ("tournaments", "INSTALL.md"),
    "leagues": ("tournaments", "LEAGUE.md"),
    "ratings": ("tournaments", "RATINGS.md"),
    "methods": ("tournaments", "METHODS.md"),
    "sandbox": ("arena.sandbox", "README.md"),
    "sealed": ("arena.sealed", "README.md"),
    "cluster": ("tournaments.play.cluster", "README.md"),
    "training": ("arena.training", "README.md"),
    "promises": ("tournaments", "PROMISES.md"),
    "deals": ("protocol", "DEALS.md"),
    "secrets": ("arena", "SECRETS.md"),
    "valuation": ("arena.valuation", "README.md"),
}
"""Pages that `help` prints: the package and the file of each."""


LISTS = {"bots": (), "completion": SHELLS, "schema": tuple(SCHEMAS)}
"""Subjects of which `help` prints facts, each with the words that may follow."""


def _subjects(context: click.Context, _: str) -> Iterable[str]:
    return next((LISTS[word] for word in typed() if word in LISTS), _all_subjects(context))


def _all_subjects(context: click.Context) -> list[str]:
    group = context.find_root().command
    assert isinstance(group, click.Group)
    return [*group.list_commands(context), *TOPICS, *LISTS]


@command("help")
@click.argument("subject", nargs=-1, shell_complete=complete(_subjects))
@flag("--json", "Print the list of bots as JSON.", "as_json")
@click.pass_context
def help(context: click.Context, subject: tuple[str, ...], as_json: bool) -> None:
    """Show the help of a command, a page about a topic, or a list.

    Topics: authors, protocol, rulesets, events, leagues, ratings, methods, sandbox, sealed,
    cluster, training, promises, deals, secrets, valuation.

    \b
    help bots                  the sample bots and those in folders here, and what they need
    help schema [NAME]         the JSON Schema of protocol, log, results, review, rated or league
    help completion [SHELL]    a script that completes commands in bash, zsh or fish

    \b
    Examples:
      boneyard help run
      boneyard help ratings
      boneyard help bots
      boneyard help schema results > results.schema.json
      source <(boneyard help completion bash)
      boneyard help completion zsh > ~/.zfunc/_boneyard
      boneyard help completion fish > ~/.config/fish/completions/boneyard.fish
    """
    parent = context.parent
    assert parent, "There is a group above every command."
    assert isinstance(parent.command, click.Group)
    name, *more = subject or ("",)
    subcommand = parent.command.get_command(parent, name)
    if not name:
        click.echo(parent.get_help())
    elif subcommand:
        with click.Context(subcommand, parent, info_name=name) as child:
            click.echo(subcommand.get_help(child))
    elif name in TOPICS:
        _show_page(*TOPICS[name])
    elif name == "bots":
        _list_bots(as_json)
    elif name == "schema":
        print_schema(*more[:1])
    elif name == "completion":
        _print_completion(context, *more[:1])
    else:
        raise unknown_command(name, _all_subjects(context))


def _list_bots(as_json: bool) -> None:
    """List the sample bots and the user's own, and say which cannot run here and why."""
    from tournaments.plan.bots import all_bots

    bots = {name: entry.bot for name, entry in all_bots(Path.cwd()).items()}
    if as_json:
        entries = [
            {"name": name, "about": bot.about, "available": bot.available, "lacks": bot.lacks}
            for name, bot in bots.items()
        ]
        print_json(entries)
        return
    for name, bot in bots.items():
        state = "" if bot.available else f"  (needs {bot.needs})"
        click.echo(f"{name:<12} {bot.about}{state}".rstrip())


def _show_page(package: str, name: str) -> None:
    """Print a page: formatted on a terminal, as Markdown into a pipe."""
    from importlib.resources import files

    text = files(package).joinpath(name).read_text(encoding="utf-8")
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))


def _print_completion(context: click.Context, shell: str | None = None) -> None:
    """Print the script of a shell, by default of the one in $SHELL. Raises UserError."""
    import os

    from click.shell_completion import get_completion_class

    name = shell or Path(os.environ.get("SHELL", "")).name
    shell_class = get_completion_class(name) if name in SHELLS else None
    if shell_class is None and shell is None:
        raise UserError(f"Name a shell: {', '.join(SHELLS)}.")
    if shell_class is None:
        raise unknown_name("shell", name, SHELLS)
    click.echo(
        shell_class(context.find_root().command, {}, PROGRAM_NAME, COMPLETION_VARIABLE).source()
    )
