"""Hostile timing: silence, halves, drops, old answers and answers ahead."""

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.bots.hostile.__main__ import Bot

HELLO = b'{"type":"hello","name":"slow","version":"1"}\n'


def hello_never(bot: "Bot") -> None:
    bot.stay()


def hello_without_newline(bot: "Bot") -> None:
    bot.say(HELLO[:-1])
    bot.stay()


def hello_slow(bot: "Bot") -> None:
    """Well within its time."""
    time.sleep(0.3)
    bot.say(HELLO)
    bot.answered = True


def silent(bot: "Bot") -> None:
    bot.stay()


def busy(bot: "Bot") -> None:
    """Thinks as hard as it can, for half a minute."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass
    bot.stay()


def no_newline(bot: "Bot") -> None:
    bot.say(bot.choose(bot.id)[:-1])
    bot.stay()


def in_drops(bot: "Bot") -> None:
    """Byte by byte, and soon enough."""
    for byte in bot.choose(bot.id):
        bot.say(bytes([byte]))
    bot.answered = True


def in_slow_drops(bot: "Bot") -> None:
    """No byte is far from the next one, and the line is never whole."""
    for byte in bot.choose(bot.id)[:-1]:
        bot.say(bytes([byte]))
        time.sleep(bot.seconds / 20)
    bot.stay()


def endless_drops(bot: "Bot") -> None:
    """Write single bytes, each of which costs the referee a system call, up to the longest line."""
    for _ in range(100_000):
        bot.say(b" ")


def after_a_while(_bot: "Bot") -> None:
    """Longer than `move_ms`, shorter than the bank."""
    time.sleep(0.3)


def patient(_bot: "Bot") -> None:
    """Wait for longer than the thread lives that started the bot."""
    time.sleep(12)


def old_answers(bot: "Bot") -> None:
    """Send old answers, spread over the time: they must not extend it."""
    for _ in range(12):
        bot.say(bot.choose(1))
        time.sleep(bot.seconds / 10)
    bot.stay()


def too_many_old_answers(bot: "Bot") -> None:
    for _ in range(40):
        bot.say(bot.choose(1))


def each_answer_twice(bot: "Bot") -> None:
    """From now on: as many old answers as there are questions."""
    choose = bot.choose

    def twice(number: int) -> bytes:
        return choose(number) * 2

    bot.choose = twice  # type: ignore[method-assign]


def thinks_three_times(bot: "Bot") -> None:
    """About this question and the next two: time for others to misbehave unasked."""
    choose, last = bot.choose, bot.id + 2

    def slowly(number: int) -> bytes:
        time.sleep(0.3 if number <= last else 0)
        return choose(number)

    bot.choose = slowly  # type: ignore[method-assign]


def answers_ahead(bot: "Bot") -> None:
    """Blind answers to questions that will be asked: legal, and its own loss."""
    for number in range(bot.id, bot.id + 8):
        bot.say(bot.choose(number))
    bot.answered = True


def answer_to_the_next_only(bot: "Bot") -> None:
    bot.say(bot.choose(bot.id + 1))
    bot.answered = True
