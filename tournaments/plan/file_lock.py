"""Locks on files that end with the process that holds them. Windows has its own."""

import os
import sys
from errno import EAGAIN

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> None:
        """Lock a file, open for writing, until this process closes the file or ends.

        Raises BlockingIOError while another process holds the lock, and OSError.
        """
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(EAGAIN, os.strerror(EAGAIN)) from error

else:
    import fcntl

    def try_lock(descriptor: int) -> None:
        """Lock a file, open for writing, until this process closes the file or ends.

        This is a record lock, because no child inherits it. `flock` belongs to the open file: a bot
        that is just being started would hold it too until its program runs, even after the process
        that started the bot has died. The lock ends when the process closes *any* descriptor of the
        file, so nothing else in this process may open it. Raises BlockingIOError while another
        process holds the lock, and OSError.
        """
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except PermissionError as error:  # POSIX allows EACCES instead of EAGAIN.
            raise BlockingIOError(EAGAIN, os.strerror(EAGAIN)) from error
