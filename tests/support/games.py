"""Games without processes: logged, short, random, and by the plain player."""

import random
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice, repeat
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from arena import engine
from arena.analysis.alternative_deals import (
    SILENT_ANSWERS,
    PublicMove,
    RoundHistory,
    StopAt,
    alternative_deals,
    position_of,
    replay_round,
)
from arena.engine import values
from arena.engine.shuffle import RandomWords, board_seed, randbelow
from arena.engine.state import Dealt, Game, Round
from arena.logs.gamelog import GameLog, LoggedGame
from arena.match.referee import GameSetup, OpenQuestion, Referee, needs_answer
from arena.rules.variants import derive, find_variant
from arena.valuation.batch import rank
from protocol.codec import encode_line
from protocol.messages import Call, Choose, Clock, GoOn, Option, Play, PlayTwo
from protocol.position import Position
from protocol.records import GameRecord, LogRecord
from protocol.ruleset import Game as Limits
from protocol.ruleset import Ruleset, playable_seat_counts, side_of
from tests.support.tables import sitting

# The plain player of all playouts by the engine: the oracle for playouts in arrays.


Rank = tuple[int, int, int]


def plain_option(game: Game) -> Option:
    """Return the plain player's choice among the legal options; a round must be in play.

    A tile that fits both ends covers the higher number. Without a play it draws, else it passes;
    it keeps each deal, bids nothing, and calls a blocked round only with the lightest hand.
    """
    options, state = engine.legal(game), game.playing
    first = options[0]
    match first:
        case Play():
            plays = [play for play in options if isinstance(play, Play)]
            return max(plays, key=lambda play: (rank(play.tile), _covered(state, play)))
        case PlayTwo():
            pairs = [pair for pair in options if isinstance(pair, PlayTwo)]
            return max(pairs, key=lambda pair: _rank_of_two(state, pair))
        case Call():
            return first if is_lightest(game, state.turn) else GoOn()
        case _:
            return first


def _covered(state: Round, play: Play) -> int:
    return state.ends.left if play.end == "left" else state.ends.right


def _rank_of_two(state: Round, pair: PlayTwo) -> tuple[Rank, Rank]:
    """Return the ranks of a pair: of the tile on the higher number, then of the other."""
    left, right = rank(pair.left), rank(pair.right)
    if state.ends.left == state.ends.right:
        return max(left, right), min(left, right)
    return (left, right) if state.ends.left > state.ends.right else (right, left)


def is_lightest(game: Game, seat: int) -> bool:
    """Tell whether a seat's side holds fewer pips than each other side."""
    partners, pips_by_side = game.rules.deal.partners, dict[int, int]()
    for owner, pips in enumerate(engine.pips(game)):
        side = side_of(partners, owner)
        pips_by_side[side] = pips_by_side.get(side, 0) + pips
    seat_pips = pips_by_side.pop(side_of(partners, seat))
    return seat_pips < min(pips_by_side.values())


def play_on(game: Game) -> None:
    """Play the round of a game on to its end with the plain player in every seat."""
    while game.playing.over is None:
        engine.act_unchecked(game, plain_option(game))


# Rounds played at random, and the same rounds with what one seat cannot see dealt anew.


CHANGES = 8


class Asks(Protocol):
    """A rule for the seats that are asked."""

    def __call__(self, clock: Clock, options: tuple[Option, ...], *, fouled: bool) -> bool:
        """Tell whether a seat with these options is asked."""


def random_game(
    rules: Ruleset, seats: int, seed: bytes, rng: random.Random, fouler: int | None = None
) -> list[RoundHistory]:
    """Return a short game, played at random; one seat may foul at its first turn."""
    short = replace(rules, game=Limits(target=100_000, max_rounds=rng.randint(1, 2)))
    game, rounds = values.new_game(short, seats), list[RoundHistory]()
    while not game.over:
        deal, game = _round(game, seed, rng, fouler)
        rounds.append(deal)
    return rounds


def _round(
    game: Game, seed: bytes, rng: random.Random, fouler: int | None
) -> tuple[RoundHistory, Game]:
    """Return a round played at random, and the game after it."""
    start, deals, acts = game, list[Dealt](), list[PublicMove]()
    while True:
        if values.needs_deal(game):
            if deals and game.playing.over:
                return RoundHistory(start, tuple(deals), tuple(acts)), game
            deals.append(values.chance_decides(game, seed))
            game = values.begin(game, deals[-1])
            continue
        options, turn = values.legal(game), game.playing.turn
        option = options[0] if turn == fouler else rng.choice(options)
        if not isinstance(option, SILENT_ANSWERS):
            acts.append(PublicMove(turn, option, turn == fouler))
        game = values.act(game, option)


def questions(
    deal: RoundHistory, seat: int, clock: Clock, asks: Asks = needs_answer
) -> Iterator[StopAt]:
    """Yield every moment of a round at which this seat is asked."""
    done = 0
    for game, choice, _ in replay_round(deal):
        if choice is None:
            return
        options = values.legal(game)
        if game.playing.turn == seat and asks(clock, options, fouled=False):
            yield StopAt(seat, done, game.playing.phase.name)
        done += not isinstance(options[choice], SILENT_ANSWERS)


def resampled(
    deal: RoundHistory, seat: int, rng: random.Random, until: StopAt | None = None
) -> RoundHistory:
    """Return the same public round with the tiles that the seat cannot see dealt again."""
    return next(islice(alternative_deals(deal, seat, rng, until), CHANGES, None)).deal


# A short game of each named game, between seats that choose at random from a fixed seed.
#
# The table and the seed are chosen so that what is special about the game happens. The vectors of
# the protocol begin with these games.


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
"""Seats and seed of every named game. The seed is that of the shortest game, among the first seeds,
that shows what is special: bids, calls, draws for the lead, deals that do not count."""


def short(name: str) -> Ruleset:
    """Return a named game, over after two rounds."""
    rounds = ROUNDS if find_variant(name).game.rounds else 0
    return derive(find_variant(name), name, {"max_rounds": ROUNDS, "rounds": rounds})


def board_of(name: str, seed: int) -> bytes:
    """Return the seed of the deals and of the choices."""
    return board_seed(b"golden", name, seed)


def start_game(name: str) -> tuple[Referee, Iterator[int]]:
    """Return the referee of a game before its first question, and the random choices."""
    seats, seed = PLANS[name]
    board = board_of(name, seed)
    setup = GameSetup(name, 1, seed, NAMES[:seats], short(name), CLOCK)
    return Referee(setup, board), random_choices(board)


def random_choices(board: bytes) -> Iterator[int]:
    """Yield the random choices: numbers below the number of options, if there are several."""
    return iter(RandomWords(board, 0, "choices"))


def short_game(name: str) -> LoggedGame:
    """Return the game as it is logged."""
    referee, words = start_game(name)
    while question := referee.awaiting:
        choice = randbelow(words, len(question.options))
        line = encode_line(Choose(id=question.id, choice=choice))[:-1]
        referee.receive(question.seat, line, 0.0)
    game, *records = referee.take_records()
    assert isinstance(game, GameRecord)
    seats, seed = PLANS[name]
    record = sitting(NAMES[:seats], (seed,), short(name), CLOCK, event="golden")
    return LoggedGame(record, game, tuple(records), referee.result)


# Games as the referee writes them down, without processes.


SMALL = derive(find_variant("draw"), "small", {"hand": 2, "target": 5})
Pick = Callable[[OpenQuestion], int]
NONSENSE = -1
DEVIL = "[red]hi[/red] \x1b[2J\u202e"


def first(_: OpenQuestion) -> int:
    return 0


def bob_fouls(question: OpenQuestion) -> int:
    return 99 if question.seat == 1 else 0


class Overheard(NamedTuple):
    """A game, and the lines to each seat."""

    logged: LoggedGame
    lines: list[list[bytes]]
    """All lines that the referee sent to each seat."""


def overhear(
    setup: GameSetup, seed: bytes, pick: Pick, times_ms: Iterable[float], note: str = ""
) -> Overheard:
    """Play a game without processes; each answer takes the next of these times."""
    referee, lines = Referee(setup, seed), list[list[bytes]]([] for _ in setup.seats)
    for ms in times_ms:
        for seat, line in referee.take_outgoing():
            lines[seat].append(line)
        if (question := referee.awaiting) is None:
            break
        choice = pick(question)
        answer = encode_line(Choose(id=question.id, choice=max(0, choice), note=note))[:-1]
        referee.receive(question.seat, b"no" if choice == NONSENSE else answer, ms)
    game, *records = referee.take_records()
    assert isinstance(game, GameRecord)
    record = sitting(setup.seats, (setup.board,), setup.rules, setup.clock, event="event")
    return Overheard(LoggedGame(record, game, tuple(records), referee.result), lines)


def hear_game(
    rules: Ruleset = SMALL, seats: int = 2, pick: Pick = first, note: str = "", board: int = 1
) -> Overheard:
    """Return a game as the referee writes it down, and all that it sends."""
    setup = GameSetup(f"{board}.game", 1, board, NAMES[:seats], rules, Clock())
    return overhear(setup, board_seed(b"render", "event", board), pick, repeat(1.5), note)


def log_game(
    rules: Ruleset = SMALL, seats: int = 2, pick: Pick = first, note: str = "", board: int = 1
) -> LoggedGame:
    """Return a game as the referee writes it down."""
    return hear_game(rules, seats, pick, note, board).logged


def write(path: Path, *games: LoggedGame) -> Path:
    boards = tuple(range(1, len(games) + 1))
    log = GameLog(path, replace(games[0].sitting, boards=boards))
    for game in games:
        log.append([game.game, *game.records])
    log.close()
    return path


def changed(game: LoggedGame, kind: type[LogRecord], **fields: object) -> LoggedGame:
    """Return the same log with its first record of a kind spoilt."""
    index = next(index for index, record in enumerate(game.records) if isinstance(record, kind))
    record = replace(game.records[index], **fields)
    return replace(game, records=(*game.records[:index], record, *game.records[index + 1 :]))


ODD = derive(SMALL, "odd", {"first": "odd_even", "later": "lot", "target": 20})
PROUD = derive(SMALL, "proud", {"refuse_doubles": 1, "hand": 5, "target": 60})


def any_of(seed: object, foul: float = 0.0) -> Pick:
    """Choose at random, and now and then answer nonsense."""
    rng = random.Random(str(seed))
    return lambda question: (
        NONSENSE if foul and rng.random() < foul else rng.randrange(len(question.options))
    )


def overheard(
    rules: Ruleset, seats: int, pick: Pick, clock: Clock | None = None, board: int = 1
) -> Overheard:
    """Play a game; each answer takes longer than the one before, so that the bank is used."""
    names, clock = NAMES[:seats], clock or Clock(bank_ms=100)
    setup = GameSetup(f"{board}.{'.'.join(names)}", 3, board, names, rules, clock)
    seed = board_seed(b"overheard", "event", board)
    return overhear(setup, seed, pick, count(clock.move_ms - 50.0), "so")


# Questions of random games, each as a position.


def positions(rules: Ruleset, rng: random.Random, count: int) -> Iterator[tuple[Position, Game]]:
    """Yield open positions of random games at random tables, with the games that they state."""
    return islice(_every_position(rules, rng), count)


def _every_position(rules: Ruleset, rng: random.Random) -> Iterator[tuple[Position, Game]]:
    """Yield three questions of each seat and round, without end."""
    while True:
        seats = rng.choice(playable_seat_counts(rules))
        for deal in random_game(rules, seats, rng.randbytes(32), rng):
            for seat in range(seats):
                moments = [*questions(deal, seat, Clock(forced="ask"))]
                for moment in rng.sample(moments, min(len(moments), 3)):
                    *_, (game, _, _) = replay_round(deal, moment)
                    deals = tuple(
                        dealt for dealt in deal.deals if dealt.deal <= game.playing.phase.deal
                    )
                    yield position_of(deal._replace(deals=deals), game), game
