"""Steps about the first lines: hello, the first game, the first answer, other places to start."""

from arena.check import judge
from arena.check.desk import Desk
from arena.check.step import Step
from arena.check.talk import Talk
from arena.variants import named

STARTS = 3
"""How often a start is timed."""
SLOW = 0.5
"""The part of `start_ms` beyond which a start is called slow."""


def says_hello(desk: Desk) -> str:
    """The first line, within the limit."""
    talk = desk.kept
    return f"after {_since_start(talk):.0f} ms"


def only_hello(desk: Desk) -> str:
    """One line, and then it waits."""
    judge.unasked(desk.kept, desk.pace.quiet_ms / 1000, "after its hello")
    assert desk.hello
    return f"{desk.hello.name} {desk.hello.version}".strip()


def silent_at_game(desk: Desk) -> str:
    """A game begins: nothing is asked yet."""
    talk, seat = desk.kept, desk.seat(named("draw"))
    lines = seat.lines()
    talk.say(*lines[:-1])
    judge.unasked(talk, desk.pace.quiet_ms / 1000, "when a game began")
    talk.say(lines[-1])
    judge.answered(talk, seat, desk.language)
    desk.play(talk, seat)
    return ""


def first_answer(desk: Desk) -> str:
    """One whole line in time."""
    with desk.greeted() as talk:
        answer = desk.ask(talk, desk.seat(named("draw")))
    return f"option {answer.choice} after {answer.ms:.1f} ms"


def start_times(desk: Desk) -> str:
    """How long a start takes, in the sandbox and outside."""
    within = min(_started(Talk(desk.command, desk.sandbox), desk) for _ in range(STARTS))
    level = "off" if desk.sandbox.level == "off" else f"level {desk.sandbox.level}"
    note = f"{within:.0f} ms at {level}"
    if desk.outside:
        outside = min(_started(Talk(desk.command, desk.outside), desk) for _ in range(STARTS))
        note += f", {outside:.0f} ms outside"
    if within > SLOW * desk.clock.start_ms:
        note += f"; take care, the limit is {desk.clock.start_ms} ms"
    return note


def two_at_once(desk: Desk) -> str:
    """Sittings run side by side: nothing may be locked, and no port taken."""
    with desk.greeted() as one, desk.greeted() as two:
        for talk in (one, two):
            desk.ask(talk, desk.seat(named("draw")))
    return ""


def without_newer_hello(desk: Desk) -> str:
    """A referee of a later version says more in its hello."""
    hello = b'{"type":"hello","protocol":1,"referee":"boneyard 9.9.1","minor":7,"wants":["x"]}\n'
    with desk.greeted(hello) as talk:
        desk.ask(talk, desk.seat(named("draw")))
    return ""


def _started(talk: Talk, desk: Desk) -> float:
    with talk:
        judge.greeting(talk, desk.clock.start_ms, desk.language)
        return _since_start(talk)


def _since_start(talk: Talk) -> float:
    return (talk.heard_at - talk.began) * 1000


STEPS = (
    Step("hello", "says hello in time", "Bot: hello", says_hello, gate=True),
    Step("only-hello", "writes nothing more until it is asked", "The pipe", only_hello),
    Step("first", "answers the first question", "Bot: choose", first_answer, gate=True),
    Step("game", "writes nothing when a game begins", "Who speaks when", silent_at_game),
    Step("starts", "starts soon, in the sandbox and outside", "Time", start_times),
    Step("two", "runs twice at the same time", "Who speaks when", two_at_once),
    Step("newer", "understands the hello of a newer referee", "Versions", without_newer_hello),
)
