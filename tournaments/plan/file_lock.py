"""Locks on files and folders that end with the process that holds them. Windows has its own."""

import os
import sys
from errno import EAGAIN

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> None:
        """Lock a file, open for writing, for this process until it closes the file or ends.

        Raises BlockingIOError while another process holds it, OSError.
        """
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(EAGAIN, os.strerror(EAGAIN)) from error

    def try_lock_folder(_: int) -> bool:
        """Tell that a folder is free: Windows cannot lock one."""
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> None:
        """Lock a file, open for writing, for this process until it closes the file or ends.

        A record lock, because no child inherits it: `flock` belongs to the open file, which a bot
        that is being started holds too until its program runs, also when the process that started
        it is dead. It goes when the process closes *any* descriptor of the file, so nobody else
        may open the file there. Raises BlockingIOError while another process holds it, OSError.
        """
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except PermissionError as error:  # POSIX allows EACCES in the place of EAGAIN.
            raise BlockingIOError(EAGAIN, os.strerror(EAGAIN)) from error

    def try_lock_folder(descriptor: int) -> bool:
        """Tell whether a folder could be locked until its descriptor is closed.

        By `flock`, for record locks are for what is open for writing: whoever holds a folder must
        start no process. Raises OSError.
        """
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
