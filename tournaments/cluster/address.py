"""The address of a run's workers from the command line, refused if others could abuse it."""

from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

import msgspec

from protocol.errors import UserError
from protocol.records import WorkerName

LOCAL = "local:"
MOST_WORKERS = 256
"""Most workers on this machine."""
MISSING = (
    "{what} needs the package distributed, which is not installed: "
    "pip install 'boneyard-arena[cluster]'."
)
OPEN = (
    "{address} is not on this machine, and anyone who can reach a scheduler or a worker can run "
    "programs there: use tls:// with --tls, or say --trust-network."
)


class ClusterAddress(NamedTuple):
    """A scheduler, or workers that the run starts on this machine."""

    address: str
    """Address of the scheduler, with its protocol; empty if the run starts one."""
    workers: int
    """Workers that the run starts on this machine."""
    tls: Path | None
    """A folder with ca.pem, cert.pem and key.pem; None without TLS."""


def parse_cluster_option(said: str, tls: Path | None, *, trusted: bool) -> ClusterAddress:
    """Read the value of `--cluster`.

    Raises UserError, also if anybody on the network could join.
    """
    if not said.startswith(LOCAL):
        return ClusterAddress(checked(said, trusted=trusted), 0, _complete(tls))
    number = said.removeprefix(LOCAL)
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= MOST_WORKERS):
        raise UserError(
            f"--cluster {said}: say how many workers, 1 to {MOST_WORKERS}, as in local:4."
        )
    return ClusterAddress("", int(number), None)


def checked(said: str, *, trusted: bool) -> str:
    """Return a scheduler's address in full.

    Raises UserError if it is not an address, or if it reaches another machine without protection.
    """
    address = said if "://" in said else f"tcp://{said}"
    protocol, _, rest = address.partition("://")
    host, _, port = rest.rpartition(":")
    if protocol not in ("tcp", "tls") or not host or not port.isdigit():
        raise UserError(
            f"{said!r} is not a scheduler's address. Give one such as tcp://127.0.0.1:8786."
        )
    if protocol == "tcp" and not trusted and not _here(host):
        raise UserError(OPEN.format(address=address))
    return address


def check_worker_name(said: str) -> str:
    """Check a worker's name from the command line.

    Raises UserError for a name that a log cannot hold.
    """
    try:
        return msgspec.convert(said, WorkerName)
    except msgspec.ValidationError:
        raise UserError(
            f"--name {said!r}: a worker's name has up to 64 letters, digits, dots, dashes and "
            "underscores, and begins with a letter or a digit."
        ) from None


def _here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _complete(tls: Path | None) -> Path | None:
    for name in ("ca.pem", "cert.pem", "key.pem") if tls else ():
        if tls and not (tls / name).is_file():
            raise UserError(f"--tls {tls}: {name} is missing in this folder.")
    return tls


def need_engine(what: str) -> None:
    """Refuse to go on without the engine's package. Raises UserError."""
    if find_spec("distributed") is None:
        raise UserError(MISSING.format(what=what))
