"""Plays a logged game again through the same referee, and says where the log does not fit."""

from collections.abc import Iterator

from msgspec.structs import replace

from arena.gamelog import LoggedGame
from arena.referee import Referee, Seating
from protocol.codec import encode_line
from protocol.messages import Choose
from protocol.records import ChoiceRecord, DealRecord, FoulRecord, LogRecord


def seating(logged: LoggedGame) -> Seating:
    """The game as it was set up."""
    return Seating(
        game=logged.game.game,
        number=logged.game.number,
        board=logged.game.board,
        seats=logged.sitting.seats,
        rules=logged.sitting.rules,
        clock=logged.sitting.clock,
    )


def replayed(logged: LoggedGame, seed: bytes) -> Iterator[tuple[Referee, LogRecord | None]]:
    """The referee after each thing that came in, and what that was (None: the beginning).

    Stops where the log asks for something impossible; `misfits` says what.
    """
    referee = Referee(seating(logged), seed)
    yield referee, None
    for record in logged.choices():
        question = referee.awaiting
        if question is None or question.seat != record.seat:
            return
        if isinstance(record, FoulRecord):
            referee.lost(
                record.seat, record.foul, record.detail, ms=record.ms, line=record.line.encode()
            )
        else:
            referee.received(record.seat, _line(record), record.ms)
        yield referee, record


def misfits(logged: LoggedGame, seed: bytes) -> Iterator[str]:
    """What in the log does not follow from the seed and from what came in."""
    made: list[LogRecord] = []
    for referee, _ in replayed(logged, seed):
        made += referee.records()
    # The game record itself comes first; the log keeps it apart.
    for number, (was, now) in enumerate(zip(logged.records, made[1:], strict=False), 1):
        if _bare(was) != _bare(now):
            yield _difference(logged, number, was, now)
            return
    if logged.result and len(made) - 1 != len(logged.records):
        yield f"{logged.game.game}: {len(logged.records)} records, but {len(made) - 1} follow"


def _line(record: ChoiceRecord) -> bytes:
    return encode_line(Choose(id=record.id, choice=record.choice, note=record.note))[:-1]


def _bare(record: LogRecord) -> LogRecord:
    """A record without evidence that only the table could know."""
    return replace(record, stderr="", line="") if isinstance(record, FoulRecord) else record


def _difference(logged: LoggedGame, number: int, was: LogRecord, now: LogRecord) -> str:
    what = "the deal" if isinstance(now, DealRecord) else f"record {number}"
    shown = [encode_line(record).decode().strip()[:300] for record in (was, now)]
    return f"{logged.game.game}: {what} is {shown[0]}, but {shown[1]} follows"
