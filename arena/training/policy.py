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
from select import select
from typing import SupportsIndex

from msgspec import Struct

from protocol.codec import decode_from_bot, encode_line
from protocol.messages import (
    Answer,
    Ask,
    BotHello,
    Bye,
    Choose,
    GameOver,
    GameStarts,
    Hello,
    UnknownMessage,
)

READ = 1 << 16
"""Bytes of one read: more than a pipe holds."""


class Question(Struct, frozen=True):
    """A question to a policy."""

    ask: Ask
    """All that the seat may know, and its options."""
    game: GameStarts
    """The question's game: the rules, the table and the clock."""


Policy = Callable[[Question], SupportsIndex]
"""A function from a question to the index of an option."""
BatchPolicy = Callable[[Sequence[Question]], Sequence[SupportsIndex]]
"""A function from questions to the index of an option for each."""


def play(policy: Policy, *, name: str = "", version: str = "1", author: str = "") -> None:
    """Run as a bot until the referee says goodbye, one question at a time.

    Without a name the bot is named after its file. Raises ValueError if the policy returns an
    index that is not offered, and any exception of the policy.
    """
    play_batch(
        lambda ones: [policy(one) for one in ones], 1, name=name, version=version, author=author
    )


def play_batch(
    policy: BatchPolicy, tables: int = 64, *, name: str = "", version: str = "1", author: str = ""
) -> None:
    """Run as a bot at up to `tables` tables at once: one call answers all questions that have come.

    Raises as `play` does.
    """
    hello = BotHello(name=name or _file(), version=version, author=author, tables=tables)
    bot, pipe = _Bot(policy, hello), _taken_stdout()
    for lines in _arrivals():
        _write(pipe, bot.answers(lines))
        if bot.over:
            return


class _Bot:
    """A bot's state: reads messages and writes answers, without I/O."""

    def __init__(self, policy: BatchPolicy, hello: BotHello) -> None:
        self.over = False
        self._policy = policy
        self._hello = hello
        self._games: dict[int, GameStarts] = {}

    def answers(self, lines: Sequence[bytes]) -> bytes:
        """Return the answers to these lines; the policy gets all questions together."""
        said: list[Answer] = []
        waiting: list[Question] = []
        for message in map(decode_from_bot, lines):
            match message:
                case Hello():
                    said.append(self._hello)
                case GameStarts():
                    self._games[message.game] = message
                case Ask() if message.game in self._games:
                    waiting.append(Question(message, self._games[message.game]))
                # A later protocol's option: the first option is always legal.
                case Ask() | UnknownMessage(type="ask"):
                    said.append(Choose(id=message.id, choice=0))
                case GameOver():
                    self._games.pop(message.game, None)
                case Bye():
                    self.over = True
                case _:
                    pass
        said += self._chosen(waiting) if waiting else []
        return b"".join(map(encode_line, said))

    def _chosen(self, waiting: list[Question]) -> list[Choose]:
        """Return the policy's choices.

        Raises ValueError unless there is an offered choice for each question.
        """
        choices = list(map(index, self._policy(waiting)))
        if len(choices) != len(waiting):
            raise ValueError(
                f"The policy returned {len(choices)} choices for {len(waiting)} questions."
            )
        for question, choice in zip(waiting, choices, strict=True):
            offered = len(question.ask.options)
            if not 0 <= choice < offered:
                raise ValueError(f"Choice {choice} of {offered} options, counted from 0.")
        asked = zip(waiting, choices, strict=True)
        return [Choose(id=one.ask.id, choice=choice) for one, choice in asked]


def _file() -> str:
    return sys.argv[0].rpartition("/")[2].removesuffix(".py")[:64] or "policy"


def _taken_stdout() -> int:
    """Return the pipe to the referee; whatever else writes to stdout now writes to stderr."""
    sys.stdout.flush()
    pipe = os.dup(1)
    os.dup2(2, 1)
    return pipe


def _arrivals() -> Iterator[list[bytes]]:
    """Yield all lines that have come, again and again, until stdin is closed."""
    rest = b""
    while data := os.read(0, READ):
        while select([0], [], [], 0)[0] and (more := os.read(0, READ)):
            data += more
        *lines, rest = (rest + data).split(b"\n")
        yield lines


def _write(pipe: int, said: bytes) -> None:
    while said:
        said = said[os.write(pipe, said) :]
