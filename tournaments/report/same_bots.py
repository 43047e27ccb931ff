"""Bots that are the same: by their files, or by their answers to the same questions."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations, islice
from pathlib import Path

from msgspec import Struct

from arena.logs.checksummed import DamagedFileError
from arena.logs.gamelog import read_games
from arena.rules.english import join_words
from protocol.records import ChoiceRecord, Result, RoundRecord
from tournaments.formats.base import Entrant

LEAST_QUESTIONS = 50
"""Questions that bots must have answered alike before they are called the same."""
MOST_BOTS = 100
"""Entrants up to which all pairs are compared."""
COMPARED_GAMES = 100
"""Most games of a bot whose answers are compared one by one: to read a game takes some ms."""

Key = tuple[int, tuple[str, ...]]
"""A game: its board, and the entrant in each seat."""


class SameBots(Struct, frozen=True):
    """Entrants that answered every question alike."""

    names: tuple[str, ...]
    """The entrants, by name."""
    questions: int
    """Questions that were compared."""


def describe_same_files(entrants: Iterable[Entrant]) -> Iterator[str]:
    """Yield a sentence for each group of bots that play with equal files and the same clock."""
    groups: defaultdict[object, list[str]] = defaultdict(list)
    for one in entrants:
        if not one.retired:
            groups[one.fingerprint, one.clock].append(one.name)
    for names in groups.values():
        if len(names) > 1:
            yield f"{join_words(names)} are the same bot: their files are equal."


def describe_same_answers(found: Iterable[SameBots], entrants: Iterable[Entrant]) -> Iterator[str]:
    """Yield a sentence for each group that answered alike, unless its files are equal anyway."""
    files = {one.name: one.fingerprint for one in entrants}
    for one in found:
        if len({files.get(name, name) for name in one.names}) > 1:
            yield (
                f"{join_words(one.names)} play as the same bot: they answered all "
                f"{one.questions:,} questions that can be compared alike."
            )


class PlayedGames:
    """The games of an event: what came of each, and the log that has it."""

    def __init__(self) -> None:
        self._games: dict[Key, tuple[int, Path]] = {}
        self._of: defaultdict[str, list[Key]] = defaultdict(list)
        self._between: defaultdict[frozenset[str], list[Key]] = defaultdict(list)

    def add(self, result: Result, rounds: Sequence[RoundRecord], path: Path) -> None:
        """Add a game."""
        key = result.board, result.seats
        outline = hash((result.scores, tuple((one.why, one.points) for one in rounds)))
        self._games[key] = outline, path
        names = frozenset(result.seats)
        self._between[names].append(key)
        for name in names:
            self._of[name].append(key)

    def same_bots(self) -> tuple[SameBots, ...]:
        """Return the groups of entrants that answered every question alike.

        Two are compared wherever one of them sat and the other sat there in another game on the
        same deals with the same others, until one of the others answers differently.
        """
        groups: list[tuple[set[str], int]] = []
        if len(self._of) > MOST_BOTS:
            return ()
        for one, other in combinations(sorted(self._of), 2):
            if not any({one, other} <= names for names, _ in groups):
                questions = self._compare(one, other)
                if questions >= LEAST_QUESTIONS:
                    joined = next((found for found in groups if one in found[0]), ({one}, 0))
                    groups = [found for found in groups if found is not joined]
                    groups.append((joined[0] | {other}, max(joined[1], questions)))
        return tuple(SameBots(tuple(sorted(names)), many) for names, many in groups)

    def _compare(self, one: str, other: str) -> int:
        """Count the questions that both answered alike; 0 as soon as an answer differs."""
        swap = {one: other, other: one}

        def swapped(key: Key) -> Key:
            return key[0], tuple(swap.get(name, name) for name in key[1])

        def pairs_of(keys: Iterable[Key]) -> dict[Key, Key]:
            return {key: again for key in keys if (again := swapped(key)) in self._games}

        # Games with others may differ by the others' doing; reading logs takes time.
        alone = pairs_of(self._between.get(frozenset(swap), ()))
        if any(self._games[key][0] != self._games[again][0] for key, again in alone.items()):
            return 0
        pairs = pairs_of(self._of[one])
        if not alone and any(self._games[key][0] != self._games[pairs[key]][0] for key in pairs):
            return 0
        pairs = dict(islice(pairs.items(), COMPARED_GAMES))
        answers = self._answers({*pairs, *pairs.values()})
        questions = 0
        for key, again in pairs.items():
            own = [seat for seat, name in enumerate(key[1]) if name in swap]
            for first, second in zip(answers.get(key, ()), answers.get(again, ()), strict=False):
                if first != second:
                    if first[0] in own or second[0] in own:
                        return 0
                    break
                questions += key[1][first[0]] == one
        return questions

    def _answers(self, wanted: set[Key]) -> dict[Key, list[tuple[int, int]]]:
        """Read the seats and choices of games from their logs."""
        found: dict[Key, list[tuple[int, int]]] = {}
        for path in sorted({self._games[key][1] for key in wanted}):
            with suppress(DamagedFileError):
                for logged in read_games(path):
                    key = logged.game.board, logged.sitting.seats
                    if key in wanted and logged.result:
                        choices = (one for one in logged.choices() if isinstance(one, ChoiceRecord))
                        found[key] = [(one.seat, one.choice) for one in choices]
        return found
