"""Deals that anyone can recompute: known words, rejection, fairness, and nothing shared."""

import hashlib
import hmac

import pytest

from arena.engine.shuffle import WORD, RandomWords, board_seed, commitment, randbelow, shuffle


def test_seeds_and_words_follow_the_documented_scheme() -> None:
    """The seeds and words are recomputed here from the documentation, without our code."""
    seed = hmac.new(b"secret", b"boneyard board 1|cup|7", hashlib.sha256).digest()
    assert board_seed(b"secret", "cup", 7) == seed
    assert commitment(seed) == hashlib.sha256(b"boneyard commitment 1|" + seed).hexdigest()
    stream = iter(RandomWords(seed, 2, "tiles"))
    for counter in range(3):
        message = f"boneyard words 1|2|tiles|{counter}".encode()
        digest = hmac.new(seed, message, hashlib.sha256).digest()
        for offset in range(0, 32, 4):
            assert next(stream) == int.from_bytes(digest[offset : offset + 4], "big")


def test_a_stream_that_ends_is_an_error() -> None:
    with pytest.raises(ValueError, match="ended"):
        randbelow(iter([WORD - 1]), 6)


def test_a_shuffle_takes_the_words_that_numbers_one_by_one_take() -> None:
    """Fisher-Yates as DEALS.md writes it, a word at a time, and what follows in the stream."""
    for number in range(20):
        stream, twin = (RandomWords(board_seed(b"s", "e", number), 1, "x") for _ in range(2))
        for size in (28, 5, 1, 0, 190):
            order = list(range(size))
            for last in range(size - 1, 0, -1):
                target = randbelow(twin, last + 1)
                order[last], order[target] = order[target], order[last]
            assert shuffle(stream, range(size)) == order
        assert stream.take(3) == twin.take(3)
