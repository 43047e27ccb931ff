"""The finished games of a log as lines, cheap to read, for other processes to decode."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from arena.logs.checksummed import read_sealed
from arena.logs.gamelog import (
    DamagedLogError,
    LoggedGame,
    assemble_games,
    is_beyond_seats,
    logged_game,
)
from protocol.codec import DamagedRecordError, decode_record, line_start
from protocol.records import ChoiceRecord, GameRecord, LogRecord, Result, Sitting, SittingOver

KINDS_BY_START: dict[bytes, type[LogRecord]] = {
    line_start(kind): kind for kind in (Sitting, SittingOver, GameRecord, Result)
}
"""The beginnings of the lines that begin or end games."""


class EncodedGame(Struct, frozen=True):
    """A finished game as its lines; their checksums were right, and nobody has decoded them."""

    path: Path
    sitting: bytes
    lines: tuple[bytes, ...]
    """Its own lines: the game's record first, the result last."""

    @property
    def name(self) -> str:
        """The game's name in the event. Raises DamagedLogError."""
        try:
            game = decode_record(self.lines[0])
        except DamagedRecordError as error:
            raise self._damage(error) from error
        assert isinstance(game, GameRecord), "So its first line begins."
        return game.game

    def decode(self) -> LoggedGame:
        """Return the game. Raises DamagedLogError if a line is not a record of it."""
        try:
            sitting, *records = map(decode_record, (self.sitting, *self.lines))
        except DamagedRecordError as error:
            raise self._damage(error) from error
        game = logged_game(sitting, records)
        assert game.result, "So its last line begins."
        beyond = any(is_beyond_seats(record, game.sitting) for record in records)
        if beyond or game.sitting.seats != game.result.seats:
            raise self._damage("it is not a game of its sitting")
        return game

    def _damage(self, why: object) -> DamagedLogError:
        return DamagedLogError(f"{self.path}: a game of it cannot be read: {why}.")


def read_encoded_games(path: Path) -> Iterator[EncodedGame]:
    """Yield the finished games of a log. Raises DamagedFileError."""
    for sitting, lines in assemble_games(read_sealed(path, bytes), _kind_of):
        if _kind_of(lines[-1]) is Result:
            yield EncodedGame(path, sitting, tuple(lines))


def _kind_of(line: bytes) -> type[LogRecord]:
    return KINDS_BY_START.get(line[: line.find(b",") + 1], ChoiceRecord)
