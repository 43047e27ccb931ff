"""What a wild bot does in this process: drawn by a seed and by how many came before it."""

import os
import zlib

ACTS = 4
"""What a process does at most: some behaviours leave children behind."""
TURNS = 20
"""Questions among which the moment of each is drawn."""


def plan(seed: str) -> dict[int, str]:
    """Return the behaviour by the question's number, or 0 for the hello."""
    with open("menu") as menu:
        names = menu.read().split()
    try:
        before = started_before()
    except OSError:
        # In the sandbox nobody can count, so that any process may be the first.
        before = int.from_bytes(os.urandom(4), "big")
        names = [name for name in names if "/hello" not in name]
    # The first process is asked for its hello only: one that cannot greet is the user's error.
    if before == 0:
        return {}
    groups = sorted({name.split("/")[0] for name in names})
    planned, turn = {}, 0
    for act in range(ACTS):
        dice = zlib.crc32(f"{seed}/{before}/{act}".encode())
        group = groups[dice % len(groups)]
        choices = [name for name in names if name.startswith(group)]
        how = choices[dice // 7 % len(choices)]
        turn += 1 + dice // 7_000 % TURNS
        planned[0 if "/hello" in how else turn] = how
    return planned


def started_before() -> int:
    """Return how many processes were started in this folder before: a byte for each stands in a
    file."""
    count = os.open("started", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(count, b".")
    before = os.lseek(count, 0, os.SEEK_CUR) - 1
    os.close(count)
    return before
