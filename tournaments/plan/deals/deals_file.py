"""Deals that the organiser sets: a file with a board a line, tile by tile or as a seed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from arena.engine.deal import DRAWN, is_seed
from arena.rules.english import count_in_digits
from arena.rules.user_file import read_user_file
from protocol.codec import DamagedRecordError, decode_json
from protocol.errors import UserError
from protocol.records import Seed
from protocol.ruleset import Ruleset, hand_size, set_of_tiles
from protocol.tiles import Tile, high_first
from protocol.validation import convert_or_explain

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
    """The boards, the first one first."""


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
    for number, line in _lines(path):
        try:
            said = convert_or_explain(decode_json(line, Any), WrittenBoard, "")
            boards.append(_board(said, rules, seats))
        except (DamagedRecordError, UserError) as error:
            end = "" if f"{error}".endswith((".", "?")) else "."
            raise UserError(f"{path}, line {number}: {error}{end}") from None
    if not boards:
        raise UserError(f"{path} has no deals. Write a line for each board; see `help events`.")
    return SetDeals(path, tuple(boards))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers. Raises UserError."""
    for number, line in enumerate(read_user_file(path, LONGEST).split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _board(said: WrittenBoard, rules: Ruleset, seats: int) -> SetBoard:
    """Return what a line sets. Raises UserError with the path inside it."""
    own = said.hands or said.boneyard
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
    tiles, size = set_of_tiles(rules.deal), hand_size(rules.deal, seats) or 0
    places = [DRAWN] * len(tiles)
    if len(said.hands) > seats:
        raise UserError(f"{at}hands has {len(said.hands)} hands, but the table {seats} seats.")
    parts = [(f"{at}hands[{seat}]", seat * size, size) for seat in range(len(said.hands))]
    parts.append((f"{at}boneyard", seats * size, len(tiles) - seats * size))
    before: dict[int, str] = {}
    for (where, first, room), part in zip(parts, (*said.hands, said.boneyard), strict=True):
        if len(part) > room:
            tiles_given = count_in_digits(len(part), "tile")
            raise UserError(f"{where} has {tiles_given}, but {rules.name} deals {room} there.")
        for n, tile in enumerate(part):
            if high_first(tile) not in tiles:
                raise UserError(f"{where}[{n}] is {_shown(tile)}, which {rules.name}'s set lacks.")
            index = tiles.index(high_first(tile))
            if index in before:
                raise UserError(f"{where}[{n}] is {_shown(tile)}, as {before[index]} is already.")
            before[index] = f"{where}[{n}]"
            places[first + n] = index
    return bytes(places)


def _shown(tile: Tile) -> str:
    return "{}-{}".format(*tile)
