"""Hostile processes: how they end, what they start, whom they signal. Never over 40 at once."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bots.hostile.__main__ import Bot

SOME = 20
"""Children of a bot that starts some."""
STORM = 40
"""Forks that are tried by a bot that tries too many."""
PR_SET_NAME, PTRACE_TRACEME, PTRACE_SEIZE = 15, 0, 0x4206


def exit_0(_bot: "Bot") -> None:
    sys.exit(0)


def crash(_bot: "Bot") -> None:
    raise RuntimeError("a bug of mine")


def endless_recursion(bot: "Bot") -> None:
    endless_recursion(bot)


def segfault(_bot: "Bot") -> None:
    ctypes.string_at(0)


def killed(_bot: "Bot") -> None:
    os.kill(os.getpid(), signal.SIGKILL)


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
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    bot.stays = True


def forks_some(_bot: "Bot") -> None:
    for _ in range(SOME):
        if os.fork() == 0:
            time.sleep(300)
            os._exit(0)


def makes_zombies(_bot: "Bot") -> None:
    for _ in range(SOME):
        if os.fork() == 0:
            os._exit(0)


def orphans(bot: "Bot") -> None:
    """Children that outlive it, in its own group."""
    forks_some(bot)
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


def child_in_own_group(_bot: "Bot") -> None:
    away(lambda: os.setpgid(0, 0))


def child_in_own_session(_bot: "Bot") -> None:
    away(own_session)


def daemon(_bot: "Bot") -> None:
    """Forks twice into a session of its own, its pipes closed, and leaves."""

    def leave() -> None:
        own_session()
        os.closerange(0, 3)

    away(leave)
    os._exit(0)


def daemon_that_talks(bot: "Bot") -> None:
    """Leave a daemon that holds all pipes of the bot."""
    away(own_session)
    bot.say(b"")
    os._exit(0)


def becomes_a_shell(_bot: "Bot") -> None:
    os.execv("/bin/sh", ["sh", "-c", "echo I am a shell; sleep 300", *sys.argv])


def becomes_a_sleeper(_bot: "Bot") -> None:
    code = "import time; time.sleep(300)"
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", code, *sys.argv])


def becomes_an_echo(bot: "Bot") -> None:
    """Answer every question with the question itself."""
    bot.answer()
    os.execv("/bin/cat", ["cat", "-", "/dev/null"])


def changes_its_name(_bot: "Bot") -> None:
    ctypes.CDLL(None).prctl(PR_SET_NAME, b") R 1 1 1\x1b[31m\n", 0, 0, 0)


def is_nicer(_bot: "Bot") -> None:
    os.nice(5)


def traced_by_its_parent(bot: "Bot") -> None:
    """Let its parent trace it: every signal now stops it."""
    ctypes.CDLL(None).ptrace(PTRACE_TRACEME, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGUSR1)
    bot.stay()


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


def stops_its_parent(_bot: "Bot") -> None:
    try:
        os.kill(os.getppid(), signal.SIGSTOP)
    except OSError:
        return


def traces_its_parent(_bot: "Bot") -> None:
    ctypes.CDLL(None).ptrace(PTRACE_SEIZE, os.getppid(), 0, 0)


def slows_its_parent(_bot: "Bot") -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
    except OSError:
        return


def limits_its_parent(_bot: "Bot") -> None:
    import resource

    try:
        resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))
    except OSError:
        return


def is_most_important(_bot: "Bot") -> None:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
        os.nice(-20)
    except OSError:
        return


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
