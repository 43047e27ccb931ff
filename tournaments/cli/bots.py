"""Commands about bots: check, new."""

import sys
from pathlib import Path
from typing import Any

import click

from protocol.errors import UserError
from tournaments.cli.arguments.completion import complete_bots, complete_languages
from tournaments.cli.arguments.options import (
    FILE,
    MOVE_MS,
    OLD_FILE,
    SANDBOX,
    SectionedCommand,
    flag,
    in_section,
    number,
)

_exam = in_section("With --exam")


@click.command(cls=SectionedCommand)
@click.argument("bots", metavar="BOT...", nargs=-1, shell_complete=complete_bots)
@flag("--all", "Check all bots in folders here.", "every")
@click.option("--bot", "name", metavar="NAME", default=None, help="Only this bot of an event file.")
@click.option(
    "--only",
    multiple=True,
    metavar="STEP",
    help="Run only these steps: number (5), range (5-9), name or list (1,5-9); may be repeated.",
)
@flag("--list", "List the steps and exit.", "listed")
@flag("--quick", "Play one round of each game instead of whole games.")
@number("--seconds", "Time after which no further step begins, in s.", 1, 86_400, 300)
@number("--start-ms", "Time for the hello, in ms.", 1, 600_000)
@MOVE_MS
@SANDBOX
@flag(
    "--compare",
    "Also run the bot without the sandbox, as your own user, to find out whether the sandbox "
    "makes it fail or start slowly; only for a bot that you trust.",
)
@flag("--verbose", "Print a line for every step.", "-v")
@flag("--json", "Print every step or answer as JSON.", "in_json")
@flag(
    "--exam",
    "Put 300 problems to the bots instead, and say how much their answers lose.",
    "is_exam",
    section=_exam,
)
@_exam(
    "--problems",
    type=OLD_FILE,
    help="Another problem set; `boneyard export --problems` makes one.",
)
@number("--jobs", "Processes of a bot side by side.  [default: cores - 1]", 1, 512, section=_exam)
@_exam("--out", type=FILE, help="Also write the tables (.md) or every answer (.csv).")
def check(bots: tuple[str, ...], listed: bool, every: bool, is_exam: bool, **options: Any) -> None:
    """Check bots step by step and say what to fix.

    The check talks to the bot as the referee does. BOT is a sample bot, a file, a command or the
    folder of a bot.toml (without BOT, the current one), as in `run`, or an event file: then each of
    its bots is checked, and plays the event's game only. A
    dot is a step that passed, F one that failed, s one that was skipped. Each failure shows what
    was sent, what your bot replied, what was expected and how to fix it. Several bots are checked
    two at a time, and get a line each and a table.

    With --exam or --problems the bots answer problems: questions of games whose options are known
    to differ, endgames that were solved and middle games whose options were tried in many deals.
    The tables have the points that an answer loses, by kind and by game.

    Exit code 0: all steps of all bots passed. 1: a step failed or was not reached in time, one of
    several bots could not be started, or a bot fouled in the exam. 2: the command is wrong, or its
    only bot cannot start.

    \b
    Examples:
      boneyard check ./my_bot.py
      boneyard check --all
      boneyard check bots/mine
      boneyard check ./my_bot.py "node bot.mjs" greedy
      boneyard check "node bot.mjs" --quick
      boneyard check friday.toml --bot mine --json
      boneyard check ./my_bot.py --only hello --only 10-20
      boneyard check mine greedy --exam --out exam.csv
      boneyard check mine --problems problems.jsonl
    """
    if listed:
        from arena.conformance.runner import describe_steps

        for line in describe_steps():
            click.echo(line)
        return
    if not (bots or every) and Path("bot.toml").is_file():
        bots = (".",)
    if every == bool(bots):
        raise click.UsageError("Name bots, or --all for those in folders here.")
    if is_exam or options["problems"]:
        from tournaments.commands.exam import examine_bots

        sys.exit(examine_bots(bots, **options))
    from tournaments.commands.check import check_bots

    sys.exit(check_bots(bots, **options))


@click.command()
@click.argument("language", default="", shell_complete=complete_languages)
@click.argument("name", default="")
def new(language: str, name: str) -> None:
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
      boneyard new league class
    """
    from tournaments.plan.scaffold import language_key, make_bot

    if not language:
        return _list_languages()
    if not name:
        if language != "league" and not language_key(language):
            raise UserError(f"Name the language first, as in: boneyard new python {language}")
        what = "league" if language == "league" else "bot"
        raise UserError(f"Missing {what} name. Usage: boneyard new {language} NAME")
    if language == "league":
        from tournaments.league.init import make_league

        sys.exit(make_league(Path(name)))
    made = make_bot(language, name, Path())
    source, *_ = made.files
    click.echo(f"Made {', '.join(map(str, made.files))}.")
    if made.missing:
        click.echo(made.missing)
    click.echo(f"Put your idea into `choose` in {source}. Check it, and compare it with greedy:")
    click.echo(f"  boneyard check {name}\n  boneyard run {name} greedy --boards 100")
    return None


def _list_languages() -> None:
    from tournaments.plan.scaffold import languages, missing_programs

    for key, language in languages().items():
        click.echo(f"{key:<12} {language.title:<12} {missing_programs(language) or 'ready'}")
