"""Files that a user names, read up to a bound."""

from pathlib import Path

from protocol.errors import UserError


def read_user_file(path: Path, most: int) -> bytes:
    """Return the content of a file of at most so many bytes.

    Raises UserError for a file that cannot be read, or is longer than anybody writes: a name that
    leads to a disk or to /dev/zero must not fill the memory.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > most:
        raise UserError(f"{path} is longer than {most >> 20} MiB.")
    return content
