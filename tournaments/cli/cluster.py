"""The `worker` command, and the cluster options that it shares with `run`."""

import sys
from pathlib import Path
from typing import Any

import click

from tournaments.cli.arguments.options import WISH

tls = click.option(
    "--tls",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=None,
    help="A folder with ca.pem, cert.pem and key.pem, for the scheduler.",
)


@click.command()
@click.argument("address")
@click.option(
    "--jobs",
    type=click.IntRange(1, 512),
    default=None,
    help="Parallel sittings.  [default: cores - 1, or more if the bots are quick]",
)
@click.option("--name", default=None, help="Name in the report.  [default: machine-process]")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder in which to unpack, build and keep bots.  [default: a temporary one]",
)
@click.option(
    "--patience",
    type=click.IntRange(1, 86_400),
    default=300,
    show_default=True,
    help="Time to look for the scheduler, in s, before the first connection or after a cut.",
)
@click.option(
    "--sandbox",
    type=WISH,
    default="auto",
    show_default=True,
    help="require: play nothing unless bots run in a sandbox; off: play only events that ask for "
    "none.",
)
@tls
@click.option("--tied", is_flag=True, hidden=True, help="End when stdin closes.")
def worker(**options: Any) -> None:
    """Play sittings for runs on other machines.

    A scheduler at ADDRESS hands out the sittings. Start as many workers as you like, at any time,
    on machines that have the programs that the bots need; a run finds them by the same address
    (`boneyard run EVENT --cluster ADDRESS`). A worker first tests which sandbox its machine
    supports, and plays no event that requires a better one. Ctrl-C ends the worker; other workers
    then play its unfinished sittings.

    \b
    Examples:
      boneyard worker tls://head:8786 --tls certificates --jobs 8
    """
    from tournaments.cluster.address import need_engine

    # Before the import of what builds on it.
    need_engine("boneyard worker")
    from tournaments.cluster.worker import WorkerOptions, work

    sys.exit(work(WorkerOptions(**options)))
