"""The structs of the referee: the setup of a game, and the open question."""

from msgspec import Struct

from protocol.messages import Clock, Option
from protocol.records import FoulPolicy
from protocol.ruleset import Ruleset


class GameSetup(Struct, frozen=True):
    """The setup of a game: its entrants and seats, its board, its rules and its clock."""

    game: str
    """The game's name in the event."""
    number: int
    """The game's number on the bots' pipes."""
    board: int
    seats: tuple[str, ...]
    """The entrant in each seat."""
    rules: Ruleset
    clock: Clock
    """The clock of each seat that has none of its own."""
    fouls: FoulPolicy = FoulPolicy()
    forfeited: tuple[int, ...] = ()
    """Seats that have lost the game before it begins; no bot sits there."""
    clocks: tuple[Clock, ...] = ()
    """The clock of each seat, if bots have clocks of their own."""

    def clock_of(self, seat: int) -> Clock:
        """Return the clock of a seat."""
        return self.clocks[seat] if self.clocks else self.clock


class OpenQuestion(Struct, frozen=True):
    """The open question to a seat."""

    seat: int
    id: int
    options: tuple[Option, ...]
    time_ms: int
    is_effort: bool = False
    """True if the time is counted in million instructions, by the host of a sealed bot."""

    @property
    def limit_ms(self) -> int:
        """The time on our own clock, in ms; of a sealed bot only a broken host needs so much."""
        return max(600_000, 1000 * self.time_ms) if self.is_effort else self.time_ms
