"""Steps about the first lines: hello, the first game, one answer for one question, other starts."""

from arena.conformance import expect as judge
from arena.conformance.cases.games import tiny
from arena.conformance.connection import Connection
from arena.conformance.model import Step
from arena.conformance.session import Session
from arena.rules.variants import find_variant

ANSWERS = 3
"""Answers after each of which the check listens for more, if a game has so many questions."""
STARTS = 3
"""Starts that are timed."""
SLOW = 0.5
"""The share of `start_ms` beyond which a start is called slow."""


def says_hello(desk: Session) -> str:
    """Check that the first line is a hello and comes in time."""
    talk = desk.kept_connection
    return f"after {_since_start(talk):.0f} ms"


def only_hello(desk: Session) -> str:
    """Check that the bot sends one line and then waits."""
    judge.expect_silence(desk.kept_connection, desk.pace.quiet_ms / 1000, "after its hello")
    assert desk.hello
    return f"{desk.hello.name} {desk.hello.version}".strip()


def silent_at_game(desk: Session) -> str:
    """Check that the bot is silent when a game begins: nothing is asked yet."""
    game, *_ = desk.seat(find_variant("draw")).lines()
    desk.kept_connection.send(game)
    judge.expect_silence(desk.kept_connection, desk.pace.quiet_ms / 1000, "when a game began")
    # A game that has begun must be played to its end.
    desk.drop()
    return ""


def answers_once(desk: Session) -> str:
    """Check that the bot sends one line for one question."""
    talk, seat = desk.kept_connection, desk.seat(find_variant("draw"))
    for _ in range(ANSWERS):
        if seat.question is None:
            break
        desk.ask(talk, seat)
        judge.expect_silence(talk, desk.pace.quiet_ms / 3000, "after its answer")
    # Another step plays it to its end.
    desk.drop()
    return ""


def silent_at_end(desk: Session) -> str:
    """Check that the bot is silent at the end of a round and of a game."""
    talk = desk.kept_connection
    desk.play(talk, desk.seat(tiny()))
    judge.expect_silence(talk, desk.pace.quiet_ms / 1000, "at the end of a game")
    return ""


def first_answer(desk: Session) -> str:
    """Check that the first answer is one whole line in time."""
    answer = desk.ask(desk.kept_connection, desk.seat(find_variant("draw")))
    desk.drop()
    return f"option {answer.choice} after {answer.ms:.1f} ms"


def start_times(desk: Session) -> str:
    """Time the starts, in the sandbox and, if a user asked for that, outside."""
    desk.drop()
    starts = STARTS if desk.pace.whole else 1
    within = min(_started(Connection(desk.command, desk.sandbox), desk) for _ in range(starts))
    level = "off" if desk.sandbox.level == "off" else f"level {desk.sandbox.level}"
    note = f"{within:.0f} ms at {level}"
    if desk.outside:
        outside = min(_started(Connection(desk.command, desk.outside), desk) for _ in range(starts))
        note += f", {outside:.0f} ms outside"
    if within > SLOW * desk.clock.start_ms:
        note += f"; take care, the limit is {desk.clock.start_ms} ms"
    return note


def two_at_once(desk: Session) -> str:
    """Start two processes: sittings run side by side, so a bot may lock no file, take no port."""
    with desk.greeted() as one, desk.another() as two:
        for talk in (one, two):
            desk.ask(talk, desk.seat(find_variant("draw")))
    return ""


def without_newer_hello(desk: Session) -> str:
    """Send the hello of a later version, which has more fields."""
    hello = b'{"type":"hello","protocol":1,"referee":"boneyard 9.9.1","minor":7,"wants":["x"]}\n'
    with desk.greeted(hello) as talk:
        desk.ask(talk, desk.seat(find_variant("draw")))
    return ""


def _started(talk: Connection, desk: Session) -> float:
    with talk:
        judge.expect_hello(talk, desk.clock.start_ms, desk.language)
        return _since_start(talk)


def _since_start(talk: Connection) -> float:
    return (talk.read_at - talk.began) * 1000


STEPS = (
    Step("hello", "says hello in time", "Bot: hello", says_hello, gate=True),
    Step("only-hello", "writes nothing more until it is asked", "The pipe", only_hello),
    Step("game", "writes nothing when a game begins", "Who speaks when", silent_at_game),
    Step("first", "answers the first question", "Bot: choose", first_answer, gate=True),
    Step("once", "answers each question once", "Question ids", answers_once),
    Step("end", "writes nothing when a game ends", "Who speaks when", silent_at_end),
    Step("starts", "starts soon", "Time", start_times),
    Step("two", "runs twice at the same time", "Who speaks when", two_at_once),
    Step("newer", "understands the hello of a newer referee", "Versions", without_newer_hello),
)
