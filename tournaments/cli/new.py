"""The command that makes a bot: new."""

from pathlib import Path

import click

from protocol.errors import UserError
from tournaments.cli.complete import complete_languages


@click.command()
@click.argument("language", default="", shell_complete=complete_languages)
@click.argument("name", default="")
def new(language: str, name: str) -> None:
    """Make a bot that plays at once.

    A folder NAME with its source, and an entry in bots.toml. Without anything: list the languages,
    and whether this machine has what they need. What needs a toolchain that is not there is made
    all the same.

    \b
    Examples:
      boneyard new
      boneyard new python mine
      boneyard new rust crab
    """
    from tournaments.plan.scaffold import make_bot

    if not language:
        return _list()
    if not name:
        raise UserError(f"What shall it be called? boneyard new {language} NAME")
    made = make_bot(language, name, Path())
    source, *_ = made.files
    click.echo(f"Made {', '.join(map(str, made.files))}, and an entry in bots.toml.")
    if made.missing:
        click.echo(made.missing)
    click.echo(f"Your idea goes into `choose` in {source}. Is it better than greedy?")
    click.echo(f"  boneyard run {name} greedy")
    return None


def _list() -> None:
    from tournaments.plan.scaffold import languages, missing_programs

    for key, language in languages().items():
        click.echo(f"{key:<12} {language.title:<12} {missing_programs(language) or 'ready'}")
