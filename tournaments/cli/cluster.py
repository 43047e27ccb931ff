"""The `worker` command, and the cluster options that it shares with `run`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from protocol.errors import UserError
from tournaments.cli.options import WISH

if TYPE_CHECKING:
    from arena.sandbox.limits import SandboxMode

tls = click.option(
    "--tls",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=None,
    help="A folder with ca.pem, cert.pem and key.pem, for a scheduler at tls://.",
)
trust_network = click.option(
    "--trust-network",
    is_flag=True,
    help="Connect unencrypted to a scheduler on another machine, unauthenticated.",
)


@click.command()
@click.argument("address")
@click.option(
    "--jobs",
    type=click.IntRange(1, 512),
    default=None,
    help="Parallel sittings.  [default: cores - 1]",
)
@click.option("--name", default=None, help="Name in the report.  [default: machine-process]")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Folder to unpack and build bots in, and to keep them.  [default: a temporary one]",
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
@trust_network
@click.option("--tied", is_flag=True, hidden=True, help="End when stdin closes.")
def worker(
    address: str,
    jobs: int | None,
    name: str | None,
    folder: Path | None,
    patience: int,
    sandbox: "SandboxMode",
    tls: Path | None,
    trust_network: bool,
    tied: bool,
) -> None:
    """Play sittings for runs on other machines.

    A scheduler at ADDRESS hands out the sittings. Start as many workers as you like, at any time,
    on machines that have the programs that the bots need; a run finds them by the same address
    (`boneyard run EVENT --cluster ADDRESS`). A worker first tests which sandbox its machine
    supports, and plays no event that requires a better one. Ctrl-C ends the worker; other workers
    then play its unfinished sittings.

    \b
    Examples:
      dask scheduler --host 127.0.0.1 --port 8786
      boneyard worker 127.0.0.1:8786
      boneyard worker tls://head:8786 --tls certificates --jobs 8
    """
    from tournaments.cluster.address import named, need_engine, parse_cluster_option

    need_engine("boneyard worker")
    known = named(name) if name is not None else None
    there = parse_cluster_option(address, tls, trusted=trust_network)
    if there.workers:
        raise UserError(f"A worker needs a scheduler's address, not {address!r}.")
    from tournaments.cluster.connect import security
    from tournaments.cluster.worker import own_name, work
    from tournaments.runner.machine import default_jobs

    code = work(
        there.address,
        jobs=jobs or default_jobs(),
        name=known or own_name(),
        folder=folder,
        security=security(there.tls),
        patience_s=patience,
        wish=sandbox,
        tied=tied,
    )
    sys.exit(code)
