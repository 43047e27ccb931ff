"""Readable playthroughs, one for each named game; `python -m tests.support.golden` writes them.

Two rounds of each game, between seats that choose at random from a fixed seed. The table and the
seed are chosen so that what is special about the game happens.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.analysis.text import Look, event_sentences, options_text
from arena.analysis.timeline import Moment, walk_log
from arena.engine import values
from arena.engine.shuffle import RandomWords, board_seed, randbelow
from arena.logs.gamelog import LoggedGame
from arena.match.game_setup import GameSetup
from arena.match.referee import Referee
from arena.rules.variants import VARIANTS, find_variant
from protocol.codec import encode_line
from protocol.messages import Ask, Choose, Clock, ToBot
from protocol.records import ChoiceRecord, DealRecord, GameRecord, Result, RoundRecord
from protocol.ruleset import Ruleset, derive
from protocol.tiles import Tile
from tests.support.tables import sitting

FOLDER = Path(__file__).parent / "golden"
NAMES = ("ada", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")
ROUNDS = 2
CLOCK = Clock()
Numbers = tuple[int, ...]


class Plan(NamedTuple):
    """The playthrough that is kept."""

    seats: int
    """How many seats."""
    seed: int
    """What the deals and the choices are made from."""


PLANS: dict[str, Plan] = {
    "draw": Plan(3, 189), "drawing-game": Plan(2, 70), "dutch": Plan(3, 182),
    "dutch-two": Plan(2, 194), "dutch-partners": Plan(4, 155), "old-draw": Plan(2, 194),
    "old-draw-reserve": Plan(3, 51), "double-draw": Plan(3, 195), "block": Plan(2, 166),
    "partnership": Plan(4, 215), "draw-partners": Plan(4, 136), "puerto-rico": Plan(2, 245),
    "puerto-rico-blocker": Plan(2, 135), "puerto-rico-500": Plan(2, 147), "austrian": Plan(2, 243),
    "austrian-block": Plan(4, 172), "arab-row": Plan(2, 128), "jordanian": Plan(3, 134),
    "south-american": Plan(3, 47), "vietnamese": Plan(2, 76), "ukrainian": Plan(2, 1483),
    "six-six": Plan(4, 68), "french": Plan(2, 9), "domino-pool": Plan(3, 218),
    "auction-draw": Plan(3, 1263), "paid-draw": Plan(2, 24), "pot-draw": Plan(3, 97),
    "point-a-round": Plan(3, 132),
}  # fmt: skip
"""Every named game; of the first seeds the one whose playthrough is the shortest that shows what is
special about the game: bids, calls, draws for the lead, deals that do not count."""


def short(name: str) -> Ruleset:
    """Return a named game, over after two rounds."""
    rounds = ROUNDS if find_variant(name).game.rounds else 0
    return derive(find_variant(name), name, {"max_rounds": ROUNDS, "rounds": rounds})


def board_of(name: str, seed: int) -> bytes:
    """Return the seed of the deals and of the choices."""
    return board_seed(b"golden", name, seed)


def begun(name: str, seats: int, seed: int) -> tuple[Referee, Iterator[int]]:
    """Return the game before its first question, and what the choices are made from."""
    board = board_of(name, seed)
    seating = GameSetup(name, 1, seed, NAMES[:seats], short(name), CLOCK)
    return Referee(seating, board), luck_of(board)


def luck_of(board: bytes) -> Iterator[int]:
    """Yield the random choices: numbers below the number of options, if there are several."""
    return iter(RandomWords(board, 0, "choices"))


def played(name: str, seats: int, seed: int) -> tuple[LoggedGame, dict[tuple[int, int], Ask]]:
    """Return the game as it is logged, and every question as its seat read it."""
    rules, names, decoder = short(name), NAMES[:seats], msgspec.json.Decoder(ToBot)
    referee, luck = begun(name, seats, seed)
    asked: dict[tuple[int, int], Ask] = {}
    while question := referee.awaiting:
        for seat, line in referee.take_outgoing():
            said = decoder.decode(line)
            if isinstance(said, Ask):
                asked[seat, said.id] = said
        choice = randbelow(luck, len(question.options))
        line = encode_line(Choose(id=question.id, choice=choice))[:-1]
        referee.receive(question.seat, line, 0.0)
    game, *records = referee.take_records()
    assert isinstance(game, GameRecord)
    record = sitting(names, (seed,), rules, CLOCK, event="golden")
    return LoggedGame(record, game, tuple(records), referee.result), asked


def text(name: str, seats: int, seed: int) -> str:
    """Return the playthrough of a named game."""
    logged, asked = played(name, seats, seed)
    look = Look(NAMES[:seats], partners=logged.sitting.rules.deal.partners)
    lines = [
        f"game {name}: {VARIANTS[name].about}",
        f"seed {seed}, at most {ROUNDS} rounds",
        f"seats {', '.join(look.names)}",
    ]
    for step in walk_log(logged):
        lines += _step(step, look, asked)
    return "\n".join([*lines, ""])


def _step(step: Moment, look: Look, asked: dict[tuple[int, int], Ask]) -> Iterator[str]:
    match step.record:
        case DealRecord() as deal:
            yield from (
                "",
                f"ROUND {deal.round}, DEAL {deal.deal}" if deal.deal else f"ROUND {deal.round}",
            )
            for who, hand in zip(look.names, deal.hands, strict=True):
                yield f"  {who} is dealt {_tiles(hand)}"
            for row in deal.stock:
                yield f"  boneyard {_tiles(row)}"
        case ChoiceRecord() as said:
            yield from _question(asked[said.seat, said.id], look, said.choice)
        case _:
            pass
    yield from event_sentences(step.events, look)
    match step.record:
        case RoundRecord() as over:
            state = step.game.playing
            yield f"ROUND {over.round} IS OVER: {over.why}"
            for who, hand, pips in zip(
                look.names, state.hands, values.pips(step.game), strict=True
            ):
                yield f"  {who} is left with {_tiles(hand)} ({pips})"
            pot = f", pot {step.game.pot}" if step.game.rules.stakes.pot else ""
            yield f"  points {_numbers(over.points)}, scores {_numbers(over.scores)}{pot}"
        case Result() as result:
            yield from ("", f"GAME OVER: {result.why}")
            yield f"  scores {_numbers(result.scores)}, places {_numbers(result.places)}"
        case _:
            pass


def _question(ask: Ask, look: Look, chosen: int) -> Iterator[str]:
    """Yield what the seat saw, and its answer."""
    stock = f"boneyard {ask.boneyard.tiles}, {ask.boneyard.drawable} to draw"
    line = f"{_tiles(ask.line)} ends {_numbers(ask.ends)}" if ask.line else "empty"
    counts = f"hands {_numbers(ask.hands)}, scores {_numbers(ask.scores)}, pot {ask.pot}"
    yield f"    {look.name(ask.seat)} sees {_tiles(ask.hand)}; {stock}; {counts}"
    yield f"    line {line}"
    options = (
        f">{option}<" if mark else option for option, mark in options_text(ask.options, chosen)
    )
    yield f"    options {', '.join(options)}"


def _tiles(tiles: tuple[Tile, ...]) -> str:
    return " ".join(f"[{high}|{low}]" for high, low in tiles) or "nothing"


def _numbers(numbers: Numbers) -> str:
    return " ".join(map(str, numbers))


def kept(name: str) -> Path:
    """Return where a playthrough is kept."""
    return FOLDER / f"{name}.txt"


def main() -> None:
    """Write every playthrough, and remove those of games that are no more."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        if old.stem not in PLANS:
            old.unlink()
    for name, plan in PLANS.items():
        kept(name).write_text(text(name, plan.seats, plan.seed), encoding="utf-8")
    sys.stdout.write(f"{len(PLANS)} playthroughs in {FOLDER}\n")


if __name__ == "__main__":
    main()
