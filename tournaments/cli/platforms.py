"""Commands that need Linux, and the error that other systems show for them."""

import sys

from protocol.errors import UserError

NAMES = {"darwin": "macOS", "win32": "Windows"}
"""Names of systems by Python's `sys.platform`."""
WAYS = {"win32": "in WSL 2 or in a Linux container (Docker Desktop, Podman)"}
"""Ways to run Linux programs, by `sys.platform`."""
OTHERWISE = "in a Linux container (Docker, Podman, Colima) or a virtual machine"
"""The way that every system has."""
ON_LINUX_ONLY = frozenset({"check", "demo", "doctor", "play", "run", "watch", "worker"})
"""Commands that start bots or test the sandbox."""


def require_linux(name: str) -> None:
    """Refuse a command that starts bots on other systems. Raises UserError."""
    if sys.platform != "linux":
        raise UserError(
            f"`{name}` needs Linux, and this is {NAMES.get(sys.platform, sys.platform)}: here "
            "`rules`, `new`, `replay`, `verify`, `report`, `publish`, `show`, `export` and "
            f"`explain` work; run the rest {WAYS.get(sys.platform, OTHERWISE)}; "
            "`boneyard help sandbox` describes ours."
        )
