"""A person at the table: what it is shown, what counts as an answer, and what it types."""

import os
from collections.abc import Callable
from io import StringIO

import pytest
import trio
from rich.console import Console
from trio.testing import MockClock

from arena.analysis.frames import LiveFrames
from arena.analysis.text import Look
from arena.engine.shuffle import board_seed
from arena.match import player as human
from arena.match.player import HumanPlayer, Player
from arena.match.referee import GameSetup, Referee
from arena.rules.variants import derive
from arena.ui.terminal_player import (
    MAX_TYPED_BYTES,
    Keys,
    TerminalPlayer,
    numbered_options,
    parse_choice,
)
from protocol.codec import Fault, decode_line, encode_line
from protocol.messages import Ask, Bid, Choose, Clock, Draw, Pass, Play
from protocol.ruleset import Ruleset
from tests.support.games import SMALL

NAMES = ("ada", "bob")
CLOCK = Clock(move_ms=60_000)
RULES = derive(SMALL, "by-lot", {"first": "random"})
SEAT = 0
"""Where the person sits, who is asked first in these deals."""


def table(rules: Ruleset = RULES) -> tuple[Referee, HumanPlayer]:
    """Return a referee, and the person whom it asks first."""
    referee = Referee(
        GameSetup("1.game", 1, 1, NAMES, rules, CLOCK), board_seed(b"person", "event", 1)
    )
    person = HumanPlayer()
    send_lines(referee, person)
    return referee, person


def send_lines(referee: Referee, person: HumanPlayer) -> None:
    for seat, line in referee.take_outgoing():
        if seat == SEAT:
            person.send(line)


def open_question(person: HumanPlayer) -> Ask:
    assert person.question
    return person.question


class Hears:
    """A stand-in for a table."""

    def __init__(self, hear: Callable[[], None]) -> None:
        self.hear = hear

    def hear_line(self, player: Player, line: bytes, _: object = None) -> None:
        raise AssertionError(f"{player} gives {line!r}, but a person's answer is fetched.")


async def test_an_answer_is_a_line_like_any_bots_and_counts_once() -> None:
    referee, person = table()
    calls = list[str]()
    person.set_listener(Hears(lambda: calls.append("now")))
    question = open_question(person)
    assert person.next_line() is None
    assert person.choose(question.id, 1)
    assert not person.choose(question.id, 0)
    assert calls == ["now"]
    line = person.next_line()
    assert line is not None
    assert decode_line(line) == Choose(id=question.id, choice=1)
    assert person.next_line() is None
    referee.receive(SEAT, line, 5.0)
    assert not referee.has_fouled(SEAT)


async def test_a_late_person_is_not_asked_again() -> None:
    _, person = table()
    id = open_question(person).id
    person.disqualify(Fault("late", "too late"))
    assert person.fault
    assert not person.choose(id, 0)
    assert person.next_line() is None


async def test_a_person_that_takes_no_message_is_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(human, "MOST_MESSAGES", 1)
    _, person = table()
    assert person.fault
    assert person.fault.foul == "late"


# --- the terminal ---


@pytest.mark.parametrize(
    ("keys", "choice"),
    [
        ("", 0),
        ("  ", 0),
        ("1", 0),
        (" 3 ", 2),
        ("4", None),
        ("0", None),
        ("-1", None),
        ("1.0", None),
        ("²", None),
        ("٣", None),
        ("x", None),
        ("1" * 5000, None),
    ],
)
def test_the_number_of_an_option_is_an_answer(keys: str, choice: int | None) -> None:
    assert parse_choice(keys, [Draw(), Pass(), Draw()]) == choice


@pytest.mark.parametrize(
    ("keys", "choice"), [("", 0), ("0", 0), ("13", 1), ("20", 8), ("100", 9), ("12", None)]
)
def test_a_bid_is_typed_in_chips(keys: str, choice: int | None) -> None:
    bids = [Bid(0), *(Bid(chips) for chips in range(13, 21)), Bid(100)]
    assert parse_choice(keys, bids) == choice
    assert numbered_options(bids).plain == "  0  check; or bid 13 to 100 chips"
    assert numbered_options([Bid(0)]).plain == "  0  check"


def test_options_are_numbered_one_a_line_or_side_by_side() -> None:
    short_list = numbered_options([Play((6, 4), "left"), Draw()]).plain
    assert short_list == "  1  [6|4] left\n  2  draw"
    long_list = numbered_options([Play((6, 4), "left")] * 30).plain
    assert long_list.startswith("1  [6|4] left; 2  [6|4] left; 3  [6|4] left")


class Typist:
    """A person at a pipe, who types lines and reads."""

    def __init__(self) -> None:
        self.read, self._write = os.pipe()

    def type(self, text: str) -> None:
        os.write(self._write, text.encode())

    def close(self) -> None:
        os.close(self._write)


async def test_lines_are_read_however_they_come() -> None:
    typist = Typist()
    keys, lines = Keys(typist.read), list[str | None]()

    async def read(count: int) -> None:
        for _ in range(count):
            lines.append(await keys.line())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read, 5)
        typist.type("on")
        typist.type("e\ntwo\n\nfo")
        typist.type("ur\n")
        typist.close()
    assert lines == ["one", "two", "", "four", None]
    os.close(typist.read)


async def test_an_endless_line_is_bounded() -> None:
    typist = Typist()
    keys = Keys(typist.read)
    typist.type("x" * 60_000)
    typist.type("\n")
    line = await keys.line()
    assert line == "x" * MAX_TYPED_BYTES
    assert len(keys._read) <= MAX_TYPED_BYTES
    os.close(typist.read)
    typist.close()


async def play_typed(keys: str, play: Callable[[Referee, HumanPlayer], None]) -> tuple[bool, str]:
    """Return what a person reads in a small game after typing this in advance, and if it was
    finished."""
    typist, console = Typist(), Console(width=80, record=True, file=StringIO())
    typist.type(keys)
    typist.close()
    referee, person = table()
    person.set_listener(Hears(lambda: play(referee, person)))
    screen = TerminalPlayer(console, typist.read, Look(NAMES, 80))
    play(referee, person)
    with trio.fail_after(120):
        is_finished = await screen.show(person, LiveFrames(referee, SEAT), trio.Event())
    os.close(typist.read)
    return is_finished, console.export_text()


def play_table(referee: Referee, person: HumanPlayer) -> None:
    """Play the table: take the person's answers, and the first option for the other seat."""
    line = person.next_line()
    if line is not None:
        referee.receive(SEAT, line, 5.0)
    while referee.awaiting and referee.awaiting.seat != SEAT:
        first = Choose(id=referee.awaiting.id, choice=0)
        referee.receive(referee.awaiting.seat, encode_line(first)[:-1], 1.0)
    send_lines(referee, person)


async def test_a_game_is_played_by_numbers() -> None:
    is_finished, text = await play_typed("9\n1\n" + "\n" * 200, play_table)
    assert is_finished
    assert "Enter one of the numbers above." in text
    assert "Your choice (1 to" in text
    assert "The game is over: the winner reached the target." in text
    assert "places " in text


@pytest.mark.parametrize("keys", ["q\n", "quit\n", ""])
async def test_a_person_may_leave(keys: str) -> None:
    is_finished, text = await play_typed(keys, play_table)
    assert not is_finished
    assert "The game is over" not in text


async def test_the_screen_stops_waiting_when_time_is_up(autojump_clock: MockClock) -> None:
    """What follows is what the table says; the screen only stops waiting."""
    typist = Typist()
    console = Console(width=80, record=True, file=StringIO())
    referee, person = table()
    screen = TerminalPlayer(console, typist.read, Look(NAMES, 80))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(screen.show, person, LiveFrames(referee, SEAT), trio.Event())
        await trio.sleep(66)
        nursery.cancel_scope.cancel()
    assert "Time is up." in console.export_text()
    assert autojump_clock.current_time() == 66
    typist.close()
    os.close(typist.read)
