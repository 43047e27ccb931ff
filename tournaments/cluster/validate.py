"""Checks of workers' answers: each must be a possible answer to its order. Pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from arena.engine.shuffle import commitment
from protocol.codec import DamagedRecordError, decode_record
from protocol.records import GameRecord, LogRecord, Result, Sitting, SittingOver
from tournaments.cluster.orders import Order, OrderPart
from tournaments.plan.event import Event
from tournaments.schedule.schedule import PlannedGame
from tournaments.schedule.seating import game_names


class BrokenAnswerError(Exception):
    """An answer of a worker that does not fit its order; the text says why."""


def answering(
    event: Event, order: Order, lines: Iterable[bytes], had: Collection[str]
) -> list[list[LogRecord]]:
    """Return the records of the ordered games, for each part of the order.

    Leaves out games that have a result already, or that nobody ordered. `verify` judges the
    decisions in them. Raises BrokenAnswerError, also if no game is new.
    """
    ordered = {
        game.name: (n, game, numbered)
        for n, part in enumerate(order.parts)
        for game, numbered in zip(part.games, part.numbers, strict=True)
    }
    known, parts = set(had) & ordered.keys(), [list[LogRecord]() for _ in order.parts]
    before = len(known)
    for first, records in _games(lines):
        if first.game in ordered and first.game not in known:
            n, game, number = ordered[first.game]
            _check_first(order, game, number, first)
            _check(event, order.parts[n], game, records)
            parts[n] += records
            known |= {record.game for record in records if isinstance(record, Result)}
    if len(known) == before:
        raise BrokenAnswerError("it has no result of a game that was ordered")
    return parts


def _games(lines: Iterable[bytes]) -> Iterator[tuple[GameRecord, list[LogRecord]]]:
    """Yield each game that was played, a void one too, with its first record."""
    game = list[LogRecord]()
    first: GameRecord | None = None
    for record in map(_decoded, lines):
        if isinstance(record, GameRecord):
            if first:
                yield first, game
            first, game = record, []
        game.append(record)
    if first:
        yield first, game


def _decoded(line: bytes) -> LogRecord:
    try:
        return decode_record(line)
    except DamagedRecordError as error:
        raise BrokenAnswerError(str(error)) from error


def _check_first(order: Order, game: PlannedGame, number: int, first: GameRecord) -> None:
    """Refuse another game of the same name: other deals, or another number."""
    promised = commitment(order.seeds[game.board])
    if (first.number, first.board, first.commitment) != (number, game.board, promised):
        raise BrokenAnswerError(f"game {game.name} was dealt from another seed")


def _check(event: Event, part: OrderPart, game: PlannedGame, records: Sequence[LogRecord]) -> None:
    """Refuse another game of the same name: other seats, or more than one game."""
    for record in records:
        if isinstance(record, Sitting | SittingOver):
            raise BrokenAnswerError(f"game {game.name} has a sitting in it")
        if isinstance(record, Result) and record is not records[-1]:
            raise BrokenAnswerError(f"game {game.name} continues after its result")
        if isinstance(record, Result) and (record.game, record.board, record.seats) != (
            game.name,
            game.board,
            game_names(event, part.plan),
        ):
            raise BrokenAnswerError(f"game {game.name} has the result of another")
