"""Seeds of boards, their commitments, and the random numbers that anyone can recompute from them.

    board seed = HMAC-SHA-256(secret, "boneyard board 1|EVENT|BOARD")
    commitment = SHA-256("boneyard commitment 1|" + board seed)
    words      = HMAC-SHA-256(board seed, "boneyard words 1|ROUND|PURPOSE|COUNTER"), COUNTER from 0,
                 each digest read as eight big-endian 32-bit words

One seed serves a whole board, so that it can be committed to before anyone knows how many
rounds its games will take; each round reads a stream of its own.
"""

import hashlib
import hmac
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

WORD = 2**32
_WORDS = struct.Struct(">8I").unpack


def board_seed(secret: bytes, event: str, board: int) -> bytes:
    """Return the 32-byte seed that fixes every deal on a board."""
    return hmac.digest(secret, f"boneyard board 1|{event}|{board}".encode(), "sha256")


def commitment(seed: bytes) -> str:
    """Return the commitment to a seed, published before the first game, in hex."""
    return hashlib.sha256(b"boneyard commitment 1|" + seed).hexdigest()


def random_words(seed: bytes, round_number: int, purpose: str) -> Iterator[int]:
    """Yield an endless stream of 32-bit words."""
    prefix = f"boneyard words 1|{round_number}|{purpose}|"
    counter = 0
    while True:
        yield from _WORDS(hmac.digest(seed, f"{prefix}{counter}".encode(), "sha256"))
        counter += 1


def randbelow(stream: Iterator[int], n: int) -> int:
    """Return a number from 0 to n - 1, each as likely.

    Words at the top, where less than a whole range of n is left, are thrown away: taken modulo n
    they would make small numbers likelier. With a set of tiles that happens about once in 10⁸
    words.
    """
    even = WORD - WORD % n
    for word in stream:
        if word < even:
            return word % n
    raise ValueError("The stream of words has ended.")


def shuffle(stream: Iterator[int], items: Iterable[T]) -> Sequence[T]:
    """Return the items in random order (Fisher-Yates, from the last place down)."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        chosen = randbelow(stream, last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order
