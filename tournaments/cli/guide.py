"""Commands about the program itself: help, version, completion."""

import click
from click.shell_completion import CompletionItem

from protocol.errors import UserError, unknown_name
from tournaments.cli.aliases import unknown_command
from tournaments.cli.completion import offered

PROGRAM = "boneyard"
VARIABLE = "_BONEYARD_COMPLETE"
"""The variable in which a shell asks what may come next."""
SHELLS = ("bash", "zsh", "fish")


def _commands(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    group = context.find_root().command
    return offered(group.commands if isinstance(group, click.Group) else (), begun)


@click.command("help")
@click.argument("command", nargs=-1, shell_complete=_commands)
@click.pass_context
def help_(context: click.Context, command: tuple[str, ...]) -> None:
    """Show the help of a command, as `boneyard COMMAND --help` does.

    \b
    Examples:
      boneyard help
      boneyard help run
    """
    parent = context.parent
    assert parent, "There is a group above every command."
    assert isinstance(parent.command, click.Group)
    if not command:
        click.echo(parent.get_help())
        return
    found = parent.command.get_command(parent, command[0])
    if found is None:
        raise unknown_command(command[0], parent.command.commands)
    with click.Context(found, parent, info_name=command[0]) as its:
        click.echo(found.get_help(its))


@click.command()
def version() -> None:
    """Show the version.

    \b
    Example:
      boneyard version
    """
    from protocol import __version__

    click.echo(f"{PROGRAM}, version {__version__}")


@click.command()
@click.argument("shell", required=False, shell_complete=lambda *asked: offered(SHELLS, asked[-1]))
@click.pass_context
def completion(context: click.Context, shell: str | None) -> None:
    """Print a script that completes commands in your shell.

    It completes commands, options, bots, games of rules, events, games, seats and questions.
    SHELL is bash, zsh or fish; without it, the one in $SHELL. For one session, or for good:

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
