"""Bots from functions: speaks the protocol for a policy, for users who installed this package.

    from arena.training.policy import play

    play(lambda question: 0)

A policy is given a `Question` and returns an index into its options. A batch policy is given all
questions that wait, of as many games as the bot plays at once, and returns an index for each:

    play_batch(policy, tables=64)

What a policy prints goes to stderr, for stdout is the pipe. If it raises, its traceback goes there
too, and the bot ends. This module imports little, so that the bot starts quickly.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import BinaryIO, SupportsIndex

from msgspec import Struct

from protocol.codec import decode_from_bot, encode_line
from protocol.messages import (
    Answer,
    Ask,
    BotHello,
    Choose,
    GameOver,
    GameStarts,
    Hello,
    UnknownMessage,
)

STDIN_READ_BYTES = 1 << 20
"""Bytes of one read: as many as a pipe can hold, so that one read takes all that has come."""


class Question(Struct, frozen=True):
    """A question to a policy."""

    ask: Ask
    """All that the seat may know, and its options."""
    game: GameStarts


PolicyFunction = Callable[[Question], SupportsIndex]
"""A function from a question to the index of an option."""
BatchPolicy = Callable[[Sequence[Question]], Sequence[SupportsIndex]]


def play(policy: PolicyFunction, *, name: str = "", version: str = "1", author: str = "") -> None:
    """Run as a bot until stdin ends, one question at a time.

    Without a name the bot is named after its file. Raises ValueError if the policy returns an
    index that is not offered, and any exception of the policy.
    """
    play_batch(
        lambda questions: [*map(policy, questions)], 1, name=name, version=version, author=author
    )


def play_batch(
    policy: BatchPolicy, tables: int = 64, *, name: str = "", version: str = "1", author: str = ""
) -> None:
    """Run as a bot at up to `tables` tables at once: one call answers all questions that have come.

    Raises as `play` does.
    """
    name = name or sys.argv[0].rpartition("/")[2].removesuffix(".py")[:64] or "policy"
    hello = BotHello(name=name, version=version, author=author, tables=tables)
    pipe, games = _taken_stdout(), dict[int, GameStarts]()
    for lines in _arrivals():
        answers: list[Answer] = []
        waiting: list[Question] = []
        for message in map(decode_from_bot, lines):
            match message:
                case Hello():
                    answers.append(hello)
                case GameStarts():
                    games[message.game] = message
                case Ask() if message.game in games:
                    waiting.append(Question(message, games[message.game]))
                # A later protocol's option: the first option is always legal.
                case Ask() | UnknownMessage(type="ask"):
                    answers.append(Choose(id=message.id, choice=0))
                case GameOver():
                    games.pop(message.game, None)
                case _:
                    pass
        answers += _choose(policy, waiting) if waiting else []
        pipe.writelines(map(encode_line, answers))
        pipe.flush()


def _choose(policy: BatchPolicy, waiting: list[Question]) -> list[Choose]:
    """Return the policy's choices.

    Raises ValueError unless there is an offered choice for each question.
    """
    choices = list(map(index, policy(waiting)))
    if len(choices) != len(waiting):
        raise ValueError(
            f"The policy returned {len(choices)} choices for {len(waiting)} questions."
        )
    answers = []
    for ask, choice in zip((question.ask for question in waiting), choices, strict=True):
        offered = len(ask.options)
        if not 0 <= choice < offered:
            raise ValueError(f"Choice {choice} of {offered} options, counted from 0.")
        answers.append(Choose(id=ask.id, choice=choice))
    return answers


def _taken_stdout() -> BinaryIO:
    """Return the pipe to the referee; whatever else writes to stdout now writes to stderr."""
    sys.stdout.flush()
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def _arrivals() -> Iterator[list[bytes]]:
    """Yield all lines that have come, again and again, until stdin is closed."""
    rest = b""
    while data := os.read(0, STDIN_READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        yield lines
