"""Commands about what was played: verify, report, rate."""

import sys
from pathlib import Path

import click


@click.command()
@click.argument("what", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--seeds",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=None,
    help="The revealed seeds for a log that lies in no event's folder.",
)
def verify(what: Path, seeds: Path | None) -> None:
    """Check an event's folder or one log: replay every game, recompute every deal, byte and score.

    Needs nothing but the published files. Exit code 1 when something does not fit.

    \b
    Examples:
      boneyard verify demo
      boneyard verify demo/games/from-1.greedy.random.jsonl
      boneyard verify game.jsonl --seeds seeds.jsonl
    """
    from tournaments.session import verify_event

    sys.exit(verify_event(what, seeds))


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a file is not right.")
def report(folder: Path, check: bool) -> None:
    """Make an event's report anew from its plan, its ledger and its game logs.

    report.md, results.json, games.csv, ratings.csv, crosstable.csv and results.pgn follow from
    event.json and ledger.jsonl; report.html and times.json tell also what only the logs know.

    \b
    Examples:
      boneyard report friday
      boneyard report friday --check
    """
    from tournaments import anew

    sys.exit(anew.check(folder) if check else anew.remake(folder))


@click.command()
@click.argument("what", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--prior", type=float, default=2.0, show_default=True, help="Virtual draws for each entrant."
)
@click.option("--no-fouls", is_flag=True, help="Leave out the games in which somebody fouled.")
@click.option(
    "--pool", is_flag=True, help="Put games of different rules with the same seats into one table."
)
@click.option("--anchor", metavar="NAME=ELO", default=None, help="Give somebody a rating.")
@click.option("--json", "as_json", is_flag=True, help="Everything that is known, for programs.")
def rate(
    what: tuple[Path, ...],
    prior: float,
    no_fouls: bool,
    pool: bool,
    anchor: str | None,
    as_json: bool,
) -> None:
    """Rate the results of several events together: ledgers, or events by their folders.

    Bots are the same if name and fingerprint are. Different games, by their rules or seats,
    get tables of their own.

    \b
    Examples:
      boneyard rate friday saturday
      boneyard rate friday saturday --anchor greedy=1500
      boneyard rate old/ledger.jsonl --prior 0 --no-fouls --json
    """
    from tournaments import anew
    from tournaments.rate import Asked

    asked = Asked(prior=prior, fouls=not no_fouls, pool=pool, anchor=anew.anchored(anchor))
    sys.exit(anew.rate(what, asked, as_json))
