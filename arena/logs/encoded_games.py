"""The finished games of a log as lines, cheap to read, for other processes to decode."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from arena.logs.checksummed import read_sealed
from arena.logs.gamelog import DamagedLogError, LoggedGame, is_beyond_seats
from protocol.codec import DamagedRecordError, decode_record, line_start
from protocol.records import GameRecord, Result, Sitting

SITTING, GAME, RESULT = line_start(Sitting), line_start(GameRecord), line_start(Result)


class EncodedGame(Struct, frozen=True):
    """A finished game as its lines; their checksums were right, and nobody has decoded them."""

    path: Path
    """Its log."""
    sitting: bytes
    """The line of its sitting."""
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
            sitting, game, *records = map(decode_record, (self.sitting, *self.lines))
        except DamagedRecordError as error:
            raise self._damage(error) from error
        result = records[-1]
        assert isinstance(game, GameRecord), "So its first line begins."
        assert isinstance(result, Result), "So its last line begins."
        if (
            not isinstance(sitting, Sitting)
            or sitting.seats != result.seats
            or any(is_beyond_seats(record, sitting) for record in (game, *records))
        ):
            raise self._damage("it is not a game of its sitting")
        return LoggedGame(sitting, game, tuple(records), result)

    def _damage(self, why: object) -> DamagedLogError:
        return DamagedLogError(f"{self.path}: a game of it cannot be read: {why}.")


def read_encoded_games(path: Path) -> Iterator[EncodedGame]:
    """Yield the finished games of a log. Raises DamagedFileError."""
    sitting, lines = b"", list[bytes]()
    for entry in read_sealed(path, bytes):
        line = entry.record
        if line.startswith(SITTING):
            sitting = line
        elif line.startswith(GAME):
            lines = [line]
        elif lines:
            lines.append(line)
            if line.startswith(RESULT):
                yield EncodedGame(path, sitting, tuple(lines))
                lines = []
