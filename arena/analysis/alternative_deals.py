"""Rounds as values: from a line and back, and alternative deals, with which one seat would have
seen the same round.

What-if analyses and tests use them. This module states a second time, without the view, what is
public, because these deals test the view. The deals form a Markov chain of small changes, each
kept if the seat cannot tell the difference; each kind of change is as likely as its reverse, so in
the long run every deal that the seat cannot tell from the true one is equally frequent
(Metropolis).
"""

import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice, takewhile
from typing import NamedTuple

from msgspec import convert, to_builtins
from msgspec.structs import replace

from arena import engine
from arena.engine import view
from arena.engine.deal import arrange_stock, begin
from arena.engine.state import Dealt, Game, Hand, Opening, Phase, Round
from arena.rules.load import find_overrides, with_overrides
from arena.rules.variants import VARIANTS, find_variant
from protocol.errors import UserError
from protocol.messages import (
    Annulled,
    Bade,
    Call,
    Called,
    Drew,
    Event,
    GoOn,
    Guessed,
    Keep,
    Leads,
    Lot,
    Option,
    Passed,
    Played,
    PlayTwo,
    Refuse,
    TurnedUp,
)
from protocol.position import DealtTiles, Position, read_position, write_position
from protocol.ruleset import (
    Lead,
    Ruleset,
    Tile,
    check_seats,
    hand_size,
    high_first,
    later_lot,
    set_of_tiles,
)

SILENT = ("keep", "call")
"""Phases in which the usual answer leaves no event, so that it is not public."""
SILENT_ANSWERS = (Keep, GoOn)
"""The usual answers in those phases."""
MOVED_TILES = (2, 2, 2, 2, 3, 3, 4, 6)
"""Numbers of tiles that change places in a small change; repeated ones are more frequent."""
LARGE_SHARE = 0.2
"""The share of large changes: all tiles that nobody has shown, or the order within hands."""


class PublicMove(NamedTuple):
    """A seat's action that everybody saw."""

    seat: int
    option: Option
    fallback: bool = False
    """True if the seat has fouled, or fouls now: its first option is taken."""


class SeatQuestion(NamedTuple):
    """A state of a round, and the choice of the seat to move."""

    game: Game
    choice: int | None
    fallback: bool = False


class StopAt(NamedTuple):
    """A question to a seat, identified by public facts."""

    seat: int
    acts: int
    """The number of public moves in this round before it."""
    phase: str


class RoundHistory(NamedTuple):
    """A round: hidden deals and public moves."""

    start: Game
    deals: tuple[Dealt, ...]
    """The deals, annulled ones first."""
    acts: tuple[PublicMove, ...]


class Sample(NamedTuple):
    """A deal that a seat cannot tell from the true one, and the state that it leads to."""

    deal: RoundHistory
    game: Game


class InconsistentDealError(Exception):
    """An alternative deal with which the public moves could not have been played."""


# --- a round as everybody sees it ---


def replay_round(deal: RoundHistory, until: StopAt | None = None) -> Iterator[SeatQuestion]:
    """Yield every state of a round with its choice; stop before a question, or at the round's end.

    Raises InconsistentDealError if the moves cannot be played.
    """
    return (turn._replace(game=turn.game.copy()) for turn in _walk(deal, until))


def _walk(deal: RoundHistory, until: StopAt | None) -> Iterator[SeatQuestion]:
    """Yield as `replay_round` does, but always the same game, which goes on."""
    game, deals, done = deal.start.copy(), deque(deal.deals), 0
    while True:
        while engine.needs_deal(game) and deals:
            begin(game, deals.popleft())
        state, options = game.playing, engine.legal(game)
        if until == (state.turn, done, state.phase.name) and options:
            yield SeatQuestion(game, None)
            return
        if engine.needs_deal(game):
            if until or done < len(deal.acts) or not state.over:
                raise InconsistentDealError
            yield SeatQuestion(game, None)
            return
        act = deal.acts[done] if done < len(deal.acts) else None
        choice, loud = _choice(state, options, act)
        yield SeatQuestion(game, choice, bool(loud and act and act.fallback))
        engine.act_unchecked(game, options[choice])
        done += loud


def _choice(state: Round, options: tuple[Option, ...], act: PublicMove | None) -> tuple[int, bool]:
    """Return the index of the next choice, and whether everybody sees it."""
    due = act is not None and act.seat == state.turn
    if state.phase.name in SILENT and not (act and due and isinstance(act.option, Refuse | Call)):
        return options.index(Keep() if state.phase.name == "keep" else GoOn()), False
    if act is None or not due or act.option not in options[: 1 if act.fallback else None]:
        raise InconsistentDealError
    return options.index(act.option), True


def public(game: Game, seat: int) -> tuple[object, ...]:
    """Return all that the seat may know of a state, besides the moves that led there."""
    state = game.playing
    hands = tuple(map(sorted, state.hands)) if state.over else state.sizes
    return (
        state.number,
        state.line,
        state.over,
        state.winner,
        state.drawable,
        state.stock_size,
        state.hand(seat),
        hands,
        game.scores,
        game.points,
        game.pot,
        game.over,
        [
            ("drew", event.seat) if isinstance(event, Drew) and event.seat != seat else event
            for event in state.history
        ],
    )


# --- a position as a round, and back ---


PLAIN_RULES = "draw"
"""The game from which a line says how rules with a name of their own differ."""
MOST_CHANGES = 1_000
"""The most deals that are tried to follow a position by one event more."""
MIXING_STEPS = 500
"""The small changes after which the deal found first is forgotten: in 400 boards of draw, dutch and
partnership each tile was in a hand as often as after 60,000, within chance. They take 30 ms."""
MOST_DEALS_TRIED = 40_000
"""The most deals that are tried to reach a position: in a set of double-eighteen, half a minute."""
MOST_CLIMBS = 20
"""The most searches for hidden tiles, each from the same deal: long ones are rarely better."""


def position_of(history: RoundHistory, game: Game) -> Position:
    """Return the open position of a game at the question that a round has led to.

    Raises UserError if no words can say how the rules differ from a named game.
    """
    state, words = game.playing, name_rules(history.start.rules)
    phase = state.phase.name
    if not words or phase == "deal":
        raise UserError("A position cannot name these rules: a value of theirs needs a file.")
    deals = [
        DealtTiles(dealt.hands, (*chain(*dealt.stock),)) for dealt in history.deals if dealt.deal
    ]
    if phase == "guess":
        deals = [DealtTiles(tuple((lot.tile,) for lot in state.phase.lots))]
    return Position(
        rules=words,
        round=state.number,
        scores=history.start.scores,
        pot=history.start.pot,
        method=state.phase.method,
        events=tuple(view.history(state, state.turn)),
        deals=tuple(deals),
        seat=state.turn,
        phase=phase,
    )


@lru_cache(maxsize=64)
def name_rules(rules: Ruleset) -> str:
    """Return the rules of a game as a position names them; empty if no words do."""
    if rules.name not in VARIANTS:
        rules = replace(rules, name=PLAIN_RULES)
    words = find_overrides(rules)
    return "" if words is None else "+".join((rules.name, *words))


def find_round(position: Position) -> RoundHistory:
    """Return a round that leads to a position; where tiles are hidden, one of those that do.

    Raises UserError if the rules forbid the position, or no such round was found: then there is
    hardly any, but for sets of very many tiles.
    """
    if position.is_open or position.phase == "guess":
        return _round_of(position)
    if history := _search_round(write_position(position)):
        return history
    raise UserError(
        "No deal of the hidden tiles was found that leads to this position, in "
        f"{MOST_DEALS_TRIED:,} tries."
    )


@lru_cache(maxsize=8)
def _search_round(line: str) -> RoundHistory | None:
    """Return a round that leads to a position; None if none was found.

    Each board of an event from a position asks for it, and a stranger's event may be hard.
    """
    position = read_position(line)
    history, rng, tries = _round_of(position), random.Random(line), iter(range(MOST_DEALS_TRIED))
    climbs = (_climb(history, position, rng, tries) for _ in range(MOST_CLIMBS))
    return next(filter(None, climbs), None)


@lru_cache(maxsize=64)
def draw_opening(line: str, seed: bytes) -> Opening:
    """Return the beginning of a game that goes on from a position.

    The board's seed draws hidden tiles, of all deals with which the asked seat would have seen the
    same round, each about equally often. Raises UserError.
    """
    position = read_position(line)
    history = find_round(position)
    reach_question(history, position)
    until = _question_of(history, position)
    if not position.is_open:
        rng = random.Random(seed)
        samples = alternative_deals(history, position.seat, rng, until)
        history = next(islice(samples, MIXING_STEPS, None)).deal
    return _open_with(history, until)


def logged_opening(position: Position, deals: Iterable[Dealt]) -> Opening:
    """Return the beginning of a game that went on from a position, with the deals of its log.

    Raises UserError if they do not lead there.
    """
    start = _begin_round(position_rules(position), position)
    history = RoundHistory(start, tuple(deals), _moves(position.events))
    if not history.deals:
        return Opening(start, (), ())  # The log was cut off before them.
    reach_question(history, position)
    return _open_with(history, _question_of(history, position))


def _open_with(history: RoundHistory, until: StopAt) -> Opening:
    options = [
        engine.legal(turn.game)[turn.choice]
        for turn in _walk(history, until)
        if turn.choice is not None
    ]
    last = _last(history, until).playing.phase.deal
    deals = tuple(dealt for dealt in history.deals if dealt.deal <= last)
    return Opening(history.start, deals, tuple(options))


def _climb(
    history: RoundHistory, position: Position, rng: random.Random, tries: Iterator[int]
) -> RoundHistory | None:
    """Return the round with other hidden tiles, which lead to a position; None without success.

    Changes are kept while the round follows the position's events for as long as before. `tries`:
    those that are left to all climbs.
    """
    length, changes = _count_followed(history, position), 0
    while length <= len(position.events):
        if (changes := changes + 1) > MOST_CHANGES or next(tries, None) is None:
            return None
        deals = _changed(history.deals, position.seat, set(), rng)
        if changes % 2:
            next_event = position.events[length : length + 1]
            deals = (*deals[:-1], _moved(history.deals[-1], position.seat, next_event, rng))
        tried = history._replace(deals=deals)
        new_length = _count_followed(tried, position)
        if new_length >= length:
            changes = changes if new_length == length else 0
            history, length = tried, new_length
    return history


def position_rules(position: Position) -> Ruleset:
    """Return the rules of a position. Raises UserError."""
    name, *words = position.rules.split("+")
    return with_overrides(find_variant(name), words)


def _round_of(position: Position) -> RoundHistory:
    """Return the round of a position, with its hidden tiles anywhere. Raises UserError."""
    rules = position_rules(position)
    check_seats(rules, len(position.scores))
    if not position.is_open and position != position.as_seen():
        raise UserError("The position must have the asked seat's own tiles, or all tiles.")
    shown = [getattr(event, "tile", None) for event in position.events]
    for tile in (*shown, *chain(*chain(*(deal.hands for deal in position.deals)))):
        if tile and high_first(tile) not in set_of_tiles(rules.deal):
            raise UserError(f"The set of these rules has no tile {tile[0]}-{tile[1]}.")
    start = _begin_round(rules, position)
    return RoundHistory(start, (*_deals(rules, position),), _moves(position.events))


def reach_question(history: RoundHistory, position: Position) -> Game:
    """Return the game at a question. Raises UserError if the round does not lead to it."""
    with suppress(InconsistentDealError):
        game = _last(history, _question_of(history, position))
        if tuple(view.history(game.playing, position.seat)) == position.events:
            return game
    raise UserError("The position's tiles and events do not lead to its question.")


def _moved(dealt: Dealt, seat: int, events: Sequence[Event], rng: random.Random) -> Dealt:
    """Return the deal with the tile of an event, or any tile, in another place.

    The tiles of the seat stay.
    """
    flat, size = [*chain(*dealt.hands, *dealt.stock)], len(dealt.hands[seat])
    free = [place for place in range(len(flat)) if place // size != seat]
    first, second = rng.choices(free, k=2)
    for event in events:
        if isinstance(event, Played | TurnedUp | Drew) and event.tile:
            first = flat.index(high_first(event.tile))
    if first in free:
        flat[first], flat[second] = flat[second], flat[first]
    return _with_tiles(dealt, flat)


def _count_followed(history: RoundHistory, position: Position) -> int:
    """Count the first events to which a deal leads, and the question if it leads to that."""
    game, is_reached = history.start, False
    with suppress(InconsistentDealError):
        for turn in _walk(history, _question_of(history, position)):
            game = turn.game
        is_reached = True
    events = view.history(game.playing, position.seat)
    pairs = zip(events, position.events, strict=False)
    count = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return count + (is_reached and count == len(events) == len(position.events))


def _question_of(history: RoundHistory, position: Position) -> StopAt:
    return StopAt(position.seat, len(history.acts), position.phase)


def _begin_round(rules: Ruleset, position: Position) -> Game:
    """Return a game before the deal of a round. Raises UserError."""
    seats, lead = len(position.scores), rules.lead
    game = engine.new_game(rules, seats)
    game.scores, game.pot = position.scores, position.pot
    if position.round < 1 or engine.is_game_over(game, position.round - 1):
        raise UserError("With the position's scores and round the game is over, or has not begun.")
    if position.method not in lead_methods(lead, position.round):
        raise UserError(f"By these rules nobody leads round {position.round} by {position.method}.")
    if position.pot < 0 or (position.pot and not rules.stakes.pot):
        raise UserError(f"By these rules there is no pot of {position.pot} points.")
    # As if a deal had just been annulled: so the engine keeps the method and the history.
    phase = Phase(0, position.method, 0, "deal")
    hands, masks = [list[int]() for _ in range(seats)], [0] * seats
    game.round = Round(game.settings.table, position.round, 0, hands, masks, [], 0, 0, [], phase)
    return game


def lead_methods(lead: Lead, number: int) -> tuple[str, ...]:
    """Return the methods that may decide who leads a round of this number, from 1."""
    if number == 1:
        return (lead.first,)
    later = (lead.later, lead.after_blocked, lead.after_tie)
    methods = (later_lot(lead) if method == "lot" else method for method in later)
    return tuple(dict.fromkeys(method for method in methods if method != "as_later"))


def _deals(rules: Ruleset, position: Position) -> Iterator[Dealt]:
    """Yield the deals of a position, with hidden tiles anywhere. Raises UserError."""
    events, seats, number = position.events, len(position.scores), position.round
    lots = tuple(event for event in events if isinstance(event, Lot))
    is_guess = position.phase == "guess"
    size = 1 if is_guess else hand_size(rules.deal, seats) or 0
    deals = [_filled(dealt, set_of_tiles(rules.deal), size) for dealt in position.deals]
    if position.method == "odd_even":
        caller = next((event.seat for event in events if isinstance(event, Guessed)), position.seat)
        if is_guess:
            lots = tuple(Lot(seat, *hand[:1]) for seat, hand in enumerate(deals[0].hands))
        yield Dealt(number, 0, caller, lots, ((),) * seats, ())
        lots = ()
    leaders = [] if is_guess else [*_leaders(events)]
    if len(leaders) + is_guess != len(deals):
        raise UserError("The position must have one deal, and one before it for each annulled one.")
    for index, (leader, dealt) in enumerate(zip(leaders, deals, strict=False)):
        if sorted(chain(*dealt.hands, dealt.stock)) != list(set_of_tiles(rules.deal)) or {
            *map(len, dealt.hands)
        } != {size}:
            raise UserError("The position does not deal the set of these rules, each tile once.")
        stock = arrange_stock(rules.boneyard, dealt.stock, seats)
        yield Dealt(number, index + 1, leader, () if index else lots, dealt.hands, stock)


def _filled(dealt: DealtTiles, tiles: Sequence[Tile], size: int) -> DealtTiles:
    """Return a deal with hidden hands, of this size, and a hidden boneyard filled anyhow."""
    known = {*chain(*dealt.hands, dealt.stock)}
    rest = iter([tile for tile in tiles if tile not in known])
    hands = tuple(hand or (*islice(rest, size),) for hand in dealt.hands)
    return DealtTiles(hands, dealt.stock if all(dealt.hands) else (*rest,))


def _leaders(events: Iterable[Event]) -> Iterator[int]:
    """Yield for each deal the seat that leads, or that drew first for the double that leads."""
    leader = None
    for event in events:
        if isinstance(event, Leads | Drew) and leader is None:
            leader = event.seat
        elif isinstance(event, Annulled):
            yield leader or 0
            leader = None
    yield leader or 0


def _moves(events: Iterable[Event]) -> tuple[PublicMove, ...]:
    """Return the moves behind events; draws for the lead or after an auction are not moves."""
    moves, is_led, before = list[PublicMove](), False, None
    for event in events:
        # An auction's winner draws both tiles that are left.
        is_led = isinstance(event, Leads) or (is_led and not isinstance(event, Annulled | Bade))
        if isinstance(event, Annulled) and event.why == "doubles" and event.seat is not None:
            moves.append(PublicMove(event.seat, Refuse()))
        elif isinstance(event, Passed | Guessed | Bade | Called | Played) or (
            isinstance(event, Drew) and is_led
        ):
            moves.append(PublicMove(event.seat, _option(event)))
        if isinstance(before, Played) and isinstance(event, Played) and before.seat == event.seat:
            # Nobody else moves between two tiles of one turn.
            pair = PlayTwo(high_first(before.tile), high_first(event.tile))
            moves[-2:] = [PublicMove(event.seat, pair)]
        before = event
    return tuple(moves)


def _option(event: Event) -> Option:
    """Return the option of the same name; an event has its fields and more."""
    fields = to_builtins(event)
    if isinstance(event, Played):
        fields["tile"] = high_first(event.tile)
    option: Option = convert(fields, Option)
    return option


# --- alternative deals ---


def alternative_deals(
    deal: RoundHistory, seat: int, rng: random.Random, until: StopAt | None = None
) -> Iterator[Sample]:
    """Yield deals without end that the seat cannot tell from this one; each is close to the last.

    Raises InconsistentDealError if the moves cannot be played with the given deals.
    """
    acts = deal.acts[: until.acts] if until else deal.acts
    truth = _last(deal, until)
    facts, seen_tiles = public(truth, seat), _find_seen_tiles(truth, seat)
    deals = tuple(dealt for dealt in deal.deals if dealt.deal <= truth.playing.phase.deal)
    sample = Sample(RoundHistory(deal.start, deals, acts), truth)
    while True:
        tried = sample.deal._replace(deals=_changed(sample.deal.deals, seat, seen_tiles, rng))
        if tried.deals != sample.deal.deals:
            try:
                reached = _last(tried, until)
                sample = Sample(tried, reached) if public(reached, seat) == facts else sample
            except InconsistentDealError:
                pass
        yield sample


def _find_seen_tiles(truth: Game, seat: int) -> set[Tile]:
    state = truth.playing
    hands = state.hands if state.over else (state.hand(seat),)
    return {*map(high_first, state.line), *(tile for hand in hands for tile in hand)}


def _last(deal: RoundHistory, until: StopAt | None) -> Game:
    game = deal.start
    for turn in _walk(deal, until):
        game = turn.game
    return game


def _changed(
    deals: tuple[Dealt, ...], seat: int, seen_tiles: set[Tile], rng: random.Random
) -> tuple[Dealt, ...]:
    index = rng.randrange(len(deals))
    dealt = deals[index]
    if dealt.deal == 0:
        changed = _other_lots(dealt, rng)
    elif rng.random() < LARGE_SHARE / 2:
        changed = _shuffle_other_hands(dealt, seat, rng)
    else:
        changed = _other_places(dealt, seat, seen_tiles, rng)
    return (*deals[:index], changed, *deals[index + 1 :])


def _other_lots(dealt: Dealt, rng: random.Random) -> Dealt:
    tiles = rng.sample(set_of_tiles(Ruleset(name="any").deal), len(dealt.lots))
    lots = tuple(Lot(lot.seat, tile) for lot, tile in zip(dealt.lots, tiles, strict=True))
    return replace(dealt, lots=lots)


def _shuffle_other_hands(dealt: Dealt, seat: int, rng: random.Random) -> Dealt:
    hands = tuple(
        hand if other == seat else tuple(rng.sample(hand, len(hand)))
        for other, hand in enumerate(dealt.hands)
    )
    return replace(dealt, hands=hands)


def _other_places(dealt: Dealt, seat: int, seen_tiles: set[Tile], rng: random.Random) -> Dealt:
    """Return the deal with a few tiles of any kind moved, or all tiles that nobody has shown."""
    flat = [tile for row in (*dealt.hands, *dealt.stock) for tile in row]
    size = len(dealt.hands[0])
    own_places = range(seat * size, (seat + 1) * size)
    free = [place for place in range(len(flat)) if place not in own_places]
    if rng.random() < LARGE_SHARE:
        free = [place for place in free if flat[place] not in seen_tiles]
    else:
        free = rng.sample(free, min(len(free), rng.choice(MOVED_TILES)))
    tiles = rng.sample([flat[place] for place in free], len(free))
    for place, tile in zip(free, tiles, strict=True):
        flat[place] = tile
    return _with_tiles(dealt, flat)


def _with_tiles(dealt: Dealt, tiles: Iterable[Tile]) -> Dealt:
    """Return the deal with these tiles in its places, hand by hand and then the boneyard."""
    left = iter(tiles)

    def fill(rows: tuple[Hand, ...]) -> tuple[Hand, ...]:
        return tuple(tuple(next(left) for _ in row) for row in rows)

    return replace(dealt, hands=fill(dealt.hands), stock=fill(dealt.stock))
