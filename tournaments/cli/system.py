"""Commands about this machine and the program itself: doctor, schema, help, completion."""

import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from arena.ui.console import plain_console, print_json
from protocol.errors import UserError, unknown_name
from tournaments.cli.arguments.aliases import unknown_command
from tournaments.cli.arguments.completion import offered


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print every attempt at every level as JSON.")
def doctor(as_json: bool) -> None:
    """Test which sandbox levels this machine supports.

    At each level it runs a bot that tries every mechanism of the sandbox once, as each run does for
    its own level, beside a plain process that shows that the attempts can succeed. It takes about a
    second and leaves no files or processes behind.

    \b
    Examples:
      boneyard doctor
      boneyard doctor --json
    """
    from arena.sandbox import report as doctor
    from arena.sandbox.limits import LEVELS, REQUIRED
    from arena.sandbox.select import examine_level
    from arena.sandbox.selftest.network import describe_network
    from arena.ui.progress import track

    # Most events are in folders below the working folder.
    findings = [
        examine_level(level, Path.cwd()) for level in track(LEVELS, "Levels tried", len(LEVELS))
    ]
    if as_json:
        print_json(findings, indent=2)
        return
    console, sentences = plain_console(), list(doctor.verdict(findings))
    console.print(doctor.guarantee_table(findings), "", sep="\n")
    if any(one.confirmed and one.level in REQUIRED for one in findings):
        sentences.append(describe_network())
    for sentence in sentences:
        console.print(sentence, soft_wrap=not console.is_terminal, markup=False)


@click.command()
@click.argument("what", default="protocol")
def schema(what: str) -> None:
    """Print a JSON Schema, for programs.

    WHAT is protocol (every message, both directions), results, review or rated.

    \b
    Examples:
      boneyard schema > boneyard.schema.json
      boneyard schema results > results.schema.json
    """
    from tournaments.commands.schema import print_schema

    print_schema(what)


PROGRAM = "boneyard"
VARIABLE = "_BONEYARD_COMPLETE"
"""The environment variable in which a shell asks for completions."""
SHELLS = ("bash", "zsh", "fish")
TOPICS = {
    "authors": ("sample_bots", "README.md"),
    "protocol": ("protocol", "SPEC.md"),
    "rulesets": ("arena.rules", "README.md"),
    "events": ("tournaments", "EVENTS.md"),
    "leagues": ("tournaments", "LEAGUE.md"),
    "ratings": ("tournaments", "RATINGS.md"),
    "sandbox": ("arena.sandbox", "README.md"),
    "cluster": ("tournaments.cluster", "README.md"),
    "training": ("arena.training", "README.md"),
    "promises": ("tournaments", "PROMISES.md"),
    "deals": ("protocol", "DEALS.md"),
    "secrets": ("arena", "SECRETS.md"),
    "valuation": ("arena.valuation", "README.md"),
}
"""Pages that `help` prints: the package and the file of each."""


def _subjects(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    group = context.find_root().command
    commands = group.commands if isinstance(group, click.Group) else ()
    return offered([*commands, *TOPICS], begun)


@click.command("help")
@click.argument("subject", nargs=-1, shell_complete=_subjects)
@click.pass_context
def help_(context: click.Context, subject: tuple[str, ...]) -> None:
    """Show the help of a command, or the page about a topic.

    Topics: authors, protocol, rulesets, events, leagues, ratings, sandbox, cluster, training,
    promises, deals, secrets, valuation.

    \b
    Examples:
      boneyard help
      boneyard help run
      boneyard help ratings
    """
    parent = context.parent
    assert parent, "There is a group above every command."
    assert isinstance(parent.command, click.Group)
    if not subject:
        click.echo(parent.get_help())
        return
    found = parent.command.get_command(parent, subject[0])
    if found:
        with click.Context(found, parent, info_name=subject[0]) as its:
            click.echo(found.get_help(its))
    elif subject[0] in TOPICS:
        _show_page(*TOPICS[subject[0]])
    else:
        raise unknown_command(subject[0], [*parent.command.commands, *TOPICS])


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


@click.command()
@click.argument("shell", required=False, shell_complete=lambda *asked: offered(SHELLS, asked[-1]))
@click.pass_context
def completion(context: click.Context, shell: str | None) -> None:
    """Print a script that completes commands in your shell.

    It completes commands, options, bots, rulesets, events, games, seats and questions. SHELL is
    bash, zsh or fish; by default it is the one in $SHELL.

    \b
    Examples:
      source <(boneyard completion bash)
      boneyard completion zsh > ~/.zfunc/_boneyard
      boneyard completion fish > ~/.config/fish/completions/boneyard.fish
    """
    import os
    from pathlib import Path

    from click.shell_completion import get_completion_class

    name = shell or Path(os.environ.get("SHELL", "")).name
    found = get_completion_class(name) if name in SHELLS else None
    if found is None and shell is None:
        raise UserError(f"Name a shell: {', '.join(SHELLS)}.")
    if found is None:
        raise unknown_name("shell", name, SHELLS)
    click.echo(found(context.find_root().command, {}, PROGRAM, VARIABLE).source())
