"""Endgames of two seats with the boneyard used up: each seat knows all tiles, so they are solved.

Whoever is to move looks for the most points that it can be sure of, by a search over all plays that
remembers each position. There is no draw left, so a position is two hands, two ends and a turn.
"""

from collections.abc import Iterator

from arena import engine
from arena.engine import scoring
from arena.engine.state import Game
from arena.engine.tile_table import Bit, Mask
from protocol.messages import Option, Pass, Play, Played, PlayTwo

MOST_TILES = 12
"""The most tiles in both hands: more take more than a few ms."""
BLOCKER_CALLED = ("blocker", "call")
"""A tie-break and an end of a round that are not solved together."""

Position = tuple[Mask, Mask, int, int, int]
"""The hands of the seat to move and of the other, the left and the right end, the seat to move."""


def is_open(game: Game) -> bool:
    """Tell whether the seat to move knows where every tile is."""
    return game.seats == 2 and game.playing.stock_size == 0


def exact_leads(game: Game) -> tuple[int, ...] | None:
    """Return what each option brings the seat to move if both seats then play perfectly.

    In points of lead to the round's end; None for a position that this search does not solve.
    """
    state, rules = game.playing, game.rules
    few = sum(map(len, state.hand_bits)) <= MOST_TILES
    # After a call the seat that played last need not be the one that moved last.
    plain = not game.settings.has_bonus and (rules.score.tie, rules.end.blocked) != BLOCKER_CALLED
    if not (is_open(game) and few and plain and state.layout and state.aside.phase == "play"):
        return None
    search = _Search(game)
    return tuple(search.lead_after(option) for option in engine.legal(game))


class _Search:
    """A search from one position; values are the lead of the seat to move, or that has moved."""

    def __init__(self, game: Game) -> None:
        self.game, self.table = game, game.settings.table
        self.scratch = game.playing.copy()
        self.found: dict[Position, int] = {}
        self.ended: dict[tuple[Mask, Mask, int, bool], int] = {}

    def lead_after(self, option: Option) -> int:
        """Return the lead of the seat to move after it has taken an option."""
        state = self.game.playing
        seat, ends = state.turn, state.ends
        own, other = state.hand_masks[seat], state.hand_masks[1 - seat]
        bit = self.table.bit
        match option:
            case Pass():
                return self._turn_over(own, other, ends.left, ends.right, seat)
            case Play(tile=tile, end=end):
                left, right = _put(tile, ends.left, ends.right, end == "left")
                return self._turn_over(own ^ bit[tile], other, left, right, seat)
            case PlayTwo(left=one, right=two):
                left, _ = _put(one, ends.left, ends.right, True)
                _, right = _put(two, ends.left, ends.right, False)
                return self._turn_over(own ^ bit[one] ^ bit[two], other, left, right, seat)
            case _:
                raise ValueError(f"Not an option of an endgame: {option}.")

    def _best(self, at: Position) -> int:
        """Return the lead that the seat to move can be sure of."""
        found = self.found.get(at)
        if found is None:
            own, other, left, right, seat = at
            found = max(
                self._turn_over(rest, other, *ends, seat)
                for rest, ends in self._moves(own, left, right)
            )
            self.found[at] = found
        return found

    def _turn_over(self, own: Mask, other: Mask, left: int, right: int, seat: int) -> int:
        """Return the lead of a seat whose turn is over."""
        if not own:
            return self._end(own, other, seat, out=True)
        suits = self.table.suits
        if self._is_blocked(own, other, left, right):
            return self._end(own, other, seat, out=False)
        if self.game.settings.dead_ends_to_call:
            held = own | other
            dead = (not held & suits[left]) + (not held & suits[right])
            if dead >= self.game.settings.dead_ends_to_call:
                # One of the two gains by a call, or neither loses by it.
                return self._end(own, other, seat, out=False)
        return -self._best((other, own, left, right, 1 - seat))

    def _is_blocked(self, own: Mask, other: Mask, left: int, right: int) -> bool:
        suits = self.table.suits
        if not (own | other) & (suits[left] | suits[right]):
            return True
        if not self.game.settings.two_tiles:
            return False
        return not any(_can_play(hand, suits[left], suits[right]) for hand in (own, other))

    def _moves(self, own: Mask, left: int, right: int) -> Iterator[tuple[Mask, tuple[int, int]]]:
        """Yield the hand and the ends after each play, or after a pass."""
        suits, tile = self.table.suits, self.table.tile
        two = self.game.settings.two_tiles and own & (own - 1)
        able = False
        for one in _bits(own & suits[left]):
            ends = _put(tile[one], left, right, True)
            if not two:
                able = True
                yield own ^ one, ends
                continue
            for another in _bits(own & suits[right] & ~one):
                able = True
                yield own ^ one ^ another, (ends[0], _put(tile[another], left, right, False)[1])
        if not two and left != right:
            for one in _bits(own & suits[right]):
                able = True
                yield own ^ one, _put(tile[one], left, right, False)
        if not able:
            yield own, (left, right)

    def _end(self, own: Mask, other: Mask, seat: int, *, out: bool) -> int:
        """Return the lead of a seat by a round's end; `out`: it has gone out."""
        at = own, other, seat, out
        found = self.ended.get(at)
        if found is None:
            found = self.ended[at] = self._scored(own, other, seat, out)
        return found

    def _scored(self, own: Mask, other: Mask, seat: int, out: bool) -> int:
        state, game = self.scratch, self.game
        hands = [list(_bits(own)), list(_bits(other))]
        state.hand_bits = hands if seat == 0 else hands[::-1]
        state.out = seat if out else None
        state.history = [Played(seat, (0, 0), "left")]  # Only its seat counts, if ties are broken.
        pips = scoring.pips_held(game, state)
        winner = scoring.winner(game, state, pips)
        if winner is None:
            return 0
        worth = scoring.round_points(game, state, winner, pips) + game.pot
        return worth if winner == seat else -worth


def _bits(mask: Mask) -> Iterator[Bit]:
    while mask:
        yield mask & -mask
        mask &= mask - 1


def _put(tile: tuple[int, int], left: int, right: int, on_left: bool) -> tuple[int, int]:
    """Return the ends after a tile was put on one."""
    inner = left if on_left else right
    outer = tile[1] if tile[0] == inner else tile[0]
    return (outer, right) if on_left else (left, outer)


def _can_play(hand: Mask, left: Mask, right: Mask) -> bool:
    """Tell whether a hand has two tiles for opposite ends, or is a last tile that fits."""
    fitting = hand & (left | right)
    if not hand & (hand - 1):
        return bool(fitting)
    return bool(hand & left and hand & right and fitting & (fitting - 1))
