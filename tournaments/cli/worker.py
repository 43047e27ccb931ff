"""The command `worker`: plays sittings for runs on other machines."""

from typing import Any

import click

from tournaments.cli.arguments.options import DIRECTORY, JOBS, TLS, WISH, command, number


@command()
@click.argument("address")
@JOBS
@click.option("--name", help="Name in the report.  [default: machine-process]")
@click.option(
    "--folder",
    type=DIRECTORY,
    help="Folder in which to unpack, build and keep bots.  [default: a temporary one]",
)
@number(
    "--patience",
    "Time to look for the scheduler, in s, before the first connection or after a cut.",
    1,
    86_400,
    300,
)
@click.option(
    "--sandbox",
    type=WISH,
    default="auto",
    show_default=True,
    help="require: play nothing unless bots run in a sandbox; off: play only events that ask for "
    "none.",
)
@TLS()
def worker(**options: Any) -> int:
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
    from tournaments.cluster.worker import work

    return work(**options)
