"""Commands about results: show, verify, publish, report, export."""

import sys
from pathlib import Path
from typing import Any, Literal

import click

from arena.analysis.find import unknown_place, usual_folder
from protocol.errors import UserError
from tournaments.cli.arguments.completion import (
    complete_entrants,
    complete_events,
    complete_events_or_entrants,
    complete_logs,
)
from tournaments.cli.arguments.options import (
    FOLDER,
    Delay,
    LogPath,
    SectionedCommand,
    WholeNumber,
    in_section,
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
    default=None,
    show_default="1",
    help="Strength of Jeffreys' prior: virtual draws for each rating. 0: none, as in Ordo.",
)
@_rated("--no-fouls", is_flag=True, help="Leave out games with a foul.")
@_rated("--pool", is_flag=True, help="Rate different rules with the same seats in one table.")
@_rated("--anchor", metavar="NAME=ELO", default=None, help="Give a bot this rating.")
@click.option(
    "--watch", "-w", is_flag=True, help="Update the display until the event is over or Ctrl-C."
)
@click.option(
    "--separate",
    is_flag=True,
    help="Print how many boards would separate neighbours in the table, or the two bots after the "
    "folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def show(what: tuple[Path, ...], watch: bool, separate: bool, as_json: bool, **rated: Any) -> None:
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
    for one in what:
        if one.suffix == ".toml":
            raise UserError(f"{one} is not an event's folder. `boneyard run {one}` plays it.")
        if not (one.exists() or separate):
            raise unknown_place(one)
    if separate:
        from tournaments.commands.show import print_separations

        bots = tuple(map(str, what[-2:])) if len(what) > 1 else ()
        if len(what) > 3 or (len(what) == 2 and what[0].is_dir()):
            raise UserError("--separate takes an event's folder and two bots, or only the folder.")
        where = what[0] if len(what) % 2 else usual_folder()
        sys.exit(print_separations(where, bots, as_json))
    if len(what) > 1 or any(one.is_file() for one in what) or any(map(_is_given, rated.values())):
        from tournaments.commands.rate import RateOptions
        from tournaments.commands.show import print_ratings
        from tournaments.rating.anchor import anchored

        if watch:
            raise UserError("--watch shows one event while it runs. Name its folder only.")
        prior = rated["prior"]
        asked = RateOptions(
            prior=RateOptions().prior if prior is None else prior,
            fouls=not rated["no_fouls"],
            pool=rated["pool"],
            anchor=anchored(rated["anchor"]),
        )
        sys.exit(print_ratings(what or (usual_folder(),), asked, as_json))
    from tournaments.site.status_text import print_status, watch_status

    where = what[0] if what else usual_folder()
    sys.exit(watch_status(where, as_json) if watch else print_status(where, as_json))


def _is_given(value: object) -> bool:
    return value is not None and value is not False


@click.command()
@click.argument("what", required=False, type=LogPath(), shell_complete=complete_logs)
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

        sys.exit(print_league_check(folder, as_json))
    from tournaments.commands.verify import verify_event

    sys.exit(verify_event(folder, seeds, as_json))


@click.command()
@click.argument(
    "folder",
    type=LogPath(file_okay=False),
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
    default=None,
    help="Give a bot this rating, or none; it becomes part of the event's plan.",
)
@click.option(
    "--luck", is_flag=True, help="Also compute ratings with the luck of the draw taken out."
)
@click.option(
    "--review",
    is_flag=True,
    help="Also review the decisions that are not reviewed yet; see `boneyard explain`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
def report(
    folder: Path | None, anchor: str | None, luck: bool, review: bool, as_json: bool
) -> None:
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
    """
    from tournaments.commands.report import write_report

    where = folder or usual_folder()
    sys.exit(write_report(where, anchor, luck=luck, review=review, in_json=as_json))


@click.command(cls=SectionedCommand)
@click.argument("what", nargs=-1, type=LogPath(), shell_complete=complete_logs)
@_problem(
    "--problems",
    is_flag=True,
    help="Write a problem set for `boneyard check --exam`, at most two problems from a game.",
)
@_problem(
    "--endgames",
    type=WholeNumber(0, 1000),
    default=200,
    show_default=True,
    help="Endgames of the set.",
)
@_problem(
    "--middle-games",
    type=WholeNumber(0, 1000),
    default=100,
    show_default=True,
    help="Middle games of the set.",
)
@_problem(
    "--deals",
    type=WholeNumber(2, 100_000),
    default=512,
    show_default=True,
    help="Deals in which the options of a middle game are tried.",
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
@click.option("--luck", is_flag=True, help="Compute the luck of games that luck.jsonl lacks.")
@click.option("--review", is_flag=True, help="Compute the losses that review.jsonl lacks.")
@click.option("--json", "as_json", is_flag=True, help="Print the names of the files as JSON.")
def export(
    what: tuple[Path, ...],
    problems: bool,
    endgames: int,
    middle_games: int,
    deals: int,
    seed: int,
    out: Path | None,
    format: Literal["parquet", "csv"] | None,
    bots: tuple[str, ...],
    luck: bool,
    review: bool,
    as_json: bool,
) -> None:
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

        sys.exit(make_set(sources, out, endgames, middle_games, deals, seed))
    from tournaments.commands.export import write_decisions
    from tournaments.dataset.example import Wish

    write_decisions(sources, out, format, Wish(frozenset(bots), luck, review), as_json)
