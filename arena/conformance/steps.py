"""The steps of a check: what each promise of the protocol asks of a bot."""

import json
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from itertools import islice, product
from typing import Any

from msgspec.structs import replace

from arena.conformance.connection import (
    Connection,
    OutOfTimeError,
    ScriptedSeat,
    SkippedError,
    UndecidedError,
    ViolationError,
)
from arena.conformance.diagnose import Diagnosis, diagnose_exit, diagnose_line, diagnose_silence
from arena.conformance.session import (
    AcceptedAnswer,
    Change,
    CheckStep,
    Pause,
    Session,
    await_answer,
    check_stderr,
    due_of,
    expect_hello,
    expect_silence,
    violation,
)
from arena.logs.gamelog import crash_line
from arena.match import referee
from arena.match.bot_process import SHUT_DOWN_S, CannotStartError, read_first
from arena.match.clock import LagError
from arena.match.referee import QUESTIONS_A_GAME, OpenQuestion
from arena.rules.english import join_words
from arena.rules.variants import VARIANTS, derive, find_variant
from arena.sandbox.command import MIB
from protocol.codec import decode_line, printable
from protocol.messages import (
    MAX_LINE,
    Bid,
    Call,
    Choose,
    Clock,
    Draw,
    Guess,
    Keep,
    Option,
    Pass,
    Play,
    PlayTwo,
)
from protocol.ruleset import Ruleset, playable_seat_counts

# Steps about games: every kind of option, then every named game at every table.


GAMES_A_TABLE = 2
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
    count = len(seat.question.options)
    answer = await session.ask(seat)
    await session.play_on(seat)
    return f"option {answer.choice} of {count}"


OPTION_KINDS: dict[str, tuple[str, type[Option], Ruleset, int]] = {
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
    rules = find_variant(name) if session.budget.is_full else short(name)
    clocks = session.clock, asking(session)
    return await _play_all(
        session,
        (
            session.new_seat(rules, seats, (game + seats) % seats, game + 1, clock=clocks[game])
            for seats, game in product(playable_seat_counts(rules), range(GAMES_A_TABLE))
        ),
    )


async def _plays_event(session: Session) -> str:
    if session.game is None:
        raise SkippedError("Only an event file names one game.")
    rules, seats = session.game
    turns = product(range(GAMES_A_TABLE), range(seats))
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
GAME_STEPS = (
    *(
        CheckStep(name.replace("_", "-"), title, "Options", partial(_meets, kind, rules, seats))
        for name, (title, kind, rules, seats) in OPTION_KINDS.items()
    ),
    *STEPS_OF_NAMED_GAMES,
)

EVENT_STEP = CheckStep("event", "plays the event's game in every seat", "Rules", _plays_event)


# Steps about a process: its first lines, its starts, and how it leaves.


ANSWERS_BEFORE_END = 3
"""Answers after each of which the check listens for more, if a game has so many questions."""
TIMED_STARTS = 3
NEWER_HELLO = b'{"type":"hello","protocol":1,"referee":"boneyard 9.9.1","minor":7,"wants":["x"]}\n'


# --- the first lines ---


async def _hello(session: Session) -> str:
    connection = await session.keep_connection()
    session.start_ms = _start_ms(connection)
    return f"after {session.start_ms:.0f} ms"


async def _only_hello(session: Session) -> str:
    await session.expect_silence("after its hello")
    assert session.hello
    return printable(f"{session.hello.name} {session.hello.version}".strip())


async def _silent_at_game(session: Session) -> str:
    game, *_ = session.new_seat(find_variant("draw")).take_lines()
    (await session.keep_connection()).send(game)
    await session.expect_silence("when a game began")
    # A game that has begun must be played to its end.
    await session.drop()
    return ""


async def _answers_once(session: Session) -> str:
    seat = session.new_seat(find_variant("draw"))
    for _ in range(ANSWERS_BEFORE_END):
        if seat.question is None:
            break
        await session.ask(seat)
        await session.expect_silence("after its answer", 1 / 3)
    # Another step plays it to its end.
    await session.drop()
    return ""


async def _silent_at_end(session: Session) -> str:
    await session.play(session.new_seat(tiny()))
    await session.expect_silence("at the end of a game")
    return ""


async def _first_answer(session: Session) -> str:
    answer = await session.ask(session.new_seat(find_variant("draw")))
    await session.drop()
    return f"option {answer.choice} after {answer.ms:.1f} ms"


# --- starts ---


async def _start_times(session: Session) -> str:
    await session.drop()
    times, command, sandbox = list[float](), session.command, session.sandbox
    code = await read_first(command, sandbox)
    for _ in range(TIMED_STARTS if session.budget.is_full else 1):
        async with Connection(session.poller, command, sandbox, code=code) as connection:
            await expect_hello(connection, session.clock.start_ms)
            times.append(_start_ms(connection))
    session.start_ms = min(times)
    return f"{session.start_ms:.0f} ms with the sandbox {session.sandbox.state}"


def _start_ms(connection: Connection) -> float:
    return (connection.read_at - connection.began) * 1000


async def _two_at_once(session: Session) -> str:
    """Start two processes: sittings run side by side, so a bot may lock no file, take no port."""
    async with await session.restart() as first, await session.start_another() as second:
        for connection in (first, second):
            await session.ask(session.new_seat(find_variant("draw")), None, connection)
    session.runs_twice = True
    # A pause that fails now begins anew at its turn.
    with suppress(SkippedError, ViolationError, CannotStartError, LagError):
        await _begin_pause(session)
    return ""


async def _newer_hello(session: Session) -> str:
    async with await session.restart(NEWER_HELLO) as connection:
        await session.ask(session.new_seat(find_variant("draw")), None, connection)
    return ""


PROCESS_STEPS = (
    CheckStep("hello", "sends hello in time", "Bot: hello", _hello, gate=True),
    CheckStep("only-hello", "writes nothing else until it is asked", "The pipe", _only_hello),
    CheckStep("game", "writes nothing when a game begins", "Who speaks when", _silent_at_game),
    CheckStep("first", "answers the first question", "Bot: choose", _first_answer, gate=True),
    CheckStep("starts", "starts quickly", "Time", _start_times),
    # From here on waits begin early; nothing may start beside the starts that are timed.
    CheckStep("two", "runs twice at the same time", "Who speaks when", _two_at_once),
    CheckStep("once", "answers each question once", "Question ids", _answers_once),
    CheckStep("end", "writes nothing when a game ends", "Who speaks when", _silent_at_end),
    CheckStep("newer", "understands the hello of a newer referee", "Versions", _newer_hello),
)

# --- leaving ---

LATEST_EXIT_S = 5.0
"""Seconds to wait for a bot that leaves too late, which may be the fault of a busy machine."""
STAYS = Diagnosis(
    f"It was still running {LATEST_EXIT_S:.0f} s after its stdin was closed.",
    "Exit when stdin ends, and end the threads and programs that you started.",
)
SPEAKS = Diagnosis(
    "It wrote to stdout after bye or the end of stdin.", "Exit without writing anything."
)


async def _leaves(before: str, goodbye: bytes, session: Session) -> str:
    """Check that the bot leaves in time and says nothing more; without a goodbye stdin ends.

    `before`: "game", after a game; "question", in the middle of one, when others are to move;
    empty: before any, as every run does when it checks the bots' greetings.
    """
    async with await session.restart() as connection:
        if before == "game":
            await session.play(session.new_seat(tiny()), None, connection)
        elif before == "question":
            await session.ask(session.new_seat(find_variant("draw")), None, connection)
        ms = await connection.exits_within(LATEST_EXIT_S, goodbye)
        output = connection.rest()
        if ms is None or output:
            expected = f"the process ends within {SHUT_DOWN_S:.0f} s, and writes nothing"
            raise violation(connection, SPEAKS if ms else STAYS, output, expected)
        if ms > 1000 * SHUT_DOWN_S:
            late = f"It left after {ms:.0f} ms and has {SHUT_DOWN_S:.0f} s"
            raise UndecidedError(f"{late}: if this machine was busy, try again.")
        named_crash = crash_line(connection.stderr_text)
        last = f", with {named_crash!r} on stderr" if named_crash else ""
        return f"{ms:.0f} ms, {connection.exit_reason}{last}"


# A bye with a reason tells the bot that it has fouled.
FOULED = referee.bye("It closed its stdout.")
LEAVING_STEPS = tuple(
    CheckStep(name, f"exits {occasion}", "Leaving", partial(_leaves, before, goodbye))
    for name, occasion, before, goodbye in (
        ("bye", "at bye", "game", referee.bye()),
        ("no-game", "at bye before any game", "", referee.bye()),
        ("void", "at bye in the middle of a game", "question", FOULED),
        ("stdin", "when stdin ends", "game", b""),
        ("stdin-in-game", "when stdin ends in a game", "question", b""),
    )
)


# Steps about lines: numbers and indices, pieces, later versions, strange names, other seats.


MAX_GAME_NUMBER = 2**53 // QUESTIONS_A_GAME - 1
"""The largest number of a game: its questions' numbers are still exact in a double."""
LARGEST_SET_PIPS = 18
"""The highest number of pips of the largest set."""
LARGE_HAND = 64
"""The most tiles that rules can deal to a seat."""
STRANGE = 'Łódź 🁣 "дом\u00edno" \\ \u202eeman\u2066 \u2028'
"""An unusual name that a ruleset may have."""
WEATHER = b'{"type":"weather","id":5,"game":1,"sky":["rain",{"do":"rain"}],"choice":0}\n'
"""A message of a type that does not exist."""
NEWER = 7
"""A value that the steps put into fields that the protocol does not have."""


# --- answers ---


async def _second_answer(session: Session) -> str:
    return await session.play_on(session.new_seat(find_variant("draw")))


async def _only_option(session: Session) -> str:
    """Check a list of one option, which exposes a bot that counts from 1."""
    if session.game and session.clock.forced == "skip":
        raise SkippedError("This event asks nothing when there is one option (clock.forced).")
    seat = session.new_seat(
        find_variant("block"),
        wanted=lambda question: len(question.options) == 1,
        clock=asking(session),
    )
    answer = await session.ask(seat)
    await session.play_on(seat)
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
        seat = session.new_seat(find_variant("draw"), number=MAX_GAME_NUMBER)
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
    is_same = len(set(choices)) == 1
    return "the same answer each time" if is_same else f"answers differ: {choices}"


async def _in_pieces(session: Session) -> str:
    """Send a question in three pieces: a read may end anywhere."""
    connection, seat = await session.keep_connection(), session.new_seat(short("draw"))
    *before, question = seat.take_lines()
    third = len(question) // 3
    for piece in (b"".join(before) + question[:third], question[third : 2 * third]):
        connection.send(piece)
        await session.expect_silence("before the question was whole", 1 / 3)
    connection.send(question[2 * third :])
    await await_answer(connection, seat)
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
    connection.send(*first.take_lines(), WEATHER, *second.take_lines())
    await await_answer(connection, second)
    await session.play_on(second)
    return ""


ANSWER_STEPS = (
    CheckStep("questions", "answers question after question", "Question ids", _second_answer),
    CheckStep("one-option", "takes the only option of a list", "Options", _only_option),
    CheckStep("indices", "chooses within lists of any length", "Bot: choose", _every_index),
    CheckStep("numbers", "repeats very large numbers", "Question ids", _large_numbers),
    CheckStep("again", "answers the same position again", "Bot: choose", _same_again),
    CheckStep("pieces", "reads a question that comes in pieces", "The pipe", _in_pieces),
    CheckStep("one-go", "reads several lines that come at once", "The pipe", _in_one_go),
)

# --- the referee's messages, perhaps changed ---


def mutate(part: str, line: bytes) -> bytes:
    """Return a line as of a later version: with more fields, other options, another event or name.

    An unknown field is in every object, none before `id` or after `options`.
    """
    value = json.loads(line)
    if part == "fields":
        value = _widen(value)
    elif part == "options" and value["type"] == "ask":
        value["options"] = [{"do": "swap", "with": n} for n, _ in enumerate(value["options"])]
    elif part == "events" and "events" in value:
        value["events"].insert(0, {"do": "swap", "seat": 0, "with": 1})
    elif part == "name" and value["type"] == "game":
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
        return [_widen(item) for item in value]
    if not isinstance(value, dict):
        return value
    wide = {name: _widen(item) for name, item in value.items()}
    options = {"options": wide.pop("options")} if "options" in wide else {}
    return {**wide, "newer": NEWER, "newest": {"x": [NEWER, None, True]}, **options}


async def _changed(change: Change, session: Session) -> str:
    return await session.play_on(session.new_seat(short("draw")), change)


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
    rules = derive(
        short("draw"), "draw", {"highest_pip": LARGEST_SET_PIPS, "hand": LARGE_HAND, "reserve": 0}
    )
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
    rounds = 60 if session.budget.is_full else 4
    rules = derive(find_variant("draw"), "draw", {"rounds": rounds})
    return f"{rounds} rounds, {await session.play_on(session.new_seat(rules))}"


UNKNOWN_FIELDS, UNKNOWN_OPTIONS, UNKNOWN_EVENTS = (
    partial(_changed, partial(mutate, part)) for part in ("fields", "options", "events")
)
MESSAGE_STEPS = (
    CheckStep("fields", "ignores unknown fields", "Versions", UNKNOWN_FIELDS),
    CheckStep("messages", "ignores unknown messages", "Versions", _unknown_messages),
    CheckStep(
        "options", "chooses among options that it does not know", "Versions", UNKNOWN_OPTIONS
    ),
    CheckStep("events", "ignores unknown events", "Versions", UNKNOWN_EVENTS),
    CheckStep("names", "reads any Unicode in a name", "The pipe", _strange_name),
    CheckStep("large-set", "plays with the largest set", "Rules", _largest_set),
    CheckStep("longest", "reads the longest line", "The pipe", _longest_line),
    CheckStep("seats", "changes table, seat and rules", "Referee: game", _other_seats),
    CheckStep("rounds", "plays a long game", "Referee: round", _many_rounds),
)


# The step about several games at once: they begin and end one by one, as in a sitting.


MOST_TABLES, FEW_TABLES = 64, 8
"""Most games at once in a full check, and in a short one."""
IN_TURN = 2
"""Games in a row at each table."""

Waiting = dict[int, ScriptedSeat]
"""The seats whose questions wait, by the numbers of these, in the order of sending."""


async def _several_games(session: Session) -> str:
    """Play as many games at once as the bot allows; when one ends, begin the next."""
    connection = await session.keep_connection()
    if connection.tables == 1:
        raise SkippedError("It plays one game at a time (`tables` in its hello).")
    places = min(connection.tables, MOST_TABLES if session.budget.is_full else FEW_TABLES)
    seats = (
        session.new_seat(short("draw"), board=board) for board in range(1, IN_TURN * places + 1)
    )
    waiting, before = _ask(connection, islice(seats, places)), len(session.answers)
    while waiting and not session.is_out_of_time:
        first = next(iter(waiting.values()))
        assert first.question
        line = await connection.read_line(first.question.time_ms, first.asked_at)
        if line is None:
            has_answered = len(session.answers) > before
            raise await _silence(connection, waiting, first.question, has_answered)
        answered = []
        while line is not None:
            answered.append(_take(session, connection, waiting, line))
            line = connection.next_line() if waiting else None
        over = sum(seat.question is None for seat in answered)
        waiting |= _ask(connection, [*answered, *islice(seats, over)])
    await session.drop()
    return f"{places} at once" + (f" of {connection.tables}" if places < connection.tables else "")


def _ask(connection: Connection, seats: Iterable[ScriptedSeat]) -> Waiting:
    seats = list(seats)
    connection.send(*(line for seat in seats for line in seat.take_lines()))
    for seat in seats:
        seat.asked_at = connection.sent_at
    return {seat.question.id: seat for seat in seats if seat.question}


async def _silence(
    connection: Connection, waiting: Waiting, question: OpenQuestion, has_answered: bool
) -> ViolationError:
    """Return the error for the first question without an answer, though perhaps others have one."""
    if connection.exit_reason:
        diagnosis = diagnose_exit(connection)
    elif has_answered:
        diagnosis = Diagnosis(
            f"With several games at once it left a question unanswered for {question.time_ms} ms.",
            "Answer the questions of all games: each `game` may have one open.",
        )
    else:
        diagnosis = await diagnose_silence(connection, due_of(question), question.time_ms)
    return violation(connection, diagnosis, b"", f"answers to {_numbers(waiting)}")


def _take(session: Session, connection: Connection, waiting: Waiting, line: bytes) -> ScriptedSeat:
    """Give a line to the seat whose question it answers, and return the seat."""
    answer, expected = decode_line(line), f"an answer to {_numbers(waiting)}"
    if isinstance(answer, Choose) and answer.id not in waiting:
        diagnosis = Diagnosis(
            "With several games at once its answers have numbers that are not open.",
            "Each answer repeats the `id` of its own question; or leave `tables` out.",
        )
        raise violation(connection, diagnosis, line, expected)
    number = answer.id if isinstance(answer, Choose) else next(iter(waiting))
    seat = waiting.pop(number)
    question, ms = seat.question, max(0.0, (connection.read_at - seat.asked_at) * 1000)
    assert question
    if fault := seat.receive(line, ms):
        diagnosis = diagnose_line(line, b"", fault, due_of(question))
        raise violation(connection, diagnosis, line, expected)
    assert isinstance(answer, Choose)
    session.answers.append(AcceptedAnswer(answer.choice, ms, len(question.options)))
    return seat


def _numbers(waiting: Waiting) -> str:
    numbers = sorted(waiting)[:4]
    return f"{', '.join(map(str, numbers))}{' …' if len(waiting) > len(numbers) else ''}"


CONCURRENT_STEPS = (
    CheckStep("tables", "plays several games at once", "Several games at once", _several_games),
)


# Steps about time and resources: slow positions, pauses, memory, stderr.


STRETCH = 400
"""Questions between two measurements of memory."""
LONG_SITTING_QUESTIONS = 20_000
"""Questions that a bot must survive: a very long sitting."""
LARGE: tuple[tuple[str, int, dict[str, int]], ...] = (
    ("draw", 2, {"highest_pip": 18, "hand": 64, "reserve": 0}),
    ("double-draw", 2, {"highest_pip": 18, "hand": 40}),
    ("draw", 4, {"highest_pip": 18, "hand": 40}),
    ("double-draw", 4, {}),
    ("draw", 8, {"highest_pip": 18, "hand": 20}),
)


async def _slow_positions(session: Session) -> str:
    worst = 0.0
    for name, seats, differs in LARGE:
        seat = session.new_seat(derive(short(name), name, differs), seats)
        for _ in range(12):
            if not seat.question or session.is_out_of_time:
                break
            worst = max(worst, (await session.ask(seat)).ms)
        await session.drop()
    care = "; this is near the limit" if worst > session.clock.move_ms / 2 else ""
    return f"{worst:.1f} ms maximum{care}"


async def _begin_pause(session: Session) -> None:
    """Begin a game with a process of its own, which then waits as if others thought for long."""
    connection = await session.start_another()
    try:
        seat = session.new_seat(short("draw"))
        await session.ask(seat, None, connection)
    except BaseException:
        await connection.close()
        raise
    session.pause = Pause(connection, seat, connection.usage().cpu_ms)


async def _after_a_pause(session: Session) -> str:
    """End the pause: the bot must have waited in silence, and answer now."""
    if session.pause is None:
        await session.drop()
        await _begin_pause(session)
    assert session.pause
    (connection, seat, before), session.pause = session.pause, None
    async with connection:
        left = connection.read_at + session.budget.pause_ms / 1000 - connection.now()
        await expect_silence(connection, max(0.0, left), "while others were thinking")
        busy = connection.usage().cpu_ms - before
        await session.play_on(seat, None, connection)
    care = f"; it computes meanwhile ({busy:.0f} ms of CPU)" if busy > 100 else ""
    return f"{session.budget.pause_ms} ms{care}"


async def _bounded_memory(session: Session) -> str:
    """Ask question after question: memory that grows with them would end a long sitting."""
    limit, count = session.sandbox.limits.memory, 0
    await session.play(session.new_seat(short("draw")))
    size = (await session.keep_connection()).usage().memory
    while True:
        before = size
        number, size = await _stretch(session, STRETCH if session.budget.is_full else STRETCH // 4)
        count += number
        if size > limit:
            diagnosis = Diagnosis(
                f"After {count} questions it keeps {size // MIB} MiB of memory.",
                f"Bound your tables: {limit // MIB} MiB are allowed.",
            )
            expected = f"at most {limit // MIB} MiB, resident"
            raise violation(await session.keep_connection(), diagnosis, b"", expected)
        if not number:
            raise OutOfTimeError(count)
        grown = size - before
        if size + grown * LONG_SITTING_QUESTIONS // number < limit:
            return f"{size // MIB} MiB after {count} questions"
        if session.is_out_of_time:
            return f"take care: {grown // number} bytes more with each question"


async def _stretch(session: Session, most: int) -> tuple[int, int]:
    """Ask up to `most` questions; return their number and the memory then in use, in bytes."""
    connection, count, board, memory = await session.keep_connection(), 0, 0, 0
    while count < most and not session.is_out_of_time and memory <= session.sandbox.limits.memory:
        board += 1
        seat = session.new_seat(short("draw"), board=board)
        while seat.question and not session.is_out_of_time:
            await session.ask(seat)
            count += 1
        memory = connection.usage().memory
        await session.play_on(seat)
    return count, memory


async def _little_stderr(session: Session) -> str:
    rules = find_variant("draw") if session.budget.is_full else short("draw")
    await session.play(session.new_seat(rules))
    connection = await session.keep_connection()
    check_stderr(connection)
    wrote = connection.stderr_bytes
    return f"{wrote} bytes in a game" if wrote else "nothing written"


PAUSE_STEP = CheckStep("pause", "answers after a pause", "Who speaks when", _after_a_pause)
RESOURCE_STEPS = (
    CheckStep("positions", "answers the largest positions in time", "Time", _slow_positions),
    CheckStep("memory", "keeps its memory bounded", "Fouls", _bounded_memory),
    CheckStep("stderr", "keeps within its stderr limit", "The pipe", _little_stderr),
)
