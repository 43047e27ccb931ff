"""Commands about bots: check, new, bots."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.ui.console import print_json
from protocol.errors import UserError
from tournaments.cli.arguments.completion import complete_bots, complete_languages
from tournaments.cli.arguments.options import WISH


@click.command()
@click.argument("bots", metavar="BOT...", nargs=-1, shell_complete=complete_bots)
@click.option("--all", "every", is_flag=True, help="Check all bots of bots.toml.")
@click.option("--bot", "name", metavar="NAME", default=None, help="Only this bot of an event file.")
@click.option(
    "--only",
    multiple=True,
    metavar="STEP",
    help="Run only these steps: number (5), range (5-9), name or list (1,5-9); may be repeated.",
)
@click.option("--list", "listed", is_flag=True, help="List the steps and exit.")
@click.option("--quick", is_flag=True, help="Play one round of each game instead of whole games.")
@click.option(
    "--seconds",
    type=click.IntRange(1, 86_400),
    default=300,
    show_default=True,
    help="Time after which no further step begins, in s.",
)
@click.option(
    "--start-ms", type=click.IntRange(1, 600_000), default=None, help="Time for the hello, in ms."
)
@click.option(
    "--move-ms", type=click.IntRange(1), default=None, help="Time for each question, in ms."
)
@click.option(
    "--sandbox",
    type=WISH,
    default=None,
    help="As in `run`.  [default: auto]",
)
@click.option(
    "--compare",
    is_flag=True,
    help="Also run the bot without the sandbox, as your own user, to find out whether the sandbox "
    "makes it fail or start slowly; only for a bot that you trust.",
)
@click.option("--verbose", "-v", is_flag=True, help="Print a line for every step.")
@click.option("--json", "as_json", is_flag=True, help="Print every step as JSON.")
def check(bots: tuple[str, ...], listed: bool, every: bool, **options: Any) -> None:
    """Check bots step by step and say what to fix.

    The check talks to the bot as the referee does. BOT is a sample bot, a file, a command or the
    folder of a bot.toml (without BOT, the current one), as in `run`, or an event file: then each of
    its bots is checked, and plays the event's game only. A
    dot is a step that passed, F one that failed, s one that was skipped. Each failure shows what
    was sent, what your bot replied, what was expected and how to fix it. Several bots are checked
    two at a time, and get a line each and a table.

    Exit code 0: all steps of all bots passed. 1: a step failed or was not reached in time, or one
    of several bots could not be started. 2: the command is wrong, or its only bot cannot start.

    \b
    Examples:
      boneyard check ./my_bot.py
      boneyard check --all
      boneyard check bots/mine
      boneyard check ./my_bot.py "node bot.mjs" greedy
      boneyard check "node bot.mjs" --quick
      boneyard check friday.toml --bot mine --json
      boneyard check ./my_bot.py --only hello --only 10-20
    """
    if listed:
        from arena.conformance.runner import describe_steps

        for line in describe_steps():
            click.echo(line)
        return
    if not (bots or every) and Path("bot.toml").is_file():
        bots = (".",)
    if every == bool(bots):
        raise click.UsageError("Name bots, or --all for those of bots.toml.")
    from tournaments.commands.check import CheckOptions, check_bots

    sys.exit(check_bots(CheckOptions(bots, **options)))


@click.command()
@click.argument("language", default="", shell_complete=complete_languages)
@click.argument("name", default="")
def new(language: str, name: str) -> None:
    """Create a working bot in a language of your choice.

    The command writes the bot's source into a folder NAME and adds an entry to bots.toml. Without
    arguments it lists the languages, and the programs that each still needs on this machine. It
    creates a bot even if its toolchain is missing. With the word league it makes a league instead;
    see `boneyard league`.

    \b
    Examples:
      boneyard new
      boneyard new python mine
      boneyard new rust crab
      boneyard new league class
    """
    from tournaments.plan.scaffold import make_bot

    if not language:
        return _list_languages()
    if not name:
        what = "league" if language == "league" else "bot"
        raise UserError(f"Missing {what} name. Usage: boneyard new {language} NAME")
    if language == "league":
        from tournaments.league.init import make_league

        sys.exit(make_league(Path(name)))
    made = make_bot(language, name, Path())
    source, *_ = made.files
    click.echo(f"Made {', '.join(map(str, made.files))}, and an entry in bots.toml.")
    if made.missing:
        click.echo(made.missing)
    click.echo(f"Put your idea into `choose` in {source}. Compare it with greedy:")
    click.echo(f"  boneyard run {name} greedy")
    return None


def _list_languages() -> None:
    from tournaments.plan.scaffold import languages, missing_programs

    for key, language in languages().items():
        click.echo(f"{key:<12} {language.title:<12} {missing_programs(language) or 'ready'}")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def bots(as_json: bool) -> None:
    """List the sample bots and your own bots in bots.toml.

    The list also says which of them this machine cannot run, and why.

    \b
    Examples:
      boneyard bots
      boneyard bots --json
    """
    from tournaments.plan.bot_catalog import all_bots

    listed = all_bots(Path.cwd())
    if as_json:
        entries = [
            {"name": name, "about": bot.about, "available": bot.available, "lacks": bot.lacks}
            for name, (bot, _) in listed.items()
        ]
        print_json(entries)
        return
    for name, (bot, _) in listed.items():
        state = "" if bot.available else f"  (needs {bot.needs})"
        click.echo(f"{name:<12} {bot.about}{state}")


@click.command()
@click.argument("bots", metavar="BOT...", nargs=-1, shell_complete=complete_bots)
@click.option(
    "--problems",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    help="A problem set.  [default: the one of the sample bots]",
)
@click.option(
    "--move-ms", type=click.IntRange(1), default=None, help="Time for each question, in ms."
)
@click.option("--sandbox", type=WISH, default=None, help="As in `run`.  [default: auto]")
@click.option(
    "--jobs",
    type=click.IntRange(1, 512),
    default=None,
    help="Processes of a bot side by side.  [default: cores - 1]",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="Also write the tables (.md) or every answer (.csv); with --make the new set.",
)
@click.option("--json", "as_json", is_flag=True, help="Print every answer as JSON.")
@click.option(
    "--make",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Make a set of the games of an event or a log; may be repeated.",
)
@click.option(
    "--endgames",
    type=click.IntRange(0, 1000),
    default=200,
    show_default=True,
    help="Endgames of the new set.",
)
@click.option(
    "--middle-games",
    type=click.IntRange(0, 1000),
    default=100,
    show_default=True,
    help="Middle games of the new set.",
)
@click.option(
    "--worlds",
    type=click.IntRange(2, 100_000),
    default=512,
    show_default=True,
    help="Deals in which the options of a middle game are tried.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the choice of games.")
def exam(
    bots: tuple[str, ...],
    folders: tuple[Path, ...],
    endgames: int,
    middle_games: int,
    worlds: int,
    seed: int,
    **options: Any,
) -> None:
    """Put problems to bots and tell how much their answers lose.

    A problem is a question of a game whose options are known to differ: an endgame that was solved,
    or a middle game whose options were tried in many deals. The bot is sent what the referee would
    send at that point. The tables have the points that an answer loses, by kind and by game.
    --make takes problems from the games of your own events, at most two from each.

    \b
    Examples:
      boneyard exam greedy counting
      boneyard exam mine --out mine.csv
      boneyard exam --make runs/league --out problems.jsonl
      boneyard exam mine --problems problems.jsonl
    """
    from tournaments.commands import exam as command

    if bool(bots) == bool(folders):
        raise click.UsageError("Name bots to examine, or --make FOLDER for a new set.")
    if bots:
        sys.exit(command.examine_bots(command.ExamOptions(bots, **options)))
    if options["out"] is None:
        raise click.UsageError("Name the file of the new set: --out problems.jsonl")
    made = command.MakeOptions(folders, options["out"], endgames, middle_games, worlds, seed)
    sys.exit(command.make_set(made))
