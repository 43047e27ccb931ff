"""Deals taken from game logs: the boards' seeds if they are public, else the tiles of a game."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from arena.analysis.find import logs, refuse_others, require_one_game, require_path
from arena.engine.deal import is_seed
from arena.logs.board_promises import SEEDS, published_seeds
from arena.logs.gamelog import LoggedGame, read_games
from protocol.errors import UserError
from protocol.records import DealRecord
from protocol.ruleset import Ruleset, set_of_tiles
from tournaments.plan.deals.deals_file import SetBoard, SetDeals

ALL = "all"
"""The word that stands for all games of a folder."""


def read_logged_deals(source: Path, game: str, rules: Ruleset, seats: int) -> SetDeals:
    """Return the deals of a game, or of all boards, for a table.

    `source`: an event's folder, or a log. Raises UserError, DamagedFileError.
    """
    require_path(source)
    refuse_others(source)
    folder = source if source.is_dir() else source.resolve().parent.parent
    seeds = published_seeds(folder / SEEDS)
    if game == ALL:
        found = _longest(source, seeds)
    else:
        one = require_one_game(source, game)
        found = {one.game.board: one}
        seeds = {board: seed for board, seed in seeds.items() if board in found}
    boards = {board: SetBoard(seed) for board, seed in seeds.items()}
    for board, logged in found.items():
        if board not in boards:
            boards[board] = _dealt(logged, rules, seats)
    for board, seed in seeds.items():
        if not is_seed(rules, seed):
            raise UserError(f"{source}: the deals of board {board} are of another set of tiles.")
    if not boards:
        raise UserError(f"{source} has no deals: no game has begun there.")
    return SetDeals(source, tuple(boards[board] for board in sorted(boards)))


def _longest(source: Path, public: Mapping[int, bytes]) -> dict[int, LoggedGame]:
    """Return the game with the most rounds on each board whose seed is not public."""
    found: dict[int, LoggedGame] = {}
    for logged in chain.from_iterable(map(read_games, logs(source))):
        board = logged.game.board
        if board not in public and len(_rounds(logged)) > len(_rounds(found.get(board))):
            found[board] = logged
    return found


def _rounds(logged: LoggedGame | None) -> list[DealRecord]:
    """Return the deals that counted, one a round."""
    deals = (one for one in logged.records if isinstance(one, DealRecord)) if logged else ()
    return [*{one.round: one for one in deals if one.deal}.values()]


def _dealt(logged: LoggedGame, rules: Ruleset, seats: int) -> SetBoard:
    """Return the deals of a game and its first leader. Raises UserError."""
    tiles, rounds = set_of_tiles(rules.deal), _rounds(logged)
    orders = [[*chain(*one.hands, *one.stock)] for one in rounds]
    if any(sorted(order) != sorted(tiles) for order in orders):
        raise UserError(
            f"{logged.game.game} was played with another set of tiles than {rules.name} has."
        )
    if not rounds:
        raise UserError(f"{logged.game.game} has no deals: it had not begun.")
    placed = bytes(tiles.index(tile) for order in orders for tile in order)
    leader = rounds[0].leader if rounds[0].leader < seats else None
    return SetBoard(b"", placed, leader)
