"""Hostile processes: how they end, what they start, whom they signal. Never over 40 at once."""

import ctypes
import os
import shutil
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bots.hostile.__main__ import Bot

HERE = os.path.dirname(os.path.abspath(__file__))
SOME = 20
STORM = 40
"""Forks that are tried by a bot that tries too many."""
PR_SET_NAME = 15


def exit_0(_bot: "Bot") -> None:
    sys.exit(0)


def segfault(_bot: "Bot") -> None:
    ctypes.string_at(0)


def realtime_signal(_bot: "Bot") -> None:
    os.kill(os.getpid(), signal.SIGRTMIN + 6)


def stopped(bot: "Bot") -> None:
    os.kill(os.getpid(), signal.SIGSTOP)
    bot.stay()


def kills_its_group(bot: "Bot") -> None:
    # Where a careless referee left it in our own session, that session is spared.
    if os.getsid(0) != os.getsid(os.getppid()) or os.getppid() == 0:
        os.killpg(0, signal.SIGTERM)
    bot.stay()


def ignores_signals(bot: "Bot") -> None:
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    bot.stay()


def never_leaves(bot: "Bot") -> None:
    """Ignores its goodbye, its closed stdin and every polite word."""
    for number in signal.Signals:
        if number.name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGPIPE"):  # Windows has two of them.
            signal.signal(number, signal.SIG_IGN)
    bot.stays = True


def deletes_itself(_bot: "Bot") -> None:
    """Delete its own folder; only a copy may be spoilt."""
    if os.path.exists(os.path.join(HERE, "a-copy")):
        shutil.rmtree(HERE, ignore_errors=True)


def deletes_itself_and_is_gone(bot: "Bot") -> None:
    deletes_itself(bot)
    os._exit(0)


def forks_some(_bot: "Bot") -> None:
    for _ in range(SOME):
        if os.fork() == 0:
            time.sleep(300)
            os._exit(0)


def own_session() -> None:
    """Begin a session where that is allowed, as it is without a sandbox."""
    with suppress(PermissionError):
        os.setsid()


def away(leave: "Callable[[], object]") -> None:
    """Start a child that has left the group when this returns."""
    ready, told = os.pipe()
    if os.fork() == 0:
        leave()
        os.write(told, b".")
        time.sleep(300)
        os._exit(0)
    os.read(ready, 1)


def child_in_own_session(_bot: "Bot") -> None:
    away(own_session)


def daemon(_bot: "Bot") -> None:
    """Forks twice into a session of its own, its pipes closed, and leaves."""

    def leave() -> None:
        own_session()
        os.closerange(0, 3)

    away(leave)
    os._exit(0)


def changes_its_name(_bot: "Bot") -> None:
    ctypes.CDLL(None).prctl(PR_SET_NAME, b") R 1 1 1\x1b[31m\n", 0, 0, 0)


# --- only behind a proven limit ---


def fork_storm(bot: "Bot") -> None:
    """Fork more than the limit, but no more than the machine can bear."""
    for _ in range(STORM):
        try:
            if os.fork() == 0:
                time.sleep(300)
                os._exit(0)
        except OSError:
            break
    bot.stay()


def signals_everybody(_bot: "Bot") -> None:
    for victim in (os.getppid(), -1):
        try:
            os.kill(victim, signal.SIGUSR1)
        except OSError:
            continue


def busy_daemon(_bot: "Bot") -> None:
    """Burns a core for a quarter of a minute after its parent has left."""

    def burn() -> None:
        own_session()
        if os.fork() == 0:
            end = time.monotonic() + 15
            while time.monotonic() < end:
                pass
            os._exit(0)

    away(burn)
