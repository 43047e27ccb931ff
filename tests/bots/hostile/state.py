"""Hostile changes to what is around a process: its folder, files, limits and streams."""

import os
import resource
import shutil
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.bots.hostile.__main__ import Bot

HERE = os.path.dirname(os.path.abspath(__file__))


def _own_copy() -> bool:
    """Only a copy may be spoilt."""
    return os.path.exists(os.path.join(HERE, "a-copy"))


def deletes_itself(_bot: "Bot") -> None:
    if _own_copy():
        shutil.rmtree(HERE, ignore_errors=True)


def deletes_itself_and_is_gone(bot: "Bot") -> None:
    deletes_itself(bot)
    os._exit(0)


def locks_its_folder(_bot: "Bot") -> None:
    """Nobody but root may look into it any more."""
    if _own_copy():
        os.chmod(HERE, 0)


def fills_its_folder(_bot: "Bot") -> None:
    try:
        for number in range(200):
            with open(f"litter-{number}", "w") as file:
                file.write("x" * 1000)
    except OSError:
        return


def empties_its_environment(_bot: "Bot") -> None:
    os.environ.clear()
    os.umask(0o777)


def no_more_files(_bot: "Bot") -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))


def no_more_seconds(_bot: "Bot") -> None:
    """Let the kernel kill it after a second of CPU time."""
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    while True:
        pass


def no_more_memory(_bot: "Bot") -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MIB, MIB))
    bytearray(64 * MIB)


def blocks_all_signals(bot: "Bot") -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
    bot.stays = True


def another_stdout(_bot: "Bot") -> None:
    """Write to the same pipe under another name."""
    copy = os.dup(1)
    os.close(1)
    os.dup2(copy, 1)
    os.close(copy)


def opens_its_pipe_anew(_bot: "Bot") -> None:
    """Hold its end of stdout twice, so that it never looks closed."""
    try:
        os.open("/proc/self/fd/1", os.O_WRONLY)
    except OSError:
        return
    os.close(2)
    sys.stderr = None


MIB = 2**20
