"""Steps about lines: numbers and indices, pieces, later versions, strange names, other seats."""

import json
from functools import partial
from typing import Any

from arena.conformance import expect
from arena.conformance.cases.games import any_game, asking, short, tiny
from arena.conformance.model import OutOfTimeError, SkippedError
from arena.conformance.session import CheckStep, Sent, Session
from arena.match.referee import QUESTIONS_A_GAME
from arena.rules.variants import find_variant
from protocol.messages import MAX_LINE
from protocol.ruleset import derive

LARGEST = 2**53 // QUESTIONS_A_GAME - 1
"""The largest number of a game: its questions' numbers are still exact in a double."""
SETS = 18
"""The highest number of pips of the largest set."""
LARGE_HAND = 64
"""The most tiles that rules can deal to a seat."""
STRANGE = 'Łódź 🁣 "дом\u00edno" \\ \u202eeman\u2066 \u2028'
"""An unusual name that a ruleset may have."""
WEATHER = b'{"type":"weather","id":5,"game":1,"sky":["rain",{"do":"rain"}],"choice":0}\n'
"""A message of a type that does not exist."""
NEWER = 7
"""The value of fields that do not exist."""


# --- answers ---


async def _second_answer(session: Session) -> str:
    return await session.play_on(session.new_seat(find_variant("draw")))


async def _only_option(session: Session) -> str:
    """Check a list of one option, which exposes a bot that counts from 1."""
    if session.game and session.clock.forced == "skip":
        raise SkippedError("This event asks nothing when there is one option (clock.forced).")
    one = session.new_seat(
        find_variant("block"),
        wanted=lambda question: len(question.options) == 1,
        clock=asking(session),
    )
    answer = await session.ask(one)
    await session.play_on(one)
    return f"option {answer.choice} of 1"


async def _every_index(session: Session) -> str:
    met: set[int] = set()
    seat = session.new_seat(find_variant("old-draw"))
    while seat.question and not session.is_out_of_time:
        met.add(len(seat.question.options))
        await session.ask(seat)
    await session.play_on(seat)
    return f"lists of {min(met, default=0)} to {max(met, default=0)} options"


async def _large_numbers(session: Session) -> str:
    """Check numbers of questions near 2^53."""
    async with await session.restart() as connection:
        seat = session.new_seat(find_variant("draw"), number=LARGEST)
        await session.ask(seat, None, connection)
        assert seat.question
        return f"up to {seat.question.id}"


async def _same_again(session: Session) -> str:
    """Ask about the same position again, under another number, in another game and process."""
    first, *more = (session.new_seat(find_variant("draw"), board=7) for _ in range(3))
    choices = [(await session.ask(first)).choice]
    await session.drop()
    choices += [(await session.ask(seat)).choice for seat in more]
    await session.drop()
    same = len(set(choices)) == 1
    return "the same answer each time" if same else f"answers differ: {choices}"


async def _in_pieces(session: Session) -> str:
    """Send a question in three pieces: a read may end anywhere."""
    connection, seat = await session.keep_connection(), session.new_seat(short("draw"))
    *before, question = seat.lines()
    third = len(question) // 3
    for piece in (b"".join(before) + question[:third], question[third : 2 * third]):
        connection.send(piece)
        await session.expect_silence("before the question was whole", 1 / 3)
    connection.send(question[2 * third :])
    await expect.await_answer(connection, seat)
    await session.play_on(seat)
    return ""


async def _in_one_go(session: Session) -> str:
    """Send the end of a game, the next game and its first question in one write."""
    connection = await session.keep_connection()
    first, second = session.new_seat(tiny()), session.new_seat(short("draw"), board=2)
    # All but the end, which follows with the next game.
    while first.question:
        if session.is_out_of_time:
            await session.drop()
            raise OutOfTimeError(len(session.answers))
        await session.ask(first)
    connection.send(*first.lines(), WEATHER, *second.lines())
    await expect.await_answer(connection, second)
    await session.play_on(second)
    return ""


ANSWERS = (
    CheckStep("questions", "answers question after question", "Question ids", _second_answer),
    CheckStep("one-option", "takes the only option of a list", "Options", _only_option),
    CheckStep("indices", "chooses within lists of any length", "Bot: choose", _every_index),
    CheckStep("numbers", "repeats very large numbers", "Question ids", _large_numbers),
    CheckStep("again", "answers the same position again", "Bot: choose", _same_again),
    CheckStep("pieces", "reads a question that comes in pieces", "The pipe", _in_pieces),
    CheckStep("one-go", "reads several lines that come at once", "The pipe", _in_one_go),
)

# --- the referee's messages, perhaps changed ---


def mutate(how: str, line: bytes) -> bytes:
    """Return a line as of a later version: with more fields, other options, another event or name.

    An unknown field is in every object, none before `id` or after `options`.
    """
    value = json.loads(line)
    if how == "fields":
        value = _widen(value)
    elif how == "options" and value["type"] == "ask":
        value["options"] = [{"do": "swap", "with": n} for n, _ in enumerate(value["options"])]
    elif how == "events" and "events" in value:
        value["events"].insert(0, {"do": "swap", "seat": 0, "with": 1})
    elif how == "name" and value["type"] == "game":
        value["rules"]["name"] = STRANGE
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def at_full_length(line: bytes) -> bytes:
    """Return the question with an unknown field, as long as a line may be."""
    head, options, tail = line.rpartition(b',"options":')
    if not line.startswith(b'{"type":"ask"'):
        return line
    frame = b',"remarks":""'
    filling = b"x" * (MAX_LINE - len(line) - len(frame))
    return b"".join((head, frame[:-1], filling, b'"', options, tail))


def _widen(value: Any) -> Any:
    """Return the value with one more field in each object."""
    if isinstance(value, list):
        return [_widen(one) for one in value]
    if not isinstance(value, dict):
        return value
    wide = {name: _widen(one) for name, one in value.items()}
    options = {"options": wide.pop("options")} if "options" in wide else {}
    return {**wide, "newer": NEWER, "newest": {"x": [NEWER, None, True]}, **options}


async def _changed(said: Sent, session: Session) -> str:
    return await session.play_on(session.new_seat(short("draw")), said)


async def _strange_name(session: Session) -> str:
    any_game(session)
    return await _changed(partial(mutate, "name"), session)


async def _unknown_messages(session: Session) -> str:
    """Send messages of an unknown type between all others; they need no answer."""
    (await session.keep_connection()).send(WEATHER)
    await session.expect_silence("at a message of an unknown type")
    return await _changed(lambda line: WEATHER + line, session)


async def _largest_set(session: Session) -> str:
    """Play with the largest set: the longest lists and lines that the engine makes."""
    any_game(session)
    rules = derive(short("draw"), "draw", {"highest_pip": SETS, "hand": LARGE_HAND, "reserve": 0})
    lengths = []

    def measured(line: bytes) -> bytes:
        lengths.append(len(line))
        return line

    questions = await session.play_on(session.new_seat(rules), measured)
    return f"{questions}, lines of up to {max(lengths, default=0)} bytes"


async def _longest_line(session: Session) -> str:
    seat = session.new_seat(short("draw"))
    await session.ask(seat, at_full_length)
    await session.play_on(seat)
    return f"{MAX_LINE} bytes"


async def _other_seats(session: Session) -> str:
    """Play the next game with other rules, at another table, in another seat."""
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
        await session.play(session.new_seat(rules, seats, seat))
    return f"{len(games)} games"


async def _many_rounds(session: Session) -> str:
    any_game(session)
    rounds = 60 if session.budget.whole else 4
    rules = derive(find_variant("draw"), "draw", {"rounds": rounds})
    return f"{rounds} rounds, {await session.play_on(session.new_seat(rules))}"


FIELDS, OPTIONS, EVENTS = (
    partial(_changed, partial(mutate, how)) for how in ("fields", "options", "events")
)
STEPS = (
    CheckStep("fields", "ignores unknown fields", "Versions", FIELDS),
    CheckStep("messages", "ignores unknown messages", "Versions", _unknown_messages),
    CheckStep("options", "chooses among options that it does not know", "Versions", OPTIONS),
    CheckStep("events", "ignores unknown events", "Versions", EVENTS),
    CheckStep("names", "reads any Unicode in a name", "The pipe", _strange_name),
    CheckStep("large-set", "plays with the largest set", "Rules", _largest_set),
    CheckStep("longest", "reads the longest line", "The pipe", _longest_line),
    CheckStep("seats", "changes table, seat and rules", "Referee: game", _other_seats),
    CheckStep("rounds", "plays a long game", "Referee: round", _many_rounds),
)
