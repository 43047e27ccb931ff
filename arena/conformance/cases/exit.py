"""Steps about leaving: at bye, at the end of stdin, before a game, in the middle of one."""

from arena.conformance import expect
from arena.conformance.cases.games import tiny
from arena.conformance.connection import Connection
from arena.conformance.language_hints import crash
from arena.conformance.model import CheckStep
from arena.conformance.session import Session
from arena.match import referee
from arena.match.piped_process import SHUT_DOWN_S
from arena.rules.variants import find_variant


def at_bye(session: Session) -> str:
    """Say bye after games."""
    with session.restart() as connection:
        session.play(connection, session.new_seat(tiny()))
        return _leaves(connection, referee.bye())


def before_a_game(session: Session) -> str:
    """Say bye before any game, as every run does when it checks the bots' greetings."""
    with session.restart() as connection:
        return _leaves(connection, referee.bye())


def at_bye_with_why(session: Session) -> str:
    """Say bye in the middle of a game, with a reason: the bot is told that it has fouled."""
    with session.restart() as connection:
        session.ask(connection, session.new_seat(find_variant("draw")))
        return _leaves(connection, referee.bye("It closed its stdout."))


def at_the_end_of_stdin(session: Session) -> str:
    """Close stdin without a bye."""
    with session.restart() as connection:
        session.play(connection, session.new_seat(tiny()))
        return _leaves(connection)


def in_a_game(session: Session) -> str:
    """Close stdin while others are to move."""
    with session.restart() as connection:
        session.ask(connection, session.new_seat(find_variant("draw")))
        return _leaves(connection)


def _leaves(connection: Connection, *goodbye: bytes) -> str:
    """Check that the bot leaves in time and says nothing more."""
    ms = connection.exits_within(SHUT_DOWN_S, goodbye)
    said = connection.rest()
    if ms is None:
        expect.report_violation(
            connection,
            f"It was still running {SHUT_DOWN_S:.0f} s after its stdin was closed.",
            "Exit when stdin ends, and end the threads and programs that you started.",
            said.decode(errors="replace"),
            f"the process ends within {SHUT_DOWN_S:.0f} s",
        )
    if said:
        expect.report_violation(
            connection,
            "It wrote to stdout after bye or the end of stdin.",
            "Exit without writing anything.",
            said.decode(errors="replace"),
            "nothing",
        )
    named_crash = crash(connection.stderr_text)
    last = f", with {named_crash!r} on stderr" if named_crash else ""
    return f"{ms:.0f} ms, {connection.exit_reason}{last}"


STEPS = (
    CheckStep("bye", "exits at bye", "Leaving", at_bye),
    CheckStep("no-game", "exits at bye before any game", "Leaving", before_a_game),
    CheckStep("void", "exits at bye in the middle of a game", "Leaving", at_bye_with_why),
    CheckStep("stdin", "exits when stdin ends", "Leaving", at_the_end_of_stdin),
    CheckStep("stdin-in-game", "exits when stdin ends in a game", "Leaving", in_a_game),
)
