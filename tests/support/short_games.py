"""A short game of each named game, between seats that choose at random from a fixed seed.

The table and the seed are chosen so that what is special about the game happens. The vectors of the
protocol begin with these games.
"""

from collections.abc import Iterator

from arena.engine.shuffle import RandomWords, board_seed, randbelow
from arena.logs.gamelog import LoggedGame
from arena.match.referee import GameSetup, Referee
from arena.rules.variants import find_variant
from protocol.codec import encode_line
from protocol.messages import Choose, Clock
from protocol.records import GameRecord
from protocol.ruleset import Ruleset, derive
from tests.support.tables import sitting

NAMES = ("ada", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")
ROUNDS = 2
CLOCK = Clock()

PLANS = {
    "draw": (3, 189), "drawing-game": (2, 70), "dutch": (3, 182), "dutch-two": (2, 194),
    "dutch-partners": (4, 155), "old-draw": (2, 194), "old-draw-reserve": (3, 51),
    "double-draw": (3, 195), "block": (2, 166), "partnership": (4, 215), "draw-partners": (4, 136),
    "puerto-rico": (2, 245), "puerto-rico-blocker": (2, 135), "puerto-rico-500": (2, 147),
    "austrian": (2, 243), "austrian-block": (4, 172), "arab-row": (2, 128), "jordanian": (3, 134),
    "south-american": (3, 47), "vietnamese": (2, 76), "ukrainian": (2, 1483), "six-six": (4, 68),
    "french": (2, 9), "domino-pool": (3, 218), "auction-draw": (3, 1263), "paid-draw": (2, 24),
    "pot-draw": (3, 97), "point-a-round": (3, 132),
}  # fmt: skip
"""Seats and seed of every named game: of the first seeds the one whose game is the shortest that
shows what is special about it: bids, calls, draws for the lead, deals that do not count."""


def short(name: str) -> Ruleset:
    """Return a named game, over after two rounds."""
    rounds = ROUNDS if find_variant(name).game.rounds else 0
    return derive(find_variant(name), name, {"max_rounds": ROUNDS, "rounds": rounds})


def board_of(name: str, seed: int) -> bytes:
    """Return the seed of the deals and of the choices."""
    return board_seed(b"golden", name, seed)


def begun(name: str) -> tuple[Referee, Iterator[int]]:
    """Return the game before its first question, and what the choices are made from."""
    seats, seed = PLANS[name]
    board = board_of(name, seed)
    setup = GameSetup(name, 1, seed, NAMES[:seats], short(name), CLOCK)
    return Referee(setup, board), random_choices(board)


def random_choices(board: bytes) -> Iterator[int]:
    """Yield the random choices: numbers below the number of options, if there are several."""
    return iter(RandomWords(board, 0, "choices"))


def played(name: str) -> LoggedGame:
    """Return the game as it is logged."""
    referee, words = begun(name)
    while question := referee.awaiting:
        choice = randbelow(words, len(question.options))
        line = encode_line(Choose(id=question.id, choice=choice))[:-1]
        referee.receive(question.seat, line, 0.0)
    game, *records = referee.take_records()
    assert isinstance(game, GameRecord)
    seats, seed = PLANS[name]
    record = sitting(NAMES[:seats], (seed,), short(name), CLOCK, event="golden")
    return LoggedGame(record, game, tuple(records), referee.result)
