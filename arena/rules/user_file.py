"""Files that a user names, read up to a bound."""

import codecs
from pathlib import Path

from protocol.errors import UserError


def read_user_file(path: Path, most: int) -> bytes:
    """Return the content of a file of at most so many bytes, without a byte order mark of UTF-8.

    Raises UserError for a file that cannot be read, or is longer than anybody writes: a name that
    leads to a disk or to /dev/zero must not fill the memory. Raises it for UTF-16 too, which
    PowerShell writes.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > most:
        raise UserError(f"{path} is longer than {most >> 20} MiB.")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"{path} is written in UTF-16. Save it as UTF-8.")
    return content.removeprefix(codecs.BOM_UTF8)
