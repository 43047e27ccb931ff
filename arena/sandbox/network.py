"""Access of one bot to more than its files: addresses on the network, and variables."""

import os
import re
import select
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from arena.sandbox.command import Command
from arena.sandbox.proxy import PORT

PROXY = Path(__file__).parent / "proxy.py"
READY_S = 10.0
"""Seconds that bubblewrap has to name its process, and the proxy to listen."""
ADDRESS = f"http://127.0.0.1:{PORT}"
VARIABLES = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), ADDRESS),
    "NODE_USE_ENV_PROXY": "1",
}
"""The variables by which ordinary HTTP clients find the proxy."""
MIN_VALUE_LENGTH, MAX_VALUE_LENGTH = 8, 1024
"""Characters of a variable's value: a shorter one could not be told from other text."""


class AccessError(OSError):
    """A bot cannot have what its event opens to it; the text says why."""


def own_variables(command: Command, *, is_locked: bool) -> dict[str, str]:
    """Return the variables that a bot has besides everybody's.

    Raises AccessError if one is not set here, or if bots are not locked in, so that others could
    use them, or the network.
    """
    if (command.network or command.environment) and not is_locked:
        field = "network" if command.network else "environment"
        raise AccessError(
            f"`{field}` needs a locked sandbox, and it is off: other bots could use it too. "
            "`boneyard doctor` tells how to get one"
        )
    variables = VARIABLES if command.network else {}
    return variables | {name: _value(name) for name in command.environment}


def _value(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise AccessError(f"its variable {name} is not set in the environment of Boneyard")
    if not MIN_VALUE_LENGTH <= len(value) <= MAX_VALUE_LENGTH or not (
        value.isascii() and value.isprintable()
    ):
        raise AccessError(
            f"the value of {name} is not {MIN_VALUE_LENGTH} to {MAX_VALUE_LENGTH} printable ASCII "
            "characters"
        )
    return value


class Censor:
    """The removal of the values of a bot's variables from all that it writes."""

    def __init__(self, names: Sequence[str]) -> None:
        self.patterns = [
            (re.compile(b"".join(map(_spellings, value.encode()))), f"[{name}]".encode())
            for name in names
            if (value := os.environ.get(name))
        ]
        """A pattern for each value, and what replaces it; empty if nothing is to be removed."""

    def clean(self, text: bytes) -> bytes:
        """Return the text with the name of each variable in place of its value."""
        for pattern, name in self.patterns:
            text = pattern.sub(name, text)
        return text


def _spellings(character: int) -> bytes:
    """Return a pattern of the spellings that JSON has for a character: as it is, \\/, \\u002f."""
    plain = re.escape(bytes([character]))
    escape = rb"\\?" if character in b'"\\/' else b""
    return rb"(?:%b%b|\\u00(?i:%02x))" % (escape, plain, character)


class Proxy:
    """The proxy process of one bot that has been started and waits."""

    def __init__(self, news: int, addresses: Sequence[str]) -> None:
        """Start it for the bot that bubblewrap reports on the pipe `news`. Raises AccessError."""
        pid = _child(news)
        self._process = subprocess.Popen(
            (sys.executable, "-I", "-S", str(PROXY), f"{pid}", *addresses),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},
            start_new_session=True,
        )
        assert self._process.stdout
        if not _readable(self._process.stdout.fileno()) or not self._process.stdout.readline():
            self._process.kill()
            why = self._process.communicate()[1].decode(errors="replace").strip()[-200:]
            raise AccessError(f"its proxy cannot listen: {why}")

    def close(self) -> None:
        """End it, and with it all its connections."""
        self._process.kill()
        self._process.communicate()


def _child(news: int) -> int:
    """Return the id of the process in the sandbox. Raises AccessError if there is none."""
    report = b""
    while b"," not in report and b"}" not in report:
        data = b""
        if _readable(news):
            with suppress(BlockingIOError):
                data = os.read(news, 1)
        if not data:
            raise AccessError("bubblewrap did not start")
        report += data
    return int(bytes(byte for byte in report if chr(byte).isdigit()))


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], READY_S)[0])
