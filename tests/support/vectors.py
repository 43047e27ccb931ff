"""Games as JSON lines for authors who test an engine or a bot; see protocol/vectors/README.md.

`python -m tests.support.vectors` writes them. The first table of each game, and the conversation of
its seat 0, is the game in `short_games`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

import protocol
from arena.engine import values
from arena.engine.shuffle import randbelow
from arena.engine.state import Game
from arena.rules.variants import VARIANTS, find_variant
from protocol.ruleset import playable_seat_counts
from tests.support.conversations import exchanged
from tests.support.games import PLANS, board_of, random_choices, short, start_game

FOLDER = Path(protocol.__file__).parent / "vectors"
ENDING, TALK_ENDING = ".jsonl", ".talk.jsonl"
Line = dict[str, Any]
WAYS = {b">": "to_bot", b"<": "from_bot"}


def vectors(name: str) -> Iterator[Line]:
    """Yield the file of a named game: a game at every table that it has."""
    first, seed = PLANS[name]
    yield from _game(name, first, seed)
    for seats in playable_seat_counts(find_variant(name)):
        if seats != first:
            yield from _game(name, seats, 1)


def _game(name: str, seats: int, seed: int) -> Iterator[Line]:
    rules, board = short(name), board_of(name, seed)
    game, luck = values.new_game(rules, seats), random_choices(board)
    yield {"type": "game", "game": name, "seats": seats, "target": game.target, "rules": rules}
    while not game.over:
        before = game
        if values.needs_deal(game):
            dealt = values.chance_decides(game, board)
            game = values.begin(game, dealt)
            yield {"type": "deal", **msgspec.to_builtins(dealt), "events": _news(before, game)}
        else:
            options = values.legal(game)
            choice = randbelow(luck, len(options)) if len(options) > 1 else 0
            game = values.act(game, options[choice])
            yield {
                "type": "turn",
                "seat": before.playing.turn,
                "options": options,
                "choice": choice,
                "events": _news(before, game),
            }
        if game.playing.over:
            yield _round(game)
    yield {
        "type": "end",
        "why": game.over,
        "scores": game.scores,
        "places": values.places(game, frozenset()),
    }


def _news(before: Game, after: Game) -> list[Any]:
    """Return the events, with nothing hidden."""
    is_same_round = before.round is not None and before.round.number == after.playing.number
    return list(after.playing.events[len(before.playing.events) if is_same_round else 0 :])


def _round(game: Game) -> Line:
    state = game.playing
    return {
        "type": "round",
        "round": state.number,
        "why": state.over,
        "hands": state.hands,
        "pips": values.pips(game),
        "points": game.points,
        "scores": game.scores,
        "pot": game.pot,
    }


def talk(name: str) -> Iterator[Line]:
    """Yield what seat 0 reads and writes in the first game of the file."""
    referee, luck = start_game(name)
    for way, line in exchanged(referee, lambda question: randbelow(luck, len(question.options))):
        yield {WAYS[way]: msgspec.Raw(line.rstrip(b"\n"))}


def encode_lines(lines: Iterator[Line]) -> bytes:
    """Return these lines as JSON."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


NAMES = tuple(name + ending for ending in (ENDING, TALK_ENDING) for name in VARIANTS)


def file(name: str) -> bytes:
    """Return the content of a file."""
    if name.endswith(TALK_ENDING):
        return encode_lines(talk(name.removesuffix(TALK_ENDING)))
    return encode_lines(vectors(name.removesuffix(ENDING)))


def main() -> None:
    """Write every file, and remove those of games that are no more."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob(f"*{ENDING}"):
        if old.name not in NAMES:
            old.unlink()
    for name in NAMES:
        (FOLDER / name).write_bytes(file(name))


if __name__ == "__main__":
    main()
