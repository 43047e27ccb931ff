"""Steps about games: every kind of option, then every named game at every table."""

from collections.abc import Iterable
from functools import partial
from itertools import product

from msgspec.structs import replace

from arena.conformance.model import OutOfTimeError, SkippedError
from arena.conformance.scripted_game import ScriptedSeat
from arena.conformance.session import CheckStep, Session
from arena.match.game_setup import OpenQuestion
from arena.rules.english import join_words
from arena.rules.variants import VARIANTS, find_variant
from protocol.messages import Bid, Call, Clock, Draw, Guess, Keep, Option, Pass, Play, PlayTwo
from protocol.ruleset import Ruleset, derive, playable_seat_counts

GAMES = 2
"""Whole games at each table: one with the usual questions, one with a question at every turn."""


def asking(session: Session) -> Clock:
    """Return a clock with which every turn is a question."""
    return replace(session.clock, forced="ask")


def short(name: str, **differs: object) -> Ruleset:
    """Return a named game that is over after a round, with some settings changed."""
    return derive(limit_to_one_round(find_variant(name)), name, differs)


def limit_to_one_round(rules: Ruleset) -> Ruleset:
    """Return these rules, but a game is over after a round."""
    return derive(rules, rules.name, {"rounds": 1} if rules.game.rounds else {"max_rounds": 1})


def tiny() -> Ruleset:
    """Return rules for a round of three tiles each and no drawing: a game that ends soon."""
    return short("block", hand=3)


def any_game(session: Session) -> None:
    """Skip a step that plays other games if an event plays only its own. Raises SkippedError."""
    if session.game:
        raise SkippedError("This event plays no such game.")


# --- kinds of options ---


async def _meets(kind: type[Option], rules: Ruleset, seats: int, session: Session) -> str:
    """Ask the bot where this kind of option is offered, and play the round to its end."""

    def wanted(question: OpenQuestion) -> bool:
        return len(question.options) > 1 and any(
            isinstance(option, kind) for option in question.options
        )

    seat = session.new_seat(rules, seats, wanted=wanted)
    assert seat.question
    many = len(seat.question.options)
    answer = await session.ask(seat)
    await session.play_on(seat)
    return f"option {answer.choice} of {many}"


KINDS: dict[str, tuple[str, type[Option], Ruleset, int]] = {
    "play": ("plays a tile", Play, short("draw"), 2),
    "draw": ("plays or draws", Draw, short("draw"), 2),
    "play_two": ("plays two tiles at once", PlayTwo, short("double-draw"), 2),
    "pass": ("draws or passes", Pass, short("pot-draw"), 2),
    "keep": ("keeps or refuses a deal", Keep, short("draw", refuse_doubles=2), 2),
    "guess": ("calls odd or even", Guess, short("draw", first="odd_even"), 2),
    "bid": ("bids in an auction", Bid, short("auction-draw", hand=8), 3),
    "call": ("calls a blocked round, or goes on", Call, short("double-draw", hand=5), 2),
}
"""Option → the bot's action, a game in which it occurs, and the seats of that game."""


# --- named games ---


async def _plays(name: str, session: Session) -> str:
    """Play games of this name at every table, in every seat in turn, without a foul."""
    any_game(session)
    rules = find_variant(name) if session.budget.whole else short(name)
    clocks = session.clock, asking(session)
    return await _play_all(
        session,
        (
            session.new_seat(rules, seats, (game + seats) % seats, game + 1, clock=clocks[game])
            for seats, game in product(playable_seat_counts(rules), range(GAMES))
        ),
    )


async def _plays_event(session: Session) -> str:
    if session.game is None:
        raise SkippedError("Only an event file names one game.")
    rules, seats = session.game
    turns = product(range(GAMES), range(seats))
    return await _play_all(
        session, (session.new_seat(rules, seats, seat, game + 1) for game, seat in turns)
    )


async def _play_all(session: Session, games: Iterable[ScriptedSeat]) -> str:
    """Play whole games as far as the step's time goes; return a note of how far."""
    played = questions = 0
    hurry = ""
    try:
        for seat in games:
            questions += await session.play(seat)
            played += 1
    except OutOfTimeError as cut_short:
        questions += cut_short.questions
        hurry = ", then the step's time was up"
    return f"{played} games, {questions} questions{hurry}"


def _tables(name: str) -> str:
    return join_words(map(str, playable_seat_counts(find_variant(name))))


STEPS_OF_NAMED_GAMES = tuple(
    CheckStep(f"game-{name}", f"plays {name} at {_tables(name)}", "Rules", partial(_plays, name))
    for name in VARIANTS
)
STEPS = (
    *(
        CheckStep(name.replace("_", "-"), about, "Options", partial(_meets, kind, rules, seats))
        for name, (about, kind, rules, seats) in KINDS.items()
    ),
    *STEPS_OF_NAMED_GAMES,
)

EVENT = CheckStep("event", "plays the event's game in every seat", "Rules", _plays_event)
