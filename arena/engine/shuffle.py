"""Seeds of boards, their commitments, and the random numbers that anyone can recompute from them.

    board seed = HMAC-SHA-256(secret, "boneyard board 1|EVENT|BOARD"), "…|2" for the second attempt
    commitment = SHA-256("boneyard commitment 1|" + board seed)
    chance     = HMAC-SHA-256(board seed, "boneyard chance 1|SEAT|GAME"), a sealed bot's
    words      = HMAC-SHA-256(board seed, "boneyard words 1|ROUND|PURPOSE|COUNTER"), COUNTER from 0,
                 each digest read as eight big-endian 32-bit words

One seed serves a whole board, so that it can be committed to before anyone knows how many
rounds its games will take; each round reads a stream of its own. A seed with set tiles is longer:
its first 32 bytes make the words, and `arena.engine.deal` reads the rest.
"""

import hmac
import struct
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from typing import TypeVar

T = TypeVar("T")

WORD = 2**32
WORDS_A_DIGEST = 8
SEED = 32
"""Bytes of a seed that make the words; set tiles follow them."""
HASHED = 64
"""Bytes that SHA-256 hashes at a time, to which HMAC lengthens its key."""
_INNER = bytes(byte ^ 0x36 for byte in range(256))
_OUTER = bytes(byte ^ 0x5C for byte in range(256))
"""Each byte of a key as HMAC changes it, before its inner and its outer hash."""


def board_seed(secret: bytes, event: str, board: int, attempt: int = 1) -> bytes:
    """Return the 32-byte seed that fixes every deal on a board.

    `attempt`: more than 1 if the deals of earlier seeds were not wanted.
    """
    label = f"boneyard board 1|{event}|{board}" + (f"|{attempt}" if attempt > 1 else "")
    return hmac.digest(secret, label.encode(), "sha256")


def commitment(seed: bytes) -> str:
    """Return the commitment to a seed, published before the first game, in hex."""
    return sha256(b"boneyard commitment 1|" + seed).hexdigest()


def chance_of_bot(seed: bytes, game: str, seat: int) -> str:
    """Return the seed of a sealed bot's chance in a game, in hex.

    It is made from the secret: from the public commitment any opponent could predict the bot.
    The game's name separates the tables and rotations of a board.
    """
    return hmac.digest(seed[:SEED], f"boneyard chance 1|{seat}|{game}".encode(), "sha256").hex()


class RandomWords:
    """An endless stream of 32-bit words, for one purpose in one round; none is made unasked."""

    __slots__ = ("_counter", "_left", "_prefix", "_seed")

    def __init__(self, seed: bytes, round_number: int, purpose: str) -> None:
        self._seed = seed[:SEED]
        self._prefix = f"boneyard words 1|{round_number}|{purpose}|".encode()
        self._counter = 0
        self._left: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[int]:
        while True:
            yield self.take(1)[0]

    def take(self, count: int) -> tuple[int, ...]:
        """Return the next words."""
        words = self._left
        if len(words) < count:
            words += self._make_words(count - len(words))
        self._left = words[count:]
        return words[:count]

    def _make_words(self, least: int) -> tuple[int, ...]:
        """Return at least `least` words, from whole digests."""
        first, after = self._counter, self._counter - -least // WORDS_A_DIGEST
        self._counter = after
        # An HMAC is two hashes: with their beginnings kept, a digest costs half of `hmac.digest`.
        key = self._seed.ljust(HASHED, b"\0")
        inner_base = sha256(key.translate(_INNER) + self._prefix)
        outer_base = sha256(key.translate(_OUTER))
        digests = []
        for counter in range(first, after):
            inner, outer = inner_base.copy(), outer_base.copy()
            inner.update(b"%d" % counter)
            outer.update(inner.digest())
            digests.append(outer.digest())
        return struct.unpack(f">{WORDS_A_DIGEST * len(digests)}I", b"".join(digests))


def randbelow(stream: Iterable[int], n: int) -> int:
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


def shuffle(stream: RandomWords, items: Iterable[T]) -> Sequence[T]:
    """Return the items in random order (Fisher-Yates, from the last place down)."""
    order = list(items)
    # Take all words in one call: only if one is among the highest may some be thrown away.
    words = stream.take(max(len(order) - 1, 0))
    if max(words, default=0) >= WORD - len(order):
        return _shuffle_unevenly(chain(words, stream), order)
    size = len(order)
    for word in words:
        other = word % size
        size -= 1
        order[size], order[other] = order[other], order[size]
    return order


def _shuffle_unevenly(stream: Iterator[int], order: list[T]) -> Sequence[T]:
    """Shuffle with words of which some may have to be thrown away."""
    for last in range(len(order) - 1, 0, -1):
        other = randbelow(stream, last + 1)
        order[last], order[other] = order[other], order[last]
    return order
