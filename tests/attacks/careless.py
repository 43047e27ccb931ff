"""The start of a command as carelessly as can be: a control in which every probe gets through.

`python -I -S careless.py RING [terminal] -- COMMAND…`: the command shares the session keyring of
that name with all who are started with it; with `terminal` it has a terminal of its own.
"""

import ctypes
import fcntl
import os
import sys
import termios

KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING, KEYCTL_SETPERM, SESSION = 1, 5, -3


def main() -> None:
    """Share, then become the command."""
    split = sys.argv.index("--")
    keyctl, libc = KEYCTL[os.uname().machine], ctypes.CDLL(None)
    libc.syscall(keyctl, KEYCTL_JOIN_SESSION_KEYRING, sys.argv[1].encode())
    libc.syscall(keyctl, KEYCTL_SETPERM, SESSION, 0x3F3F3F3F)
    if "terminal" in sys.argv[:split]:
        keeper, terminal = os.openpty()
        os.set_inheritable(keeper, True)
        os.setsid()
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    command = sys.argv[split + 1 :]
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
