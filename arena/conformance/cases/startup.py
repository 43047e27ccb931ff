"""Steps about the first lines: hello, the first game, one answer for one question, other starts."""

from arena.conformance import expect as judge
from arena.conformance.cases.games import tiny
from arena.conformance.connection import Talk
from arena.conformance.model import Step
from arena.conformance.session import Desk
from arena.rules.variants import named

ANSWERS = 3
"""How many answers are listened behind, as far as a game has so many questions."""
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
    game, *_ = desk.seat(named("draw")).lines()
    desk.kept.say(game)
    judge.unasked(desk.kept, desk.pace.quiet_ms / 1000, "when a game began")
    # A game that was begun is not left for another.
    desk.drop()
    return ""


def answers_once(desk: Desk) -> str:
    """One line for one question."""
    talk, seat = desk.kept, desk.seat(named("draw"))
    for _ in range(ANSWERS):
        if seat.question is None:
            break
        desk.ask(talk, seat)
        judge.unasked(talk, desk.pace.quiet_ms / 3000, "after its answer")
    # Its end is another step's.
    desk.drop()
    return ""


def silent_at_end(desk: Desk) -> str:
    """A round and a game are over: there is nothing to say."""
    talk = desk.kept
    desk.play(talk, desk.seat(tiny()))
    judge.unasked(talk, desk.pace.quiet_ms / 1000, "at the end of a game")
    return ""


def first_answer(desk: Desk) -> str:
    """One whole line in time."""
    answer = desk.ask(desk.kept, desk.seat(named("draw")))
    desk.drop()
    return f"option {answer.choice} after {answer.ms:.1f} ms"


def start_times(desk: Desk) -> str:
    """How long a start takes, in the sandbox and, if a user asked for that, outside."""
    desk.drop()
    starts = STARTS if desk.pace.whole else 1
    within = min(_started(Talk(desk.command, desk.sandbox), desk) for _ in range(starts))
    level = "off" if desk.sandbox.level == "off" else f"level {desk.sandbox.level}"
    note = f"{within:.0f} ms at {level}"
    if desk.outside:
        outside = min(_started(Talk(desk.command, desk.outside), desk) for _ in range(starts))
        note += f", {outside:.0f} ms outside"
    if within > SLOW * desk.clock.start_ms:
        note += f"; take care, the limit is {desk.clock.start_ms} ms"
    return note


def two_at_once(desk: Desk) -> str:
    """Sittings run side by side: nothing may be locked, and no port taken."""
    with desk.greeted() as one, desk.another() as two:
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
    Step("game", "writes nothing when a game begins", "Who speaks when", silent_at_game),
    Step("first", "answers the first question", "Bot: choose", first_answer, gate=True),
    Step("once", "answers each question once", "Numbers of questions", answers_once),
    Step("end", "writes nothing when a game ends", "Who speaks when", silent_at_end),
    Step("starts", "starts soon", "Time", start_times),
    Step("two", "runs twice at the same time", "Who speaks when", two_at_once),
    Step("newer", "understands the hello of a newer referee", "Versions", without_newer_hello),
)
