"""A game of the real engine and referee: the bot has one seat, the script plays the others."""

from collections.abc import Callable
from random import Random

from arena.engine.shuffle import board_seed
from arena.match.game_setup import GameSetup, OpenQuestion
from arena.match.referee import Referee
from protocol.codec import Fault, encode_line
from protocol.messages import Choose, Clock
from protocol.records import FoulRecord
from protocol.ruleset import Ruleset

BOARDS = 400

WantedQuestion = Callable[[OpenQuestion], bool]


class ScriptedSeat:
    """The bot's seat in one game: its messages and questions, and the referee's rulings."""

    def __init__(
        self,
        rules: Ruleset,
        seats: int,
        seat: int,
        number: int,
        clock: Clock,
        board: int = 1,
        wanted: WantedQuestion | None = None,
    ) -> None:
        """Begin the game on a board.

        `wanted`: until this question its seat is played here too, as if it had not been asked.
        Raises ImpossibleRulesError.
        """
        self.seat = seat
        self.rules = rules
        self.number = number
        self.asked_at = 0.0
        """The time at which its question was sent, in s, where a step notes it."""
        self._wanted = wanted
        self._chance = Random(board)
        self._lines: list[bytes] = []
        names = ("other",) * seat + ("bot",) + ("other",) * (seats - seat - 1)
        setup = GameSetup("check", number, board, names, rules, clock)
        self._referee = Referee(setup, board_seed(b"check", "check", board))
        self._go_on()

    @property
    def question(self) -> OpenQuestion | None:
        """Return the open question to the bot; None if the game is over."""
        return self._referee.awaiting

    def lines(self) -> list[bytes]:
        """Return the messages to the bot since the last call."""
        lines, self._lines = self._lines, []
        return lines

    def receive(self, line: bytes, ms: float) -> Fault | None:
        """Take the bot's answer after this many ms; return the referee's fault, if it finds one."""
        self._referee.receive(self.seat, line, ms)
        for record in self._referee.take_records():
            if isinstance(record, FoulRecord):
                return Fault(record.foul, record.detail)
        self._go_on()
        return None

    def _go_on(self) -> None:
        self._collect()
        while question := self._referee.awaiting:
            if question.seat == self.seat:
                if self._wanted is None or self._wanted(question):
                    self._wanted = None
                    return
                del self._lines[-1]
            choice = self._chance.randrange(len(question.options))
            answer = encode_line(Choose(id=question.id, choice=choice)).rstrip()
            self._referee.receive(question.seat, answer, 1.0)
            self._collect()

    def _collect(self) -> None:
        self._lines += [line for seat, line in self._referee.take_outgoing() if seat == self.seat]
