"""How long an examined bot may take, with a clock that is made up."""

import pytest

from arena.conformance import connection
from arena.conformance.connection import Connection
from arena.sandbox.network import Censor


class Stalled(Connection):
    """A conversation with a bot that answers at a moment, in which each wait ends too late."""

    def __init__(self, answers_at: float, *lags: float) -> None:
        self.now, self.exit_reason = 100.0, ""
        self._answers_at, self._lags = answers_at, list(lags)
        self._inbox, self._censor = bytearray(), Censor(())

    def monotonic(self) -> float:
        return self.now

    def _wait(self, seconds: float) -> None:
        end = self.now + seconds
        if self.now < self._answers_at < end:
            end = self._answers_at
        self.now = end + (self._lags.pop(0) if self._lags else 0.0)
        if self.now >= self._answers_at and not self._inbox:
            self._inbox += b"answer\n"


@pytest.mark.parametrize(
    ("answers_after", "lags", "found"),
    [
        (0.9, (), True),
        (1.1, (), False),
        (1.1, (0.2,), True),
        (1.3, (0.2, 0.2), True),
        (1.3, (0.2,), False),
        (1.3, (0.004, 0.004), False),
    ],
)
def test_a_lag_of_ours_gives_an_examined_bot_its_own_length_more(
    monkeypatch: pytest.MonkeyPatch,
    answers_after: float,
    lags: tuple[float, ...],
    found: bool,
) -> None:
    talk = Stalled(100.0 + answers_after, *lags)
    monkeypatch.setattr(connection, "time", talk)
    assert (talk.next_line(1.0) is not None) == found
