"""Steps about the referee's messages: later versions, long lines, strange names, other seats."""

from functools import partial

from arena.conformance import expect, mutations
from arena.conformance.cases.games import any_game, short
from arena.conformance.model import CheckStep
from arena.conformance.mutations import Sent
from arena.conformance.session import Session
from arena.rules.variants import find_variant
from protocol.messages import MAX_LINE
from protocol.ruleset import derive

SETS = 18
"""The highest number of pips of the largest set."""
LARGE_HAND = 64
"""The most tiles that rules can deal to a seat."""


def changed(said: Sent, session: Session) -> str:
    """Play a round in which every line is changed."""
    return session.play_on(session.kept_connection, session.new_seat(short("draw")), said)


def strange_name(session: Session) -> str:
    """Play a ruleset with an unusual name."""
    any_game(session)
    return changed(mutations.with_newer_name, session)


def unknown_messages(session: Session) -> str:
    """Send messages of an unknown type between all others; they need no answer."""
    connection, seat = session.kept_connection, session.new_seat(short("draw"))
    connection.send(mutations.WEATHER)
    expect.expect_silence(
        connection, session.budget.quiet_ms / 1000, "at a message of an unknown type"
    )
    return session.play_on(connection, seat, lambda line: mutations.WEATHER + line)


def largest_set(session: Session) -> str:
    """Play with the largest set: the longest lists and lines that the engine makes."""
    any_game(session)
    rules = derive(short("draw"), "draw", {"highest_pip": SETS, "hand": LARGE_HAND, "reserve": 0})
    longest = 0

    def measured(line: bytes) -> bytes:
        nonlocal longest
        longest = max(longest, len(line))
        return line

    questions = session.play_on(session.kept_connection, session.new_seat(rules), measured)
    return f"{questions}, lines of up to {longest} bytes"


def longest_line(session: Session) -> str:
    """Send a question with as many bytes as a line may have."""
    connection, seat = session.kept_connection, session.new_seat(short("draw"))
    session.ask(connection, seat, mutations.at_full_length)
    session.play_on(connection, seat)
    return f"{MAX_LINE} bytes"


def other_seats(session: Session) -> str:
    """Play the next game with other rules, at another table, in another seat."""
    connection = session.kept_connection
    larger = derive(short("draw"), "draw", {"highest_pip": 9})
    games = (
        (short("draw"), 2, 1),
        (short("partnership"), 4, 3),
        (larger, 6, 5),
        (short("double-draw"), 3, 2),
        (larger, 8, 0),
        (short("dutch"), 2, 0),
    )
    for rules, seats, seat in games:
        session.play(connection, session.new_seat(rules, seats, seat))
    return f"{len(games)} games"


def many_rounds(session: Session) -> str:
    """Play a game of many rounds."""
    any_game(session)
    rounds = 60 if session.budget.whole else 4
    rules = derive(find_variant("draw"), "draw", {"rounds": rounds})
    return f"{rounds} rounds, {session.play_on(session.kept_connection, session.new_seat(rules))}"


STEPS = (
    CheckStep(
        "fields",
        "ignores unknown fields",
        "Versions",
        partial(changed, mutations.with_extra_fields),
    ),
    CheckStep("messages", "ignores unknown messages", "Versions", unknown_messages),
    CheckStep(
        "options",
        "chooses among options that it does not know",
        "Versions",
        partial(changed, mutations.with_extra_options),
    ),
    CheckStep(
        "events",
        "ignores unknown events",
        "Versions",
        partial(changed, mutations.with_extra_events),
    ),
    CheckStep("names", "reads any Unicode in a name", "The pipe", strange_name),
    CheckStep("large-set", "plays with the largest set", "Rules", largest_set),
    CheckStep("longest", "reads the longest line", "The pipe", longest_line),
    CheckStep("seats", "changes table, seat and rules", "Referee: game", other_seats),
    CheckStep("rounds", "plays a long game", "Referee: round", many_rounds),
)
