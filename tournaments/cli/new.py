"""The command `new`: makes a bot from a template, or a league."""

from pathlib import Path

import click

from arena.sealed.module import INTERPRETED
from protocol.errors import UserError
from tournaments.cli.options import command, complete_languages, flag
from tournaments.plan.scaffold import language_key, languages, make_bot, missing_programs


@command()
@click.argument("language", default="", shell_complete=complete_languages)
@click.argument("name", default="")
@flag(
    "--sealed", "For WebAssembly: c, rust and go build a module; python and javascript need none."
)
def new(language: str, name: str, sealed: bool) -> int:
    """Create a working bot in a language of your choice.

    The command makes a folder NAME with the bot's source and a bot.toml, which says how to run it;
    commands beside the folder find the bot by its name. Without
    arguments it lists the languages, and the programs that each still needs on this machine. It
    creates a bot even if its toolchain is missing. With the word league it makes a league instead;
    see `boneyard league`.

    \b
    Examples:
      boneyard new
      boneyard new python mine
      boneyard new rust crab
      boneyard new --sealed c vault
      boneyard new league class
    """
    if not language:
        for key, entry in languages().items():
            click.echo(f"{key:<12} {entry.title:<12} {missing_programs(entry) or 'ready'}")
        return 0
    if not name:
        if language != "league" and not language_key(language):
            raise UserError(f"Name the language first, as in: boneyard new python {language}")
        kind = "league" if language == "league" else "bot"
        raise UserError(f"Missing {kind} name. Usage: boneyard new {language} NAME")
    if language == "league":
        from tournaments.league.settings import make_league

        return make_league(Path(name))
    result = make_bot(language, name, Path(), sealed=sealed)
    source, *_ = result.files
    click.echo(f"Made {', '.join(map(str, result.files))}.")
    if result.missing:
        click.echo(result.missing)
    click.echo(f"Put your idea into `choose` in {source}. Check it, and compare it with greedy:")
    # A module is sealed by itself.
    mark = "@sealed" if sealed and language_key(language) in INTERPRETED else ""
    click.echo(f"  boneyard check {name}{mark}\n  boneyard run {name}{mark} greedy --boards 100")
    return 0
