"""Replay of a logged game from its seed, by a referee, with the mismatches that it finds."""

from collections import deque
from collections.abc import Collection, Iterator

from msgspec import UNSET
from msgspec.structs import replace

from arena.logs.gamelog import LoggedGame
from arena.match.game_setup import GameSetup
from arena.match.referee import Referee
from protocol.codec import Fault, encode_line
from protocol.messages import Choose
from protocol.records import (
    ChoiceRecord,
    DealRecord,
    FoulRecord,
    GameRecord,
    LogRecord,
    SpentRecord,
)


def setup_of(logged: LoggedGame) -> GameSetup:
    """Return the setup of a logged game."""
    return GameSetup(
        game=logged.game.game,
        number=logged.game.number,
        board=logged.game.board,
        seats=logged.sitting.seats,
        rules=logged.sitting.rules,
        clock=logged.sitting.clock,
        fouls=logged.sitting.fouls,
        forfeited=logged.game.forfeited,
        clocks=logged.sitting.clocks or (),
    )


def resume_game(referee: Referee, logged: LoggedGame) -> bool:
    """Bring a new referee to where a log was cut off; return False if the log does not fit it.

    It then sends to fresh bots all that was sent but the questions that are answered. Sealed bots
    get these too: after the same answers they are in the same state.
    """
    clocks = logged.sitting.seat_clocks
    sealed = {seat for seat, clock in enumerate(clocks) if clock.effort}
    lines = [*_answer_again(referee, logged, sealed)]
    made, written = referee.take_records(), (logged.game, *logged.records)
    begun = made[: len(written)]
    repeated = (one.seat for one in logged.choices() if one.seat in sealed)
    referee.send_again(lines, [*written, *made[len(written) :]], repeated)
    return [*map(without_evidence, written)] == [*map(without_evidence, begun)]


def _answer_again(
    referee: Referee, logged: LoggedGame, sealed: Collection[int] = ()
) -> Iterator[tuple[int, bytes]]:
    """Apply all answers and fouls of a log; yield the lines but the questions that they answer.

    `sealed`: the seats whose questions it yields too.
    """
    for record in logged.choices():
        question = referee.awaiting
        if question is None or question.seat != record.seat:
            break
        lines = referee.take_outgoing()
        yield from lines if record.seat in sealed else lines[:-1]  # The question is the last.
        repeat_answer(referee, record)
    yield from referee.take_outgoing()


def repeat_answer(referee: Referee, record: ChoiceRecord | FoulRecord) -> None:
    """Give a referee what a log has of the seat that it asks."""
    seat, ms, lag_ms = record.seat, record.ms, record.given_back_ms
    if isinstance(record, FoulRecord):
        fault, line = Fault(record.foul, record.detail), record.line.encode()
        referee.forfeit(seat, fault, ms=ms, line=line, given_back_ms=lag_ms)
    else:
        id, choice, note, usage = record.id, record.choice, record.note, record.usage
        referee.receive(seat, b"", ms, lag_ms, Choose(id=id, choice=choice, note=note, usage=usage))


def mismatches(logged: LoggedGame, seed: bytes) -> Iterator[str]:
    """Yield what in the log does not follow from the seed and the recorded answers."""
    referee = Referee(setup_of(logged), seed)
    # Nobody reads the lines: only their hashes count.
    deque(_answer_again(referee, logged), maxlen=0)
    made = referee.take_records()
    written = (logged.game, *logged.records)
    # No replay can know the time used.
    kept = [record for record in written if not isinstance(record, SpentRecord)]
    for number, (was, now) in enumerate(zip(kept, made, strict=False)):
        if was != now and without_evidence(was) != without_evidence(now):
            yield _difference(logged, number, was, now)
            return
    if logged.result and len(made) != len(kept):
        yield f"{logged.game.game}: {len(kept)} records, but {len(made)} follow"


def without_evidence(record: LogRecord) -> LogRecord:
    """Return a record without evidence that only the table could know."""
    if isinstance(record, ChoiceRecord):
        return replace(record, stderr="")
    if not isinstance(record, FoulRecord):
        return record
    return replace(record, stderr="", stdout=UNSET, line="", limit_ms=0, cpu_ms=None)


def _difference(logged: LoggedGame, number: int, was: LogRecord, now: LogRecord) -> str:
    names = {DealRecord: "the deal", GameRecord: "its first record"}
    what = names.get(type(now), f"record {number}")
    shown = [encode_line(record).decode().strip()[:300] for record in (was, now)]
    return f"{logged.game.game}: {what} is {shown[0]}, but {shown[1]} follows"
