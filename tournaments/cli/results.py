"""Commands about results: show, verify, report, rate, export."""

import sys
from pathlib import Path
from typing import Literal

import click

from arena.analysis.find import usual_folder
from protocol.errors import UserError
from tournaments.cli.arguments.completion import (
    complete_entrants,
    complete_events,
    complete_logs,
)
from tournaments.cli.arguments.options import Delay, LogPath

FOLDER = click.argument(
    "folder",
    required=False,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    shell_complete=complete_events,
)
"""The argument for an event's folder; see `usual_folder`."""


@FOLDER
@click.command()
@click.option(
    "--watch", "-w", is_flag=True, help="Update the display until the event is over or Ctrl-C."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def show(folder: Path | None, watch: bool, as_json: bool) -> None:
    """Show an event's standings and progress, while it runs or after.

    The command prints the standings, the progress, the remaining time and the fouls. It only reads
    and takes no lock: use it from another terminal. FOLDER is by default the event in the current
    directory, or else the one here that was run last.

    \b
    Examples:
      boneyard show
      boneyard show friday --watch
      boneyard show friday --json
    """
    from tournaments.site.status_text import print_status, watch_status

    sys.exit((watch_status if watch else print_status)(folder or usual_folder(), as_json))


@click.command()
@click.argument(
    "what",
    required=False,
    type=LogPath(),
    shell_complete=complete_logs,
)
@click.option(
    "--seeds",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    help="The file of revealed seeds, for a log outside an event's folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of sentences.")
def verify(what: Path | None, seeds: Path | None, as_json: bool) -> None:
    """Check an event, a league or one log: every deal, byte and score.

    WHAT is an event's folder, a log, a folder of logs such as `boneyard play` writes, a league or a
    league's site; by default it is the event in the current directory, or else the one here that
    was run last. The command replays and rates every game again, from the published files alone; of
    a league it also chooses the tables again. Exit code 1 when it finds a problem.

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

        sys.exit(print_league_check(folder, as_json))
    from tournaments.commands.verify import verify_event

    sys.exit(verify_event(folder, seeds, as_json))


@click.command()
@click.argument(
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    shell_complete=complete_events,
)
@click.argument("site", type=click.Path(path_type=Path))
@click.option("--url", metavar="URL", default="", help="The site's address, for shared previews.")
@click.option(
    "--delay",
    type=Delay(),
    default=None,
    metavar="MINUTES",
    help="Follow the run in a page of two files, which shows it so late; 30s is half a minute.",
)
def publish(folder: Path, site: Path, url: str, delay: float | None) -> None:
    """Write a website of an event that any static server can hold.

    SITE is a new folder: the report as its first page, a page that replays each game, the logs, the
    commitments and the seeds. Nothing leaves the event's private folder, and while the event runs
    no game of a board that is still played. The same command brings the site up to date.

    With --delay SITE is a page that follows the run, as it was so long ago. A game is shown only
    once all games on its board are over. The command ends when the page shows the end of the event;
    after a stop it goes on.

    Once the event has a review (`boneyard review`), replays show luck and mistakes: 0.1 s of CPU a
    game. With --url a shared link shows a title and a summary.

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
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a file is wrong.")
@click.option(
    "--anchor",
    metavar="NAME=ELO|none",
    default=None,
    help="Give a bot this rating, or none; it becomes part of the event's plan.",
)
@click.option(
    "--luck", is_flag=True, help="Also compute ratings with the luck of the draw taken out."
)
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
def report(folder: Path | None, check: bool, anchor: str | None, luck: bool, as_json: bool) -> None:
    """Write an event's report again from its plan and ledger.

    report.md, results.json, games.csv, ratings.csv, crosstable.csv and results.pgn follow from
    event.json and ledger.jsonl; report.html and times.json also hold facts from the game logs.
    With --luck, luck.jsonl gets the luck of every game that it does not have, from its log; the
    report then shows ratings and margins with luck taken out beside the plain ones.

    \b
    Examples:
      boneyard report friday
      boneyard report friday --check
      boneyard report friday --anchor greedy=1500
      boneyard report friday --anchor none
      boneyard report friday --luck
    """
    from protocol.errors import UserError
    from tournaments.commands import report as anew

    if check and (anchor or luck):
        raise UserError(
            f"--check writes nothing, so it cannot go with {'--anchor' if anchor else '--luck'}: "
            "leave one out."
        )
    where = folder or usual_folder()
    sys.exit(anew.check(where, as_json) if check else anew.remake(where, anchor, luck, as_json))


@click.command()
@click.argument(
    "what",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    shell_complete=complete_events,
)
@click.option(
    "--prior",
    type=float,
    default=1.0,
    show_default=True,
    help="Strength of Jeffreys' prior: virtual draws for each rating. 0: none, as in Ordo.",
)
@click.option("--no-fouls", is_flag=True, help="Leave out games with a foul.")
@click.option("--pool", is_flag=True, help="Rate different rules with the same seats in one table.")
@click.option("--anchor", metavar="NAME=ELO", default=None, help="Give a bot this rating.")
@click.option("--json", "as_json", is_flag=True, help="Print all ratings as JSON.")
def rate(
    what: tuple[Path, ...],
    prior: float,
    no_fouls: bool,
    pool: bool,
    anchor: str | None,
    as_json: bool,
) -> None:
    """Rate the results of several events together.

    WHAT are ledgers or event folders. Two bots are the same bot if their names and fingerprints are
    equal. Each combination of rules and seats gets its own table.

    \b
    Examples:
      boneyard rate friday saturday
      boneyard rate friday saturday --anchor greedy=1500
      boneyard rate old/ledger.jsonl --prior 0 --no-fouls --json
    """
    from tournaments.commands import report as anew
    from tournaments.commands.rate import RateOptions
    from tournaments.rating.anchor import anchored

    asked = RateOptions(prior=prior, fouls=not no_fouls, pool=pool, anchor=anchored(anchor))
    sys.exit(anew.rate(what, asked, as_json))


@click.command()
@click.argument("what", nargs=-1, type=LogPath(), shell_complete=complete_logs)
@click.option("--decisions", is_flag=True, help="Export one row a decision; there is nothing else.")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write, or its folder.  [default: decisions.parquet in WHAT]",
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
@click.option("--luck", is_flag=True, help="Compute the luck of games that luck.jsonl lacks.")
@click.option("--review", is_flag=True, help="Compute the losses that review.jsonl lacks.")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
def export(
    what: tuple[Path, ...],
    decisions: bool,
    out: Path | None,
    format: Literal["parquet", "csv"] | None,
    bots: tuple[str, ...],
    luck: bool,
    review: bool,
    as_json: bool,
) -> None:
    """Write each decision of games as a row to learn from.

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
      boneyard export --decisions
      boneyard export demo --decisions --bot counting
      boneyard export demo --decisions --luck --review
      boneyard export demo --decisions --out demo.csv
      boneyard export friday saturday --decisions --out both.parquet
    """
    from protocol.errors import UserError
    from tournaments.commands.export import write_decisions
    from tournaments.dataset.example import Wish

    if not decisions:
        raise UserError("Say what to export: `boneyard export --decisions` writes every decision.")
    wish = Wish(frozenset(bots), luck, review)
    write_decisions(what or (usual_folder(),), out, format, wish, as_json)
