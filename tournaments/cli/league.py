"""The commands `new` and `league`: make a bot or a league, and run a league."""

from datetime import UTC, datetime
from pathlib import Path

import click

from arena.sealed.module import INTERPRETED
from protocol.errors import UserError, unknown_name
from tournaments.cli.options import JOBS, command, complete_languages, flag, number, option
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


# The command `league`: runs a standing league, or says how it stands.


@command()
@click.argument("words", metavar="[DIR] [status|grades]", nargs=-1)
@flag("--once", "End when nothing is left to do now; for cron and CI.", "stops_idle")
@number("--rounds", "End after N rounds at the latest.", 1)
@option(
    "--now",
    metavar="TIME",
    help="Take this for the present (UTC, as 2026-11-22T10:00), to try a league out; with --once.",
)
@JOBS
def league(
    words: tuple[str, ...],
    stops_idle: bool,
    rounds: int | None,
    now: str | None,
    jobs: int | None,
) -> int:
    """Run a standing league: push a bot, and it is rated.

    DIR has league.toml and a folder for each bot in bots/; without DIR it is the current directory.
    The league notices new, changed and withdrawn bots, checks each in the sandbox, plays short
    rounds of the most telling tables, writes the site into DIR/site and what is for an author alone
    into DIR/results, and sleeps. Ctrl-C stops it; the same command goes on. `boneyard new league
    DIR` makes a league to start from. `status` shows, also while the league runs, what is played
    next, who is held out or refused and why, and what is left. `grades` writes DIR/grades:
    grades.csv, also with bots that answer alike, and a results.json of each bot for Gradescope. See
    `boneyard help leagues`.

    Exit codes: 0 nothing is left to do (--once), 1 the disk is full or Boneyard itself failed
    (--once), 2 a mistake of yours, 130 Ctrl-C.

    \b
    Examples:
      boneyard new league class
      boneyard league class
      boneyard league class --once
      boneyard league class --once --now 2026-11-22T10:00
      boneyard league class status
      boneyard league class grades
    """
    questions = "status", "grades"
    names = [word for word in words if word not in questions]
    if len(names) > 1:
        raise unknown_name("word after the league's folder:", names[1], questions)
    path = Path(names[0]) if names else Path()
    if path.name == "league.toml" and path.is_file():
        path = path.parent
    from tournaments.league.settings import parse_moment

    moment = parse_moment(now, UTC, "--now").astimezone(UTC) if now else None
    if "status" in words:
        from tournaments.league.status import print_league_status

        return print_league_status(path, moment or datetime.now(UTC))
    if "grades" in words:
        from tournaments.league.status import write_league_grades

        return write_league_grades(path)
    from tournaments.league.loop import run_league

    if now and not (stops_idle or rounds):
        raise UserError("--now is for --once: a league that runs on has the time of the clock.")
    return run_league(path, stops_idle=stops_idle, rounds=rounds, now=moment, jobs=jobs)
