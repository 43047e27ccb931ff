"""Hostile timing: silence, halves, drops, old answers and answers ahead."""

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tests.bots.hostile.__main__ import Bot


def hello_never(bot: "Bot") -> None:
    bot.stay()


def silent(bot: "Bot") -> None:
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
