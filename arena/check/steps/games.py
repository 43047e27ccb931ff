"""Steps about games: every kind of option, then every named game at every table."""

from functools import partial
from itertools import product

from msgspec.structs import replace

from arena.check.desk import Desk
from arena.check.step import HurriedError, Step
from arena.referee import Question
from arena.variants import VARIANTS, named
from protocol.messages import (
    Bid,
    Call,
    Clock,
    Draw,
    Guess,
    Keep,
    Option,
    Pass,
    Play,
    PlayTwo,
)
from protocol.rules import Ruleset, tables, varied

GAMES = 2
"""Whole games at each table: one asked as usual, one asked at every turn."""


def asking(desk: Desk) -> Clock:
    """The clock with which every turn is a question."""
    return replace(desk.clock, forced="ask")


def short(name: str, **differs: object) -> Ruleset:
    """A named game that is over after a round."""
    cut = {"rounds": 1} if named(name).game.rounds else {"max_rounds": 1}
    return varied(named(name), name, {**cut, **differs})


def tiny() -> Ruleset:
    """A round of three tiles each and no drawing, for what needs a game's end and no game."""
    return short("block", hand=3)


# --- kinds of options ---


def meets(kind: type[Option], rules: Ruleset, seats: int, desk: Desk) -> str:
    """The bot is asked where this kind is offered, and plays on to the end of the round."""

    def wanted(question: Question) -> bool:
        return len(question.options) > 1 and any(
            isinstance(option, kind) for option in question.options
        )

    seat = desk.found(rules, seats, wanted)
    assert seat.question
    many = len(seat.question.options)
    answer = desk.ask(desk.kept, seat)
    desk.play_on(desk.kept, seat)
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
"""Option → what the bot does, and a game in which it comes to that, with its seats."""


# --- named games ---


def plays(name: str, desk: Desk) -> str:
    """Games of this name at every table, in every seat in turn, without a foul."""
    rules = named(name) if desk.pace.whole else short(name)
    games = questions = 0
    try:
        for seats, game in product(tables(rules), range(GAMES)):
            clock = asking(desk) if game % 2 else desk.clock
            seat = desk.seat(rules, seats, (game + seats) % seats, game + 1, clock=clock)
            questions += desk.play(desk.kept, seat)
            games += 1
    except HurriedError as hurry:
        questions += hurry.questions
        return f"{games} games, {questions} questions, then the step's time was up"
    return f"{games} games, {questions} questions"


def _tables(name: str) -> str:
    """ "2, 3 and 4" """
    return " and ".join(", ".join(map(str, tables(named(name)))).rsplit(", ", 1))


STEPS = tuple(
    Step(name.replace("_", "-"), about, "Options", partial(meets, kind, rules, seats))
    for name, (about, kind, rules, seats) in KINDS.items()
) + tuple(
    Step(f"game-{name}", f"plays {name} at {_tables(name)}", "Rules", partial(plays, name))
    for name in VARIANTS
)
