"""Games as learners have them: questions as vectors, options as numbers, games without bots."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import add
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena import engine
from arena.analysis.frames import PassesAndDraws, with_ends
from arena.analysis.timeline import AnswerRecord, AskedQuestion, Timeline
from arena.engine import view
from arena.engine.deal import begin, chance_decides
from arena.engine.state import Game
from arena.logs.gamelog import LoggedGame
from arena.match.referee import needs_answer
from protocol.messages import (
    Annulled,
    Ask,
    Bade,
    Bid,
    Call,
    Clock,
    Draw,
    Drew,
    End,
    Event,
    GoOn,
    Guess,
    Keep,
    Leads,
    Option,
    Pass,
    Passed,
    Play,
    Played,
    PlayTwo,
    Refuse,
)
from protocol.records import RoundRecord
from protocol.ruleset import (
    Ruleset,
    Tile,
    check_seats,
    count_sides,
    flip,
    set_of_tiles,
    side_of,
    target,
)

# Numbers for options: every option that a game can offer has one, the same at every moment.
#
# The numbers run in blocks; a block exists only if the rules can offer its options. With T tiles,
# in the order of `protocol.ruleset.tile_set` (0-0, 1-0, 1-1, 2-0, ...):
#
# | block | numbers | where |
# | --- | --- | --- |
# | play a tile on the left | T, by tile | |
# | play a tile on the right | T, by tile | |
# | lead a tile | T, by tile | |
# | draw, pass | 2 | |
# | play two tiles | T x T, by the left tile, then by the right one | two tiles a turn |
# | keep, refuse the deal | 2 | deals may be refused |
# | guess odd, even | 2 | odd or even decides who leads |
# | bid 0, 1, 2, ... chips | 1 + seats x the chips that each begins with | an auction |
# | call, go on | 2 | blocked rounds are called |
#
# A seat that receives chips from outside the table (where points for a round are paid in chips)
# could bid more than the table began with; such bids have no number and are not offered. No named
# game pays chips so.


ChoiceMask = NDArray[np.int8]
"""An array with 1 for each number that may be chosen."""
PLAY_ENDS: tuple[End, ...] = ("left", "right", "lead")


class Actions:
    """A two-way mapping between the options of a game and their numbers."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        self.options: tuple[Option, ...] = tuple(_options(rules, seats))
        """Every option; its index is its number."""
        self.numbers = {option: number for number, option in enumerate(self.options)}

    def mask(self, options: Iterable[Option]) -> ChoiceMask:
        """Return 1 for each of these options and 0 for all others."""
        mask = np.zeros(len(self.options), np.int8)
        mask[[self.numbers[option] for option in options if option in self.numbers]] = 1
        return mask

    def choice(self, number: int, options: Sequence[Option]) -> int:
        """Return the index of the numbered option in the list of a question.

        Raises ValueError if the question does not offer it.
        """
        if not (0 <= number < len(self.options) and self.options[number] in options):
            raise ValueError(f"Action {number} is not offered now.")
        return options.index(self.options[number])


def _options(rules: Ruleset, seats: int) -> Iterator[Option]:
    tiles = set_of_tiles(rules.deal)
    for end in PLAY_ENDS:
        yield from (Play(tile, end) for tile in tiles)
    yield from (Draw(), Pass())
    if rules.turn.tiles == 2:
        yield from (PlayTwo(left, right) for left in tiles for right in tiles)
    if rules.deal.refuse_doubles:
        yield from (Keep(), Refuse())
    if rules.lead.first == "odd_even":
        yield from (Guess("odd"), Guess("even"))
    if rules.boneyard.auction:
        yield from map(Bid, range(1 + seats * rules.stakes.chips))
    if rules.end.blocked == "call":
        yield from (Call(), GoOn())


# A question as a vector: all that a seat may know and that matters for the game, as numbers.
#
# The same function serves in training and at the table: an agent finds the same facts at the same
# indices in the environment and when it plays as a bot. With T tiles (in the order of
# `protocol.ruleset.tile_set`), P pips (0 to the highest) and n seats:
#
# | part | length | meaning |
# | --- | --- | --- |
# | hand | T | 1 for each tile in the seat's own hand |
# | line | T | 1 for each tile in the line |
# | left, right | P each | 1 for the pips that a tile must match; all 0 before the first tile |
# | played | n x T | by seat: 1 for each tile that it has played in this round |
# | passed | n x P | by seat: 1 if it passed on these pips and has drawn nothing since |
# | drew | n x P | by seat: 1 if it drew a tile while a tile with these pips would have fitted |
# | leader | n | by seat: 1 if it leads the round |
# | tiles | n | by seat: tiles that it holds, as a share of the set |
# | scores | n | by seat: its score, as a share of the target, from -2 to 2 |
# | boneyard | 2 | tiles in it, and tiles that may still be drawn, as shares of the set |
# | passes | 1 | passes in a row, as a share of the seats |
# | round | 1 | the round's number, as a share of all that can be played |
# | pot | 1 | points in the pot, as a share of the target, at most 2 |
# | bids | n | by seat: its last bid, as a share of all chips; only if there is an auction |
#
# "By seat" begins with the own seat and goes on in the order of play, so that with partners the
# third is the own partner. The encoding uses only the question, which a bot receives too.


Vector = NDArray[np.float32]
MAX_TARGET_SHARE = 2.0
"""The most that a share of the target may be, above or below 0: larger ones are cut."""


class Encoding:
    """The layout of the vectors for the questions of one game with a number of seats."""

    def __init__(self, rules: Ruleset, seats: int) -> None:
        """Lay out the vector. Raises ImpossibleRulesError if the game has no table of this size."""
        check_seats(rules, seats)
        tiles = set_of_tiles(rules.deal)
        self.actions = Actions(rules, seats)
        pips = self._pips = rules.deal.highest_pip + 1
        lengths = {"hand": len(tiles), "line": len(tiles), "left": pips, "right": pips}
        lengths |= {"played": seats * len(tiles), "passed": seats * pips, "drew": seats * pips}
        lengths |= {"leader": seats, "tiles": seats, "scores": seats}
        lengths |= {"boneyard": 2, "passes": 1, "round": 1, "pot": 1}
        lengths |= {"bids": seats} if rules.boneyard.auction else {}
        starts = accumulate(lengths.values(), initial=0)
        self._bases = dict(zip(lengths, starts, strict=False))
        self.parts = {name: slice(base, base + lengths[name]) for name, base in self._bases.items()}
        """The slice of each part of the vector."""
        self.size = sum(lengths.values())
        self._seats = seats
        self._step = 1 if rules.deal.direction == "clockwise" else -1
        self._tiles = len(tiles)
        self._target = target(rules, seats)
        self._rounds = rules.game.rounds or rules.game.max_rounds
        self._chips = seats * rules.stakes.chips if rules.boneyard.auction else 0
        self._number = {way: slot for slot, tile in enumerate(tiles) for way in (tile, flip(tile))}

    def vector(self, ask: Ask) -> Vector:
        """Return the question as a vector."""
        order = self.order(ask.seat)
        past = _Past(self._seats, ask.events)
        vector = np.zeros(self.size, np.float32)
        vector[self._present(ask) + self._done(past, order)] = 1
        vector[self._bases["tiles"] :] = self._shares(ask, order, past)
        return vector

    def bounds(self) -> tuple[Vector, Vector]:
        """Return the least and the greatest value of each number of a vector."""
        low, high = np.zeros(self.size, np.float32), np.ones(self.size, np.float32)
        low[self.parts["scores"]] = -MAX_TARGET_SHARE
        high[self.parts["scores"]] = high[self.parts["pot"]] = MAX_TARGET_SHARE
        return low, high

    def order(self, seat: int) -> tuple[int, ...]:
        """Return all seats in the order of play, this one first."""
        return tuple((seat + turn * self._step) % self._seats for turn in range(self._seats))

    def _present(self, ask: Ask) -> list[int]:
        bases, number = self._bases, self._number
        hand, line = bases["hand"], bases["line"]
        indices = [hand + number[tile] for tile in ask.hand]
        indices += [line + number[tile] for tile in ask.line]
        if ask.ends:
            indices += bases["left"] + ask.ends[0], bases["right"] + ask.ends[1]
        return indices

    def _done(self, past: "_Past", order: tuple[int, ...]) -> list[int]:
        """Return the indices of the ones for the past actions of the seats."""
        bases, number, indices, acts = self._bases, self._number, list[int](), past.acts
        for turn, seat in enumerate(order):
            played = bases["played"] + turn * self._tiles
            indices += [played + number[tile] for tile in past.played[seat]]
            first = turn * self._pips
            for base, by_seat in ((bases["passed"], acts.passed), (bases["drew"], acts.drew)):
                if bits := by_seat[seat]:
                    indices += [base + first + n for n in range(self._pips) if bits >> n & 1]
        if past.leader is not None:
            indices.append(bases["leader"] + order.index(past.leader))
        return indices

    def _shares(self, ask: Ask, order: tuple[int, ...], past: "_Past") -> list[float]:
        """Return the values after the parts of 0 and 1, in their order."""
        tiles, stock = self._tiles, ask.boneyard
        shares = [ask.hands[seat] / tiles for seat in order]
        shares += [self._of_target(ask.scores[seat]) for seat in order]
        shares += stock.tiles / tiles, stock.drawable / tiles
        shares += min(1.0, past.passes / self._seats), min(1.0, ask.round / self._rounds)
        shares.append(self._of_target(ask.pot))
        if self._chips:
            shares += [min(1.0, past.bids.get(seat, 0) / self._chips) for seat in order]
        return shares

    def _of_target(self, points: int) -> float:
        return max(-MAX_TARGET_SHARE, min(MAX_TARGET_SHARE, points / self._target))


class _Past:
    """Facts about each seat, gathered from the events of a round."""

    def __init__(self, seats: int, events: Sequence[Event]) -> None:
        """Read the events in their order; most of the encoding's time is spent here."""
        self.played: list[list[Tile]] = [[] for _ in range(seats)]
        self.acts = PassesAndDraws([0] * seats, [0] * seats)
        self.bids: dict[int, int] = {}
        self.leader: int | None = None
        self.passes = 0
        for event, ends in with_ends(events):
            if isinstance(event, Played):
                self.played[event.seat].append(event.tile)
                self.passes = 0
            elif isinstance(event, Drew):
                self.acts.add_draw(event.seat, 1 << ends[0] | 1 << ends[1] if ends else 0)
                self.passes = 0
            elif isinstance(event, Passed):
                self.acts.add_pass(event.seat, 1 << ends[0] | 1 << ends[1])
                self.passes += 1
            elif isinstance(event, Annulled):  # Nobody has led or passed.
                self.acts, self.leader = PassesAndDraws([0] * seats, [0] * seats), None
            elif isinstance(event, Leads):
                self.leader = event.seat
            elif isinstance(event, Bade):
                self.bids[event.seat] = event.chips


# One game without bots, clock or log: its questions, actions and rewards, and how it looks.


Reward = Literal["points", "places"]
"""The kind of reward of a step; see `arena.training.boneyard_v0`."""
Rewards = tuple[float, ...]
TRAINING_CLOCK = Clock()
"""The clock of a table, on which a seat without an alternative is not asked."""


class Episode:
    """A game from its first question to its end."""

    def __init__(self, rules: Ruleset, seats: int, seed: bytes, reward: Reward) -> None:
        """Deal and go on to the first question; `seed` is a board's, and fixes every deal.

        Raises ImpossibleRulesError if the game has no table of this size.
        """
        self.game = engine.new_game(rules, seats)
        """The complete state of the game."""
        self.options: tuple[Option, ...] = ()
        """The options of the seat to move; none once the game is over."""
        self._seed = seed
        self._reward = reward
        self._before = self.game.scores
        self._owed = (0.0,) * seats
        # Rewards of rounds in which no seat had a choice are added to the first step.
        self._owed = self._go_on()

    @property
    def seat(self) -> int:
        """Return the seat that is asked."""
        return self.game.playing.turn

    def question(self, seat: int) -> Ask:
        """Return all that a seat may know now; only the seat that is asked gets options."""
        return seat_question(self.game, seat, self.options if seat == self.seat else ())

    def act(self, option: Option) -> Rewards:
        """Take one of the options and go on to the next question; return the reward of each seat.

        Raises IllegalOptionError if the option is not offered.
        """
        if option not in self.options:
            raise engine.IllegalOptionError(f"Not offered: {option}. Take one of `options`.")
        engine.act_unchecked(self.game, option)
        return self._go_on()

    def _go_on(self) -> Rewards:
        """Deal and take forced actions until a seat has a choice or the game ends."""
        game = self.game
        rewards, self._owed = self._owed, (0.0,) * game.seats
        while True:
            if game.round and game.round.over:
                gained = round_margins(game.rules, self._before, game.scores)
                if self._reward == "places":
                    gained = standing(game) if game.over else (0.0,) * game.seats
                rewards, self._before = tuple(map(add, rewards, gained)), game.scores
            if game.over:
                self.options = ()
                return rewards
            if engine.needs_deal(game):
                begin(game, chance_decides(game, self._seed))
                continue
            self.options = engine.legal(game)
            if needs_answer(TRAINING_CLOCK, self.options, fouled=False):
                return rewards
            engine.act_unchecked(game, self.options[0])


def seat_question(game: Game, seat: int, options: tuple[Option, ...]) -> Ask:
    """Return a seat's view of a game as the question that a table would ask."""
    events = view.history(game.playing, seat)
    return view.question(game, seat, options, events, id=0, number=0, time_ms=0)


def round_margins(rules: Ruleset, before: Sequence[int], after: Sequence[Any]) -> Rewards:
    """Return for each seat the change of its score less the mean change of its rivals' scores."""
    changes = [now - old for now, old in zip(after, before, strict=True)]
    return tuple(change - sum(rivals) / len(rivals) for change, rivals in _rivals(rules, changes))


def standing(game: Game) -> Rewards:
    """Return for each seat the share of rivals ranked below it minus the share ranked above it."""
    return tuple(
        sum((place > rank) - (place < rank) for place in rivals) / len(rivals)
        for rank, rivals in _rivals(game.rules, engine.places(game))
    )


def _rivals(rules: Ruleset, values: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield each seat's value and its rivals' values: all other seats, or the other side, once."""
    partners = rules.deal.partners
    sides = range(count_sides(partners, len(values)))
    for seat, value in enumerate(values):
        yield value, [values[side] for side in sides if side != side_of(partners, seat)]


# The decisions of a logged game as examples to learn from, in the numbers of the environment.


class DecisionRow(NamedTuple):
    """An answered question to a seat, in the encoding of the training environment."""

    question: AskedQuestion
    answer: AnswerRecord
    vector: Vector
    mask: ChoiceMask
    action: int | None
    """The number of the chosen option; None: the seat fouled, or the option has no number."""


def decision_rows(
    timeline: Timeline, encoding: Encoding, seats: Iterable[int]
) -> Iterator[DecisionRow]:
    """Yield the answered questions to these seats, in the order in which they were asked."""
    numbers = encoding.actions.numbers
    questions = [question for seat in seats for question in timeline.questions(seat)]
    for question in sorted(questions, key=lambda question: question.index):
        if question.answer:
            ask = seat_question(question.game, question.seat, question.options)
            choice = question.choice
            action = None if choice is None else numbers.get(question.options[choice])
            mask = encoding.actions.mask(question.options)
            yield DecisionRow(question, question.answer, encoding.vector(ask), mask, action)


def margins_by_round(logged: LoggedGame) -> dict[int, Rewards]:
    """Return the environment's reward of each seat for each finished round, in points."""
    before, margins = (0,) * len(logged.sitting.seats), dict[int, Rewards]()
    for record in logged.records:
        if isinstance(record, RoundRecord):
            margins[record.round] = round_margins(logged.sitting.rules, before, record.scores)
            before = record.scores
    return margins
