"""The luck of an event's games in its folder: luck.jsonl, which follows from the game logs."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from arena.logs.catalog import FOLDER, logs_of_sittings
from arena.logs.checksummed import DamagedFileError, SealedLog
from protocol.codec import decode_json
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.rating.tables import PARTS, Correction
from tournaments.storage.folder import Folder, mode_of_logs
from tournaments.storage.log_luck import ComputeLuck, LuckRecord, LuckTask, luck_of_logs

REMEDY = ". Remove the file: `boneyard report --luck` computes it again"
"""The end of a sentence about a damaged luck.jsonl."""


def decode_luck(line: bytes) -> LuckRecord:
    """Decode a line of luck.jsonl without its checksum. Raises DamagedRecordError."""
    return decode_json(line, LuckRecord)


class LuckStore:
    """The luck of an event's games, as its file has it; read when it is first asked for.

    Every method raises DamagedFileError if the file is damaged.
    """

    def __init__(
        self,
        folder: Folder,
        event: Event,
        *,
        most: int | None = None,
        writes: bool = False,
        computed: ComputeLuck = luck_of_logs,
    ) -> None:
        """`most`: lines of the file that count. `writes`: luck that is computed goes into it."""
        self._folder = folder
        self._event = event
        self._most = most
        self._writes = writes
        self._computed = computed
        self._records: dict[str, LuckRecord] = {}
        self._size = -1
        self._log = SealedLog(folder.luck, decode_luck, REMEDY)

    @property
    def records(self) -> dict[str, LuckRecord]:
        """The lines of the file, by game."""
        path = self._folder.luck
        size = path.stat().st_size if path.is_file() else 0
        if size != self._size:
            self._records = {}
            for record in self._log.read():
                if self._most is not None and len(self._records) >= self._most:
                    break
                self._records[record.game] = record
            self._size = size
        return self._records

    @cached_property
    def weight(self) -> tuple[float, float]:
        """The part of the luck that is taken out of points, and of the share of a game."""
        from arena.valuation.weights import weight_of  # It needs numpy.

        return weight_of(self._event.rules, self._event.seats)

    def known(self, result: Result) -> LuckRecord | None:
        """Return the luck of a game; None if the file does not have it."""
        found = self.records.get(result.game)
        return found if found and found.scores == result.scores else None

    def corrections(self, results: Iterable[Result]) -> dict[str, Correction]:
        """Return the luck to take out of each of these games that the file has."""
        # Once: it looks at the file each time.
        records = self.records
        pairs = ((one, records.get(one.game)) for one in results)
        return {
            one.game: self._weighted(luck)
            for one, luck in pairs
            if luck and luck.scores == one.scores
        }

    def compute(self, results: Iterable[Result]) -> dict[str, Correction]:
        """Return the luck to take out of each of these games; compute from logs what is not known.

        Raises DamagedFileError also if a game has no log.
        """
        games = list(results)
        known = self.corrections(games)
        missing = [one.game for one in games if one.game not in known]
        if not missing:
            return known
        found = self._from_logs(missing)
        self.add(found[game] for game in missing)
        return self.corrections(games)

    def add(self, records: Iterable[LuckRecord]) -> None:
        """Add the luck of games, to the file too if the store writes. Raises OSError."""
        new, known = list(records), self.records
        if self._writes:
            self._log.mend()
            # It tells of hidden tiles, as the logs do.
            self._log.append(new, mode_of_logs(self._folder))
            self._size = self._folder.luck.stat().st_size
        known.update((one.game, one) for one in new)

    def drop_stale(self, results: Iterable[Result]) -> None:
        """Remove from the file the luck of games that were played again, or not at all.

        Raises OSError.
        """
        played = {one.game for one in results if self.known(one)}
        kept = [one for game, one in self.records.items() if game in played]
        if len(kept) < len(self.records):
            self._log.rewrite(kept, mode_of_logs(self._folder))

    def _weighted(self, luck: LuckRecord) -> Correction:
        points, share = self.weight
        return Correction(
            tuple(round(PARTS * points * one) for one in luck.points),
            tuple(round(PARTS * share * one) for one in luck.share),
        )

    def _from_logs(self, games: list[str]) -> dict[str, LuckRecord]:
        """Compute the luck of games, each from the likeliest log that has it."""
        logs = {game: logs_of_sittings(self._folder.path / FOLDER, game) for game in games}
        found: dict[str, LuckRecord] = {}
        while left := [game for game in games if game not in found]:
            tasks: dict[Path, list[str]] = {}
            for game in left:
                if not logs[game]:
                    raise DamagedFileError(
                        f"{self._folder.path / FOLDER}: no log has {game}, and "
                        f"{self._folder.luck.name} does not have its luck"
                    )
                tasks.setdefault(logs[game].pop(0), []).append(game)
            of_logs = [LuckTask(path, tuple(some)) for path, some in tasks.items()]
            for luck in self._computed(of_logs):
                found.update((one.game, one) for one in luck.records)
        return found
