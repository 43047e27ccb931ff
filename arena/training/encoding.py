"""A question as a vector: all that a seat may know and that a game hangs on, as numbers.

The same function serves in training and at the table: what an agent has learnt in the environment
it is shown in the same places when it plays as a bot. With T tiles (in the order of
`protocol.tiles.tile_set`), P pips (0 to the highest) and n seats:

| part | length | meaning |
| --- | --- | --- |
| hand | T | 1 for each tile in the own hand |
| line | T | 1 for each tile in the line |
| left, right | P each | 1 for the pips that a tile must match; all 0 before the first tile |
| played | n x T | by seat: 1 for each tile that it has played in this round |
| passed | n x P | by seat: 1 if it passed on these pips and has drawn nothing since |
| drew | n x P | by seat: 1 if it drew a tile while a tile with these pips would have fitted |
| tiles | n | by seat: tiles that it holds, as a share of the set |
| leader | n | 1 for the seat that leads the round |
| scores | n | by seat: its score, as a share of the target, from -2 to 2 |
| boneyard | 2 | tiles that lie in it, and that may still be drawn, as shares of the set |
| passes | 1 | passes in a row, as a share of the seats |
| round | 1 | the round's number, as a share of all that can be played |
| pot | 1 | points in the pot, as a share of the target, at most 2 |
| bids | n | by seat: its last bid, as a share of all chips; only where there is an auction |

"By seat" begins with the own seat and goes on in the order of play, so that with partners the
third is the own partner. Nothing else is looked at than the question, which is what a bot is sent.
"""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from arena.training.actions import Actions
from protocol.messages import (
    Annulled,
    Ask,
    Bade,
    Drew,
    Leads,
    Passed,
    Played,
    TurnedUp,
)
from protocol.rules import Ruleset, by_seats, check_seats, the_set
from protocol.tiles import turned

Vector = NDArray[np.float32]
"""A question; see the table above."""
MOST = 2.0
"""The bound of what is a share of the target: scores go beyond it by less than this."""


class Encoding:
    """How the questions of one game, at a table of so many seats, become vectors."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        """Lay out the vector.

        Raises ImpossibleRulesError when the game is not played at such a table.
        """
        check_seats(rules, seats)
        tiles = the_set(rules.deal)
        self.actions = Actions(rules, seats)
        self.parts = _laid_out(_lengths(rules, seats, len(tiles)))
        """Where each part of the vector lies."""
        self.size = max(part.stop for part in self.parts.values())
        """The vector's length."""
        self._seats = seats
        self._step = 1 if rules.deal.direction == "clockwise" else -1
        self._tiles = len(tiles)
        self._pips = rules.deal.highest_pip + 1
        self._target = by_seats(rules.game.target, seats)
        self._rounds = rules.game.rounds or rules.game.max_rounds
        self._chips = seats * rules.stakes.chips if rules.boneyard.auction else 0
        self._number = {way: at for at, tile in enumerate(tiles) for way in (tile, turned(tile))}
        self._at = {name: part.start for name, part in self.parts.items()}

    def vector(self, ask: Ask) -> Vector:
        """The question as numbers."""
        past = self._past(ask)
        vector = np.zeros(self.size, np.float32)
        vector[self._present(ask) + past.ones] = 1
        vector[self.parts["passes"]] = min(1.0, past.passes / self._seats)
        self._put_shares(vector, ask)
        return vector

    def bounds(self) -> tuple[Vector, Vector]:
        """The least and the greatest value of each number of a vector."""
        low, high = np.zeros(self.size, np.float32), np.ones(self.size, np.float32)
        low[self.parts["scores"]] = -MOST
        high[self.parts["scores"]] = high[self.parts["pot"]] = MOST
        return low, high

    def order(self, seat: int) -> tuple[int, ...]:
        """All seats in the order of play, this one first."""
        return tuple((seat + turn * self._step) % self._seats for turn in range(self._seats))

    def _present(self, ask: Ask) -> list[int]:
        """Where the vector has a 1 for what lies on the table and in the hand."""
        at, number = self._at, self._number
        hand, line = at["hand"], at["line"]
        ones = [hand + number[tile] for tile in ask.hand]
        ones += [line + number[tile] for tile in ask.line]
        if ask.ends:
            ones += at["left"] + ask.ends[0], at["right"] + ask.ends[1]
        return ones

    def _past(self, ask: Ask) -> "_Past":
        """Where it has a 1 for what the seats have done: the events, from the first to the last."""
        at, pips = self._at, self._pips
        place = {seat: turn for turn, seat in enumerate(self.order(ask.seat))}
        past = _Past(self._seats)
        for event in ask.events:
            match event:
                case Played():
                    tile = place[event.seat] * self._tiles + self._number[event.tile]
                    past.played(at["played"] + tile, event)
                case Drew():
                    turn = place[event.seat]
                    past.drew(turn, at["drew"] + turn * pips)
                case Passed():
                    turn = place[event.seat]
                    past.passed(turn, at["passed"] + turn * pips)
                case Leads():
                    past.ones.append(at["leader"] + place[event.seat])
                case TurnedUp():
                    past.ends = event.tile
                case Annulled():
                    past = _Past(self._seats)
                case _:
                    pass  # Lots and guesses are forgotten, bids are told apart.
        past.ones += [one for lacks in past.lacks for one in lacks]
        return past

    def _put_shares(self, vector: Vector, ask: Ask) -> None:
        parts, order, stock = self.parts, self.order(ask.seat), ask.boneyard
        vector[parts["tiles"]] = [ask.hands[seat] / self._tiles for seat in order]
        vector[parts["scores"]] = [self._of_target(ask.scores[seat]) for seat in order]
        vector[parts["boneyard"]] = stock.tiles / self._tiles, stock.drawable / self._tiles
        vector[parts["round"]] = min(1.0, ask.round / self._rounds)
        vector[parts["pot"]] = self._of_target(ask.pot)
        if self._chips:
            last = {event.seat: event.chips for event in ask.events if isinstance(event, Bade)}
            vector[parts["bids"]] = [min(1.0, last.get(seat, 0) / self._chips) for seat in order]

    def _of_target(self, points: int) -> float:
        return max(-MOST, min(MOST, points / self._target))


class _Past:
    """What the events that were read so far leave behind."""

    def __init__(self, seats: int) -> None:
        self.ones: list[int] = []
        self.lacks: list[set[int]] = [set() for _ in range(seats)]
        self.ends: tuple[int, ...] = ()
        self.passes = 0

    def played(self, one: int, event: Played) -> None:
        self.ones.append(one)
        self.passes = 0
        left, right = event.tile
        if event.end == "left":
            self.ends = (left, self.ends[1])
        elif event.end == "right":
            self.ends = (self.ends[0], right)
        else:
            self.ends = (left, right)

    def drew(self, turn: int, first: int) -> None:
        self.ones += [first + end for end in self.ends]
        self.lacks[turn].clear()
        self.passes = 0

    def passed(self, turn: int, first: int) -> None:
        self.lacks[turn].update(first + end for end in self.ends)
        self.passes += 1


def _lengths(rules: Ruleset, seats: int, tiles: int) -> dict[str, int]:
    pips = rules.deal.highest_pip + 1
    lengths = {"hand": tiles, "line": tiles, "left": pips, "right": pips}
    lengths |= {"played": seats * tiles, "passed": seats * pips, "drew": seats * pips}
    lengths |= {"tiles": seats, "leader": seats, "scores": seats}
    lengths |= {"boneyard": 2, "passes": 1, "round": 1, "pot": 1}
    return lengths | ({"bids": seats} if rules.boneyard.auction else {})


def _laid_out(lengths: dict[str, int]) -> dict[str, slice]:
    ends = list(accumulate(lengths.values()))
    starts = [0, *ends[:-1]]
    return {name: slice(*where) for name, *where in zip(lengths, starts, ends, strict=True)}
