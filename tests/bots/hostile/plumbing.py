"""Hostile use of the three pipes: closed, full, never read, given away, flooded."""

import os
import subprocess
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.bots.hostile.__main__ import Bot

MIB = 2**20
F_SETPIPE_SZ = 1031
A_LOT = 64
"""MiB that are written where a flood is meant: a bound for a referee that has none."""


def written(descriptor: int, data: bytes) -> None:
    """Write all of it, as far as anybody takes it."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        time.sleep(300)


def closes_stdin(bot: "Bot") -> None:
    os.close(0)
    bot.stay()


def closes_stdout(bot: "Bot") -> None:
    os.close(1)
    bot.stay()


def closes_stderr(_bot: "Bot") -> None:
    os.close(2)


def fills_its_own_stdin(bot: "Bot") -> None:
    """So that the referee can write nothing more."""
    try:
        own = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
        while True:
            os.write(own, b"x" * 4096)
    except OSError:
        bot.answer()
        bot.stay()


def small_pipes(_bot: "Bot") -> None:
    """Shrink its pipes to the kernel's minimum: the referee's lines no longer fit at once."""
    import fcntl  # Windows has none.

    for descriptor in (0, 1, 2):
        fcntl.fcntl(descriptor, F_SETPIPE_SZ, 4096)


def endless_line(_bot: "Bot") -> None:
    for _ in range(A_LOT):
        written(1, b"x" * MIB)


def endless_old_answers(bot: "Bot") -> None:
    lines = bot.choose(1) * 10_000
    for _ in range(A_LOT * 3):
        written(1, lines)


def unasked_old_answers(bot: "Bot") -> None:
    bot.answer()
    endless_old_answers(bot)


def endless_words(_bot: "Bot") -> None:
    for _ in range(A_LOT):
        written(1, b"thinking...\n" * 90_000)


def stderr_flood(bot: "Bot") -> None:
    for _ in range(A_LOT):
        written(2, b"debug: nothing\n" * 70_000)
    bot.stay()


def stderr_flood_beside(_bot: "Bot") -> None:
    """Plays on while another thread floods."""

    def flood() -> None:
        for _ in range(A_LOT):
            written(2, b"debug: nothing\n" * 70_000)

    flooding = threading.Thread(target=flood, daemon=True)
    flooding.start()
    flooding.join()


def stderr_chatter(_bot: "Bot") -> None:
    """Half a mebibyte: much, and allowed."""
    written(2, b"debug: nothing\n" * 35_000)


def stderr_terminal_codes(_bot: "Bot") -> None:
    written(2, b"much ado\n" * 1_000)
    written(2, b"\x1b[2J\x1b]0;owned\x07\xff\xfe\x9b31m\xe2\x80\xae<script>\0\n")
    sys.exit(3)


def heir(_bot: "Bot") -> None:
    """Leave a child that holds its stdout open."""
    code = "import time; time.sleep(300)"
    subprocess.Popen((sys.executable, "-I", "-S", "-c", code, *sys.argv[2:]))
    os._exit(0)


def child_talks(bot: "Bot") -> None:
    """Let two processes write to one stdout, in any order."""
    if os.fork() == 0:
        bot.say(b"my parent plays badly\n")
        time.sleep(300)
    bot.stay()


def answers_and_is_gone(bot: "Bot") -> None:
    bot.answer()
    os._exit(0)
