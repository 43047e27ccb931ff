"""The referee without a clock or a process: questions, fouls, fates, and messages to seats."""

import json
from collections.abc import Callable

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from arena.engine.shuffle import board_seed
from arena.match.referee import STALE_LINES, GameSetup, OpenQuestion, Referee, parse_hello
from arena.rules.variants import find_variant
from protocol.codec import Fault, line_start
from protocol.messages import Clock, GameStarts
from protocol.records import ChoiceRecord, FoulRecord, Result, SeatFoul, UsageSum
from protocol.ruleset import Ruleset

NAMES = ("ada", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")
SEED = board_seed(b"test", "event", 1)


def game_setup(
    rules: str | Ruleset = "draw", seats: int = 2, clock: Clock | None = None
) -> GameSetup:
    ruleset = find_variant(rules) if isinstance(rules, str) else rules
    return GameSetup("1.test", 3, 1, NAMES[:seats], ruleset, clock or Clock())


def answer(question: OpenQuestion, choice: int = 0) -> bytes:
    return b'{"type":"choose","id":%d,"choice":%d}' % (question.id, choice)


def play_out(
    referee: Referee, choose: Callable[[OpenQuestion], int], ms: float = 1.0
) -> tuple[Result, list[tuple[int, bytes]]]:
    lines = referee.take_outgoing()
    while referee.awaiting:
        question = referee.awaiting
        referee.receive(question.seat, answer(question, choose(question)), ms)
        lines += referee.take_outgoing()
    assert referee.result
    return referee.result, lines


def first(_: OpenQuestion) -> int:
    return 0


def test_each_seat_has_its_own_clock() -> None:
    """No seat is sent the other's clock; each bank pays for its own seat only."""
    second_clock = Clock(move_ms=20, bank_ms=100)
    referee = Referee(replace(game_setup(), clocks=(Clock(), second_clock)), SEED)
    _, lines = play_out(referee, first, ms=30.0)
    for seat, clock in enumerate((Clock(), second_clock)):
        messages = [json.loads(line) for receiver, line in lines if receiver == seat]
        assert messages[0]["clock"] == {name: getattr(clock, name) for name in messages[0]["clock"]}
        times = [message["time_ms"] for message in messages if message["type"] == "ask"]
        banks = [max(0, clock.bank_ms - 10 * seat * n) for n in range(len(times))]
        assert times == [clock.move_ms + bank for bank in banks]


def open_question(referee: Referee) -> OpenQuestion:
    assert referee.awaiting
    return referee.awaiting


WRONG: list[tuple[str, bytes | Callable[[OpenQuestion], bytes]]] = [
    ("malformed", b"[" * 1000),
    ("overlong", b"x" * 70_000),
    ("illegal", lambda q: answer(q, len(q.options))),
    ("illegal", lambda q: b'{"type":"choose","id":%d,"choice":0}' % (q.id + 1)),
]


@pytest.mark.parametrize(("foul", "line"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_answer_loses_a_game_of_two(
    foul: str, line: bytes | Callable[[OpenQuestion], bytes]
) -> None:
    referee = Referee(game_setup(), SEED)
    question = open_question(referee)
    raw_line = line if isinstance(line, bytes) else line(question)
    referee.receive(question.seat, raw_line, 5.0)
    assert referee.result
    assert referee.result.why == "foul"
    assert referee.result.fouls == (SeatFoul(question.seat, foul),)  # type: ignore[arg-type]
    assert referee.result.places[question.seat] == 2
    (record,) = [record for record in referee.take_records() if isinstance(record, FoulRecord)]
    assert record.detail
    assert record.ms == 5.0
    assert len(record.line) <= 201


@pytest.mark.parametrize("seats", [3, 4])
def test_of_three_or_four_the_others_play_on_and_the_fouler_comes_last(seats: int) -> None:
    referee = Referee(game_setup("draw", seats), SEED)
    fouler = open_question(referee).seat
    referee.receive(fouler, b"oops", 1.0)
    assert referee.result is None
    result, lines = play_out(referee, first)
    assert result.why == "target"
    assert result.places[fouler] == seats
    assert result.fouls == (SeatFoul(fouler, "malformed"),)
    # Whoever is played on by the fallback is asked nothing more.
    assert not [1 for seat, line in lines[seats + 1 :] if seat == fouler and b'"ask"' in line]


def test_stale_answers_are_ignored_and_too_many_in_a_game_are_a_flood() -> None:
    referee, stale_answer = Referee(game_setup(), SEED), b'{"type":"choose","id":1,"choice":0}'
    seat = open_question(referee).seat
    for number in range(STALE_LINES):
        while open_question(referee).seat != seat:
            referee.receive(open_question(referee).seat, answer(open_question(referee)), 1.0)
        question = open_question(referee)
        referee.receive(seat, stale_answer, 1.0)
        assert open_question(referee) == question
        if number < 4:
            referee.receive(seat, answer(question), 1.0)
    referee.receive(seat, stale_answer, 1.0)
    assert referee.result
    assert referee.result.fouls == (SeatFoul(seat, "flooding"),)


def test_the_bank_pays_only_for_what_exceeds_the_move_time() -> None:
    referee = Referee(game_setup(clock=Clock(move_ms=100, bank_ms=1000)), SEED)
    seat = open_question(referee).seat
    budgets = []
    for ms in (50.0, 100.0, 350.5, 1.0):
        while open_question(referee).seat != seat:
            referee.receive(open_question(referee).seat, answer(open_question(referee)), 1.0)
        budgets.append(open_question(referee).time_ms)
        referee.receive(seat, answer(open_question(referee)), ms)
    while open_question(referee).seat != seat:
        referee.receive(open_question(referee).seat, answer(open_question(referee)), 1.0)
    budgets.append(open_question(referee).time_ms)
    assert budgets == [1100, 1100, 1100, 849, 849]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b'{"type":"choose","id":1,"choice":0}', "hello"),
        (b'{"type":"hello","name":"x","version":"1","protocol":2}', "protocol 2"),
    ],
)
def test_a_line_that_is_no_hello_is_a_foul(line: bytes, part: str) -> None:
    fault = parse_hello(line)
    assert isinstance(fault, Fault)
    assert fault.foul == "no_hello"
    assert part in fault.detail


def test_the_stated_cost_of_answers_is_added_up_in_log_and_result() -> None:
    """The referee adds the stated numbers up and believes none of them."""
    referee = Referee(game_setup(), SEED)
    count = 0
    while question := referee.awaiting:
        line = answer(question)
        if question.seat == 1:
            count += 1
            usage = b'{"tokens_in":7,"tokens_out":2,"cents":0.1,"retries":1}'
            line = line[:-1] + b',"usage":%b}' % usage
        referee.receive(question.seat, line, 1.0)
    assert referee.result
    assert referee.result.usage == (
        UsageSum(),
        UsageSum(
            tokens_in=7 * count, tokens_out=2 * count, cents=round(0.1 * count, 6), retries=count
        ),
    )
    choices = [record for record in referee.take_records() if isinstance(record, ChoiceRecord)]
    assert [choice.seat for choice in choices if choice.usage is not UNSET] == [1] * count


def test_a_bot_that_has_seen_its_hand_loses_if_it_is_unavailable() -> None:
    """Else it could get out of every game that it is losing."""
    referee = Referee(game_setup(), SEED)
    assert referee.awaiting
    seat = referee.awaiting.seat
    referee.receive(seat, b'{"type":"unavailable","why":"503"}', 1.0)
    assert referee.result
    assert referee.result.fouls == (SeatFoul(seat, "gone"),)


def test_chance_of_a_sealed_bot_does_not_follow_from_what_is_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two boards of which all that is public is the same: seeds, and thus chances, differ."""
    monkeypatch.setattr("arena.match.referee.commitment", lambda _: "0" * 64)
    setup = game_setup(clock=Clock(move_ms=1, effort=1))
    games = [Referee(setup, bytes([byte] * 32)).take_outgoing() for byte in (1, 2)]
    lines = [line for game in games for _, line in game]
    seeds = [json.loads(line)["seed"] for line in lines if line.startswith(line_start(GameStarts))]
    assert len({*seeds}) == len(seeds) == 4
