"""The decisions that mattered in the rounds that a seat lost, as far as the log alone can tell.

No bot is asked and nothing is played on: a decision mattered if the seat could have played a
heavier tile, which was left in its hand at the end, or drew or passed before it could play again.
"""

from collections.abc import Sequence

from msgspec import Struct

from arena.analysis.decisions import Decision, RoundEnd
from arena.analysis.text import option_words
from arena.rules.english import count_in_digits, join_words
from protocol.messages import Drew, Option, Passed, Play, PlayTwo
from protocol.records import ChoiceRecord
from protocol.tiles import Tile

MOST = 3
"""Decisions of a game that are named."""
DELAY = 6
"""The weight of a draw or a pass in pips, about that of a tile; it only orders decisions."""


class KeyDecision(Struct, frozen=True):
    """A decision in a lost round, and what followed by the log."""

    number: int
    """The question's number among those to this seat in the game, from 1."""
    round: int
    """The round's number in the game, from 1."""
    choice: str
    """The chosen option, in words."""
    left: Tile | None
    """The heaviest tile that it could have played instead and that was left in its hand."""
    drew: int
    """Tiles that the seat drew before it could play again."""
    passed: int
    """Times that the seat passed before it could play again."""

    @property
    def weight(self) -> int:
        """Return the weight by which decisions are compared, in pips."""
        return sum(self.left or ()) + DELAY * (self.drew + self.passed)

    def describe(self) -> str:
        """Describe the decision and what followed."""
        said = f"Question {self.number}, round {self.round}: it chose {self.choice}"
        if self.left:
            high, low = self.left
            said += f" and kept [{high}|{low}], which it could have played, to the end"
        delays = [f"drew {count_in_digits(self.drew, 'tile')}"] if self.drew else []
        delays += [f"passed {count_in_digits(self.passed, 'time')}"] if self.passed else []
        return f"{said}; then it {join_words(delays)}." if delays else f"{said}."


def key_decisions(found: Sequence[Decision], ends: Sequence[RoundEnd]) -> tuple[KeyDecision, ...]:
    """Return the decisions that mattered most in the lost rounds, in order."""
    lost = {end.round: end for end in ends if end.swing < 0}
    weighed = [
        _weighed(one, one.record.choice, found[at + 1 :], lost[one.round])
        for at, one in enumerate(found)
        if one.round in lost and isinstance(one.record, ChoiceRecord)
        if _had_choice(one, one.record.choice)
    ]
    # What a decision did matters as much as its round cost.
    heaviest = sorted(weighed, key=lambda one: one.weight * lost[one.round].swing)[:MOST]
    return tuple(sorted((one for one in heaviest if one.weight), key=lambda one: one.number))


def _weighed(one: Decision, choice: int, later: Sequence[Decision], end: RoundEnd) -> KeyDecision:
    options = one.question.options
    played = _tiles(options[choice])
    left = [
        tile
        for option in options
        for tile in _tiles(option)
        if tile in end.hand and sum(tile) > sum(map(sum, played))
    ]
    drew, passed = _delay(one, later) if played else (0, 0)
    return KeyDecision(
        number=one.number,
        round=one.round,
        choice=option_words(options[choice]),
        left=max(left, key=sum, default=None),
        drew=drew,
        passed=passed,
    )


def _had_choice(one: Decision, choice: int) -> bool:
    """Tell whether the seat could have played something else."""
    return any(_tiles(option) for at, option in enumerate(one.question.options) if at != choice)


def _tiles(option: Option) -> tuple[Tile, ...]:
    """Return the tiles that an option plays."""
    match option:
        case Play(tile=tile):
            return (tile,)
        case PlayTwo(left=left, right=right):
            return left, right
        case _:
            return ()


def _delay(one: Decision, later: Sequence[Decision]) -> tuple[int, int]:
    """Count the seat's draws and passes in the round until it could play again."""
    drew = passed = 0
    for other in later:
        if other.round != one.round:
            break
        own = [event for event in other.step.events if isinstance(event, Drew | Passed)]
        kinds = [type(event) for event in own if event.seat == one.question.seat]
        drew, passed = drew + kinds.count(Drew), passed + kinds.count(Passed)
        if any(map(_tiles, other.question.options)):
            break
    return drew, passed
