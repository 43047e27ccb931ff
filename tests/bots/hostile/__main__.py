"""A bot that plays the first option and does, once, what its first argument names; then plays on.

    python -I -S hostile GROUP/NAME TAG

GROUP is a file beside this one, NAME a line or a function in it. What begins with `hello` happens
instead of the hello, all else at the second question. The tag only marks the process in /proc.
Whatever happens here is bounded by itself, so that a referee without limits survives it.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable

TURN = 2
"""The question at which it happens."""


class Bot:
    """What a behaviour has to do with: the question, and ways to answer."""

    def __init__(self) -> None:
        self.question: bytes = b""
        self.ask: dict[str, int] = {}
        self.answered = False
        self.stays = False

    @property
    def id(self) -> int:
        """The question's number."""
        return self.ask["id"]

    @property
    def seconds(self) -> float:
        """How long it may think."""
        return self.ask["time_ms"] / 1000

    def say(self, data: bytes) -> None:
        """Write bytes as they are."""
        while data:
            data = data[os.write(1, data) :]

    def choose(self, number: int) -> bytes:
        """Return a good answer to the question of this number."""
        return b'{"type":"choose","id":%d,"choice":0}\n' % number

    def stay(self) -> None:
        """Do nothing more, for as long as nobody ends it."""
        time.sleep(300)

    def answer(self) -> None:
        """Answer, and remember that it was done."""
        self.say(self.choose(self.id))
        self.answered = True


Act = Callable[[Bot], object]


def behaviour(how: str) -> Act:
    """Return the act of this name."""
    group, name = how.split("/")
    module = importlib.import_module(group)
    if name in getattr(module, "LINES", {}):
        return lambda bot: module.said(bot, name)
    act: Act = getattr(module, name)
    return act


def main() -> None:
    """Play, and do what the first argument names when its moment comes."""
    bot, how, asked = Bot(), sys.argv[1], 0
    act = behaviour(how)
    moment = 0 if how.split("/")[1].startswith("hello") else TURN
    for line in sys.stdin.buffer:
        message = json.loads(line)
        bot.answered = False
        if message["type"] == "hello":
            if moment == 0:
                act(bot)
            if not bot.answered:
                bot.say(b'{"type":"hello","name":"hostile","version":"1"}\n')
        elif message["type"] == "ask":
            asked += 1
            bot.question, bot.ask = line, message
            if asked == moment:
                act(bot)
            if not bot.answered:
                bot.answer()
    if bot.stays:
        bot.stay()


if __name__ == "__main__":
    main()
