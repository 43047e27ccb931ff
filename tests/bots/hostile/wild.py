"""What a wild bot does in this process: drawn by a seed and by how many came before it."""

import os
import zlib

HONEST = 4
"""One process in so many misbehaves never."""
TURNS = 30
"""Questions among which the moment is drawn."""


def drawn(seed: str) -> tuple[str, int]:
    """The behaviour, and the question at which it happens."""
    with open("menu") as menu:  # noqa: PTH123
        names = menu.read().split()
    before = started_before()
    number = zlib.crc32(f"{seed}/{before}".encode())
    # The first process is asked for its hello only: one that cannot greet is the user's error.
    if before == 0 or number % HONEST == 0:
        return "honest", 0
    return names[number // HONEST % len(names)], 1 + number // HONEST // len(names) % TURNS


def started_before() -> int:
    """How many processes were started in this folder before: a byte for each stands in a file."""
    count = os.open("started", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(count, b".")
    before = os.lseek(count, 0, os.SEEK_CUR) - 1
    os.close(count)
    return before
