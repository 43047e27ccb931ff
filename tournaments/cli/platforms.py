"""Commands that need Linux, and what is said about them on other systems."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import click

from protocol.errors import UserError

P = ParamSpec("P")
T = TypeVar("T")

NAMES = {"darwin": "macOS", "win32": "Windows"}
"""What people call the systems that Python names so."""
WAYS = {"win32": "in WSL 2 or in a Linux container (Docker Desktop, Podman)"}
"""How a system runs Linux programs."""
OTHERWISE = "in a Linux container (Docker, Podman, Colima) or a virtual machine"
"""How every system does."""
ON_LINUX_ONLY = frozenset(
    {"ask", "check", "demo", "doctor", "plan", "play", "run", "watch", "worker"}
)
"""Commands that start bots, or ask what bots may use here."""


def linux_only(command: click.Command) -> click.Command:
    """Return the command; other systems are told what works there, and how to run the rest."""
    if command.name in ON_LINUX_ONLY and command.callback:
        command.callback = _refused_elsewhere(command.name, command.callback)
    return command


def _refused_elsewhere(name: str, callback: Callable[P, T]) -> Callable[P, T]:
    @wraps(callback)
    def checked(*words: P.args, **options: P.kwargs) -> T:
        if sys.platform != "linux":
            raise UserError(
                f"`{name}` needs Linux, and this is {NAMES.get(sys.platform, sys.platform)}: here "
                "`rules`, `new`, `replay`, `verify`, `report`, `rate`, `show` and `explain` work; "
                f"run the rest {WAYS.get(sys.platform, OTHERWISE)}."
            )
        return callback(*words, **options)

    return checked
