"""Deals that the organiser sets, by a file or by game logs, and seeds that satisfy a filter."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from arena import engine
from arena.analysis.find import logs, refuse_others, require_one_game, require_path
from arena.engine.boneyard import arrange
from arena.engine.deal import DRAWN, first_hands, is_seed
from arena.engine.shuffle import board_seed
from arena.logs.board_promises import SEEDS, published_seeds
from arena.logs.gamelog import LoggedGame, read_games
from arena.rules.english import count_in_digits
from arena.rules.user_file import read_user_file
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError
from protocol.records import DealRecord, Seed
from protocol.ruleset import Ruleset, hand_size, set_of_tiles
from protocol.tiles import Tile, high_first
from protocol.validation import convert_or_explain
from tournaments.plan.deals.deal_filter import parse_filter
from tournaments.plan.event import Event

LONGEST = 1 << 26
"""The most bytes of a file of deals: more than a hundred thousand boards take."""
MOST_ROUNDS = 100
"""The most rounds of a board that a file sets."""


class SetBoard(NamedTuple):
    """The part of a board that the organiser sets; the board's own seed decides the rest."""

    seed: bytes = b""
    """A whole seed, which decides everything; empty: there is none."""
    placed: bytes = b""
    """For each round the tile of each place, as `arena.engine.deal` reads it after a seed."""
    leader: int | None = None
    """The seat that leads the first round, or guesses for it, if chance decides that."""


class SetDeals(NamedTuple):
    """The deals that the organiser sets."""

    source: Path
    """The file or folder that has them, which no bot may read."""
    boards: tuple[SetBoard, ...]


def too_few_deals(deals: SetDeals, boards: int) -> UserError:
    """Return the error for an event with more boards than are set."""
    count = count_in_digits(len(deals.boards), "board")
    return UserError(
        f"{deals.source} has the deals of {count}, but the event plays {boards} in all. Add deals, "
        "or choose fewer boards (boards)."
    )


class WrittenRound(Struct, frozen=True, forbid_unknown_fields=True):
    """A round in a file of deals."""

    hands: tuple[tuple[Tile, ...], ...] = ()
    """The tiles of each seat; a shorter hand is filled by chance."""
    boneyard: tuple[Tile, ...] = ()
    """The tiles of the boneyard, from the front; chance decides the others."""
    draws: tuple[tuple[Tile, ...], ...] = ()
    """The tiles of the boneyard that each seat draws first, while its own row has any."""


class WrittenBoard(WrittenRound, frozen=True, forbid_unknown_fields=True):
    """A line of a file of deals."""

    rounds: tuple[WrittenRound, ...] = ()
    """Several rounds, in place of `hands` and `boneyard`."""
    leader: int | None = None
    """The seat that leads the first round, if chance decides that."""
    seed: Seed | None = None
    """The seed of the board, in place of all others: a line of a `seeds.jsonl`."""
    board: int | None = None
    """The board's number where the seed comes from; it has no effect."""


def read_deals(path: Path, rules: Ruleset, seats: int) -> SetDeals:
    """Read a file of deals for a table. Raises UserError with the file, the line and the path."""
    boards: list[SetBoard] = []
    for number, line in enumerate(read_user_file(path, LONGEST).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            said = convert_or_explain(decode_json(line, Any), WrittenBoard, "")
            boards.append(_board(said, rules, seats))
        except (DamagedRecordError, UserError) as error:
            end = "" if f"{error}".endswith((".", "?")) else "."
            raise UserError(f"{path}, line {number}: {error}{end}") from None
    if not boards:
        raise UserError(f"{path} has no deals. Write a line for each board; see `help events`.")
    return SetDeals(path, tuple(boards))


def _board(said: WrittenBoard, rules: Ruleset, seats: int) -> SetBoard:
    """Return what a line sets. Raises UserError with the path inside it."""
    own = said.hands or said.boneyard or said.draws
    if sum(map(bool, (said.seed, said.rounds, own))) != 1:
        raise UserError('A board needs either "hands" (with "boneyard"), "rounds" or "seed".')
    if said.leader is not None and (said.seed or not 0 <= said.leader < seats):
        reason = "the seed decides it" if said.seed else f"the seats are 0 to {seats - 1}"
        raise UserError(f"leader cannot be {said.leader}: {reason}.")
    if said.seed:
        seed = bytes.fromhex(said.seed)
        if not is_seed(rules, seed):
            raise UserError(f"seed sets tiles that are not a whole set of {rules.name}.")
        return SetBoard(seed)
    if len(said.rounds) > MOST_ROUNDS:
        raise UserError(f"rounds has {len(said.rounds)} entries; at most {MOST_ROUNDS} can be set.")
    if own:
        return SetBoard(b"", _placed(said, rules, seats, ""), said.leader)
    rounds = (_placed(one, rules, seats, f"rounds[{n}].") for n, one in enumerate(said.rounds))
    return SetBoard(b"", b"".join(rounds), said.leader)


def _placed(said: WrittenRound, rules: Ruleset, seats: int, at: str) -> bytes:
    """Return the tile of each place of a round, by its place in the set."""
    tiles = set_of_tiles(rules.deal)
    places = [DRAWN] * len(tiles)
    before: dict[int, str] = {}
    for where, room, part in _parts(said, rules, seats, at):
        if len(part) > len(room):
            tiles_given = count_in_digits(len(part), "tile")
            raise UserError(f"{where} has {tiles_given}, but {rules.name} deals {len(room)} there.")
        for n, tile in enumerate(part):
            if high_first(tile) not in tiles:
                raise UserError(f"{where}[{n}] is {_shown(tile)}, which {rules.name}'s set lacks.")
            index = tiles.index(high_first(tile))
            if index in before:
                raise UserError(f"{where}[{n}] is {_shown(tile)}, as {before[index]} is already.")
            before[index] = f"{where}[{n}]"
            if places[room[n]] != DRAWN:
                raise UserError(f"{where}[{n}] has the place of {before[places[room[n]]]}.")
            places[room[n]] = index
    return bytes(places)


def _parts(
    said: WrittenRound, rules: Ruleset, seats: int, at: str
) -> Iterator[tuple[str, Sequence[int], Sequence[Tile]]]:
    """Yield each list of tiles with its path and the places of the order that it fills."""
    for name, lists in (("hands", said.hands), ("draws", said.draws)):
        if len(lists) > seats:
            raise UserError(f"{at}{name} has {len(lists)} lists, but the table {seats} seats.")
    size = hand_size(rules.deal, seats) or 0
    for seat, hand in enumerate(said.hands):
        yield f"{at}hands[{seat}]", range(seat * size, (seat + 1) * size), hand
    tiles = set_of_tiles(rules.deal)
    yield f"{at}boneyard", range(seats * size, len(tiles)), said.boneyard
    # The rows of the set in its own order: each tile's place there is a place of any order.
    rows = arrange(rules.boneyard, tuple(tiles[seats * size :]), seats)
    settings = engine.new_game(rules, seats).settings
    for seat, drawn in enumerate(said.draws):
        row = [tiles.index(tile) for tile in rows[settings.own_row[seat]]]
        yield f"{at}draws[{seat}]", row[::-1] if settings.from_back[seat] else row, drawn


def _shown(tile: Tile) -> str:
    return "{}-{}".format(*tile)


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


MOST_ATTEMPTS = 200_000
"""Seeds that are tried for a board: some 5 s."""


def draw_seed(event: Event, secret: bytes, board: int, given: SetBoard) -> bytes:
    """Return the seed of a board: the first from the secret that satisfies what is wanted.

    Raises UserError if no attempt does.
    """
    if given.seed:
        return given.seed
    new = engine.new_game(event.rules, event.seats)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        seed = board_seed(secret, event.name, board, attempt)
        leader = None if given.leader is None else engine.chance_decides(new, seed).leader
        if leader == given.leader and (leader is not None or satisfies(event, seed)):
            return seed + given.placed
    raise UserError(
        f"None of {MOST_ATTEMPTS:,} deals of {event.rules.name} satisfies "
        f"{' and '.join(event.deals_with)}. Choose a weaker filter (--deals-with)."
    )


def satisfies(event: Event, seed: bytes) -> bool:
    """Tell whether a board's first deal satisfies all filters of the event."""
    filters = [parse_filter(text) for text in event.deals_with]
    if not filters:
        return True
    hands = first_hands(event.rules, event.seats, seed)
    return all(one.accepts(hands) for one in filters)
