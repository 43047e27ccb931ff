"""Commands about results: show, verify, publish, report, export."""

import sys
from pathlib import Path
from typing import Any

import click

from arena.analysis.find import usual_folder
from protocol.errors import UserError
from tournaments.cli.arguments.completion import (
    complete_entrants,
    complete_events,
    complete_events_or_entrants,
    complete_logs,
)
from tournaments.cli.arguments.options import (
    BROWSER,
    FOLDER,
    OLD_FILE,
    Delay,
    LogPath,
    SectionedCommand,
    flag,
    in_section,
    number,
)

_rated = in_section("With several events")
_problem = in_section("With --problems")


@click.command(cls=SectionedCommand)
@click.argument(
    "what",
    nargs=-1,
    type=LogPath(exists=False),
    shell_complete=complete_events_or_entrants,
)
@_rated(
    "--prior",
    type=float,
    show_default="1",
    help="Strength of Jeffreys' prior: virtual draws for each rating. 0: none, as in Ordo.",
)
@flag("--no-fouls", "Leave out games with a foul.", section=_rated)
@flag("--pool", "Rate different rules with the same seats in one table.", section=_rated)
@_rated("--anchor", metavar="NAME=ELO", default=None, help="Give a bot this rating.")
@flag("--watch", "Update the display until the event is over or Ctrl-C.", "-w")
@flag(
    "--separate",
    "Print how many boards would separate neighbours in the table, or the two bots after the "
    "folder.",
)
@flag("--json", "Print JSON instead of tables.", "as_json")
def show(**options: Any) -> None:
    """Show an event's standings and progress, or rate several events.

    The command prints the standings, the progress, the remaining time and the fouls. It only reads
    and takes no lock: use it from another terminal. WHAT is by default the event in the current
    directory, or else the one here that was run last.

    With several events, a ledger or an option of ratings it rates all results together. Two bots
    are the same bot if their names and fingerprints are equal. Each combination of rules and seats
    gets its own table.

    \b
    Examples:
      boneyard show
      boneyard show friday --watch
      boneyard show friday --json
      boneyard show friday --separate
      boneyard show friday --separate greedy counting
      boneyard show friday saturday --anchor greedy=1500
      boneyard show old/ledger.jsonl --prior 0 --no-fouls --json
    """
    from tournaments.commands.show import show_events

    sys.exit(show_events(**options))


@click.command()
@click.argument("what", required=False, type=LogPath(), shell_complete=complete_logs)
@click.option(
    "--seeds",
    type=OLD_FILE,
    help="The file of revealed seeds, for a log outside an event's folder.",
)
@flag("--json", "Print JSON instead of sentences.", "as_json")
def verify(what: Path | None, **options: Any) -> None:
    """Check an event, a league or one log: every deal, byte and score.

    WHAT is an event's folder, a log, a folder of logs such as `boneyard play` writes, a league or a
    league's site; by default it is the event in the current directory, or else the one here that
    was run last. The command replays and rates every game again, from the published files alone,
    and compares each file of the report; of a league it also chooses the tables again. Exit code 1
    when it finds a problem.

    \b
    Examples:
      boneyard verify demo
      boneyard verify demo/games/from-1.greedy.suit.jsonl
      boneyard verify game.jsonl --seeds seeds.jsonl
      boneyard verify boneyard-play
      boneyard verify class/site
      boneyard verify demo --json
    """
    from tournaments.league.folder import is_league

    folder = what or usual_folder()
    if is_league(folder):
        from tournaments.league.check import print_league_check

        sys.exit(print_league_check(folder, options["as_json"]))
    from tournaments.commands.verify import verify_event

    sys.exit(verify_event(folder, **options))


@click.command()
@click.argument("folder", type=LogPath(file_okay=False), shell_complete=complete_events)
@click.argument("site", type=click.Path(path_type=Path))
@click.option("--url", metavar="URL", default="", help="The site's address, for shared previews.")
@click.option(
    "--delay",
    type=Delay(),
    metavar="MINUTES",
    help="Follow the run in a page of two files, which shows it so late; 30s is half a minute.",
)
def publish(folder: Path, site: Path, url: str, delay: float | None) -> None:
    """Turn an event into a static website.

    SITE is a new folder: the report as its first page, a page that replays each game, the logs, the
    commitments and the seeds. Nothing leaves the event's private folder, and while the event runs
    no game of a board that is still played. The same command brings the site up to date.

    With --delay SITE is a page that follows the run, as it was so long ago. A game is shown only
    once all games on its board are over. The command ends when the page shows the end of the event;
    after a stop it goes on.

    Once the event has a review (`boneyard report --review`), replays show luck and mistakes: 0.1 s
    of CPU a game. With --url a shared link shows a title and a summary.

    \b
    Examples:
      boneyard publish friday site
      boneyard publish friday site --url https://example.org/friday/
      boneyard publish friday live --delay 10
      python3 -m http.server -d site
    """
    if delay is not None:
        if url:
            raise UserError("--url is for a whole site. Leave it out, or --delay.")
        from tournaments.site.writer import follow_event

        sys.exit(follow_event(folder, site, delay))
    from tournaments.site.publish import publish_event

    sys.exit(publish_event(folder, site, f"{url.rstrip('/')}/" if url else ""))


@click.command()
@FOLDER
@click.option(
    "--anchor",
    metavar="NAME=ELO|none",
    help="Give a bot this rating, or none; it becomes part of the event's plan.",
)
@flag("--luck", "Also compute ratings with the luck of the draw taken out.")
@flag("--review", "Also review the decisions that are not reviewed yet; see `boneyard explain`.")
@BROWSER
@flag("--json", "Print the names of the files as JSON.", "in_json")
def report(**options: Any) -> None:
    """Write an event's report again from its plan and ledger.

    report.md, results.json, games.csv, ratings.csv, crosstable.csv and results.pgn follow from
    event.json and ledger.jsonl; report.html and times.json also hold facts from the game logs.
    With --luck, luck.jsonl gets the luck of every game that it does not have, from its log; the
    report then shows ratings and margins with luck taken out beside the plain ones. `boneyard
    verify` says whether the files are right.

    \b
    Examples:
      boneyard report friday
      boneyard report friday --anchor greedy=1500
      boneyard report friday --anchor none
      boneyard report friday --luck --review
      boneyard report friday --browser
    """
    from tournaments.commands.report import write_report

    sys.exit(write_report(**options))


@click.command(cls=SectionedCommand)
@click.argument("what", nargs=-1, type=LogPath(), shell_complete=complete_logs)
@flag(
    "--problems",
    "Write a problem set for `boneyard check --exam`, at most two problems from a game.",
    section=_problem,
)
@number("--endgames", "Endgames of the set.", 0, 1000, 200, section=_problem)
@number("--middle-games", "Middle games of the set.", 0, 1000, 100, section=_problem)
@number(
    "--deals",
    "Deals in which the options of a middle game are tried.",
    2,
    100_000,
    512,
    section=_problem,
)
@_problem("--seed", type=int, default=1, show_default=True, help="Seed of the choice of games.")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write, or its folder.  [default: decisions.parquet or problems.jsonl in WHAT]",
)
@click.option(
    "--format",
    type=click.Choice(["parquet", "csv"]),
    help="Format of the file.  [default: by its name, else parquet]",
)
@click.option(
    "--bot",
    "bots",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_entrants,
    help="Only this bot's decisions; may be repeated.",
)
@flag("--luck", "Compute the luck of games that luck.jsonl lacks.")
@flag("--review", "Compute the losses that review.jsonl lacks.")
@flag("--json", "Print the names of the files as JSON.", "as_json")
def export(what: tuple[Path, ...], problems: bool, **options: Any) -> None:
    """Export every decision as a row of CSV or Parquet, or a problem set.

    WHAT are events' folders, logs, or folders of logs such as `boneyard play` writes; by default it
    is the event in the current directory, or else the one here that was run last. Parquet needs
    pyarrow: pip install 'boneyard-arena[parquet]'.

    A row has the question in the numbers of the training environment, the answer, its time and what
    came of the round and of the game. The vector, the mask and the options hold only what the seat
    knew when it was asked: its own hand and the open table, not the hands of others. Luck is
    computed with all tiles known, so it is a label and never an input. Games of
    different rules or numbers of seats come into a file each, because their vectors differ.
    `boneyard help training` explains the columns.

    \b
    Examples:
      boneyard export
      boneyard export demo --bot counting
      boneyard export demo --luck --review
      boneyard export demo --out demo.csv
      boneyard export friday saturday --out both.parquet
      boneyard export runs/league --problems --out problems.jsonl
    """
    sources = what or (usual_folder(),)
    if problems:
        from tournaments.commands.exam import make_set

        sys.exit(make_set(sources, **options))
    from tournaments.commands.export import write_decisions

    write_decisions(sources, **options)
