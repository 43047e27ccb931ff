"""The deal and the beginning of a round: hands, deals that do not count, the lead, antes."""

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from arena.engine import scoring, turn
from arena.engine.shuffle import SEED, RandomWords, randbelow, shuffle
from arena.engine.state import Dealt, Game, Hand, Lots, Method, Phase, Round, TileRow
from protocol.messages import Annulled, Event, Guess, Guessed, Keep, Leads, Lot, Option, Refuse
from protocol.ruleset import (
    BY_DOUBLE,
    MOST_DEALS,
    Boneyard,
    Deal,
    Lead,
    Ruleset,
    Tile,
    hand_size,
    later_lot,
    set_of_tiles,
)

# The lead: the seat that begins a round, and the tile with which it begins.


ODD_OR_EVEN: tuple[Option, ...] = (Guess("odd"), Guess("even"))


def method(game: Game) -> Method:
    """Return the method that decides the leader of the next round (C.7)."""
    lead, before = game.rules.lead, game.round
    if before is None:
        return lead.first
    lead_method = lead.later
    if before.over == "blocked" and lead.after_blocked != "as_later":
        lead_method = lead.after_blocked
    if before.winner is None and lead.after_tie != "as_later":
        lead_method = lead.after_tie
    return later_lot(lead) if lead_method == "lot" else lead_method


def choose_leader(game: Game, method: Method, stream: RandomWords) -> tuple[int, Lots]:
    """Choose the leader as far as chance or the last round decides; draw the lots for it.

    If a double decides, the seat is the one that draws first if nobody holds the double; with odd
    and even it is the seat that guesses.
    """
    seats, before, deal = game.seats, game.round, game.rules.deal
    match method:
        case "random" | "highest_double" | "double_six":
            return randbelow(stream, seats), ()
        case "highest":
            return _by_lot(max, deal, seats, stream)
        case "lowest":
            return _by_lot(min, deal, seats, stream)
        case "count":
            lots = draw_lots(deal, range(seats), stream)
            return _total(lots) % seats, lots
        case "odd_even":
            return randbelow(stream, seats), draw_lots(deal, range(seats), stream)
        case "rotate" | "same" | "winner":
            assert before is not None
            return _later_leader(game, method, before.leader, before.winner), ()
        case _:
            assert_never(method)


def _later_leader(game: Game, method: str, leader: int, winner: int | None) -> int:
    """Return a later round's leader (C.9, C.10); `winner` without one keeps the leader."""
    if method == "rotate":
        return game.after(leader)
    return leader if method == "same" or winner is None else winner


def draw_lots(deal: Deal, seats: range | list[int], stream: RandomWords) -> Lots:
    """Draw and show a tile for each of these seats, from a freshly shuffled set."""
    tiles = shuffle(stream, set_of_tiles(deal))
    return tuple([Lot(seat, tile) for seat, tile in zip(seats, tiles, strict=False)])


def is_right_guess(lots: Lots, guess: Guess) -> bool:
    """Tell whether the total of the lots is odd or even as the seat guessed (C.11)."""
    return (_total(lots) % 2 == 1) == (guess.parity == "odd")


def _total(lots: Lots) -> int:
    return sum(sum(lot.tile) for lot in lots)


def _by_lot(
    best: Callable[[list[int]], int], deal: Deal, seats: int, stream: RandomWords
) -> tuple[int, Lots]:
    """Draw a tile for each seat; tied seats draw again from a freshly shuffled set (C.8, D)."""
    tied = list(range(seats))
    all_lots: Lots = ()
    while len(tied) > 1:
        lots = draw_lots(deal, tied, stream)
        all_lots += lots
        drawn = [sum(lot.tile) for lot in lots]
        wanted = best(drawn)
        tied = [seat for seat, pips in zip(tied, drawn, strict=True) if pips == wanted]
    return tied[0], all_lots


def lead_weight(tile: Tile) -> tuple[int, int]:
    """Return the weight of a tile: its pips, and among equals its larger end (C.16)."""
    return sum(tile), max(tile)


def holder_of(deal: Deal, method: Method, hands: tuple[Hand, ...]) -> tuple[int, Tile] | None:
    """Return the seat with the double that this method asks for, and that double."""
    wanted = [
        (tile[0], seat, tile)
        for seat, hand in enumerate(hands)
        for tile in hand
        if tile[0] == tile[1] and (method == "highest_double" or tile[0] == deal.highest_pip)
    ]
    return max(wanted)[1:] if wanted else None


def next_leader(hands: tuple[Hand, ...]) -> tuple[int, Tile]:
    """Return the seat with the highest double dealt, or without a double the heaviest tile."""
    pairs = [(tile, seat) for seat, hand in enumerate(hands) for tile in hand]
    tile, seat = max(pairs, key=lambda pair: (pair[0][0] == pair[0][1], lead_weight(pair[0])))
    return seat, tile


def required_lead(lead: Lead, hand: Hand, won_with: Tile | None) -> Tile | None:
    """Return the only tile that the leader may play first, or None for any (C.14-C.16)."""
    match lead.tile:
        case "any":
            return None
        case "set_double":
            return won_with
        case "highest":
            return next_leader((hand,))[1]
        case _:
            assert_never(lead.tile)


# --- the deal ---


KEEP_ONLY: tuple[Option, ...] = (Keep(),)
KEEP_OR_REFUSE: tuple[Option, ...] = (Keep(), Refuse())
DRAWN = 255
"""A place, in a deal that the user set, whose tile chance decides."""


def deal_tiles(
    rules: Ruleset, seats: int, stream: RandomWords, placed: bytes = b""
) -> tuple[tuple[Hand, ...], tuple[TileRow, ...]]:
    """Deal a shuffled hand to each seat, and the rest to the boneyard (C deal).

    `placed`: for each place of the order, the index in the set of the tile fixed there, or `DRAWN`.
    """
    tiles = set_of_tiles(rules.deal)
    is_whole = bool(placed) and DRAWN not in placed
    order = tiles if is_whole else tuple(shuffle(stream, tiles))
    if placed:
        fixed = {tiles[index] for index in placed if index != DRAWN}
        rest = iter([tile for tile in order if tile not in fixed])
        order = tuple([next(rest) if index == DRAWN else tiles[index] for index in placed])
    size = hand_size(rules.deal, seats)
    assert size is not None, "A game begins only at a table that its rules have."
    hands = tuple([order[seat * size : (seat + 1) * size] for seat in range(seats)])
    return hands, arrange_stock(rules.boneyard, order[seats * size :], seats)


def arrange_stock(boneyard: Boneyard, tiles: TileRow, seats: int) -> tuple[TileRow, ...]:
    """Lay the tiles that were not dealt in rows.

    A scattered boneyard has a row for each two seats: one of the two draws from the front and the
    other from the back. All face-down tiles are equally likely, so the chances of the game are the
    same as with one pile; but when the board is played again with other seats' bots, one seat's
    draws do not shift another's.
    """
    match boneyard.order:
        case "row":
            return (tiles,)
        case "scattered":
            rows = (seats + 1) // 2
            if rows == 1:
                return (tiles,)
            n = len(tiles)
            return tuple([tiles[n * row // rows : n * (row + 1) // rows] for row in range(rows)])
        case _:
            assert_never(boneyard.order)


def too_strong(deal: Deal, state: Round) -> int | None:
    """Return the first seat that must declare its hand: too many tiles of one number (C.6)."""
    if deal.annul_suit == 0:
        return None
    for seat, mask in enumerate(state.hand_masks):
        if any((mask & suit).bit_count() >= deal.annul_suit for suit in state.table.suits):
            return seat
    return None


def is_refusable(game: Game, state: Round) -> bool:
    """Tell whether a seat with many doubles could annul this deal (C.5).

    Then every seat is asked: a seat that is skipped would show that it holds few doubles.
    """
    doubles = game.rules.deal.refuse_doubles
    if doubles == 0 or state.phase.deal >= MOST_DEALS:
        return False
    return doubles <= (hand_size(game.rules.deal, game.seats) or 0)


def keep_or_refuse(game: Game, state: Round) -> tuple[Option, ...]:
    """Return the options about the deal (C.5); doubles drawn for the lead do not count."""
    dealt = state.hand(state.turn)[: hand_size(game.rules.deal, game.seats)]
    doubles = sum(high == low for high, low in dealt)
    return KEEP_OR_REFUSE if doubles >= game.rules.deal.refuse_doubles else KEEP_ONLY


def chance_decides(game: Game, seed: bytes) -> Dealt:
    """Return what the board's seed deals next: only lots if they are to be guessed, else tiles."""
    before = game.round
    if before is not None and before.over is None:
        return _tiles(game, seed, before.number, before.phase.deal + 1, before.phase.began, ())
    number = before.number + 1 if before else 1
    lead_method = method(game)
    leader, lots = choose_leader(game, lead_method, RandomWords(seed, number, "lead"))
    if lead_method == "odd_even":
        hands: tuple[Hand, ...] = ((),) * game.seats
        return Dealt(number, 0, leader, lots, hands, ())
    return _tiles(game, seed, number, 1, leader, lots)


def _tiles(game: Game, seed: bytes, number: int, deal: int, leader: int, lots: Lots) -> Dealt:
    purpose = "tiles" if deal == 1 else f"tiles {deal}"
    placed = _set_places(game.rules, seed, number) if deal == 1 else b""
    hands, stock = deal_tiles(game.rules, game.seats, RandomWords(seed, number, purpose), placed)
    return Dealt(number, deal, leader, lots, hands, stock)


def _set_places(rules: Ruleset, seed: bytes, number: int) -> bytes:
    """Return the tile of each place of a round, as a board's seed sets it; empty if it does not."""
    size = len(set_of_tiles(rules.deal))
    return seed[SEED + (number - 1) * size : SEED + number * size]


def count_set_rounds(rules: Ruleset, seed: bytes) -> int:
    """Count the rounds of which a board's seed sets tiles."""
    return (len(seed) - SEED) // len(set_of_tiles(rules.deal))


def first_hands(rules: Ruleset, seats: int, seed: bytes, number: int = 1) -> tuple[Hand, ...]:
    """Return the hands that a board's seed deals first in a round."""
    stream = RandomWords(seed, number, "tiles")
    return deal_tiles(rules, seats, stream, _set_places(rules, seed, number))[0]


def is_seed(rules: Ruleset, seed: bytes) -> bool:
    """Tell whether a seed has the right length, and in each round sets each tile at most once."""
    size, placed = len(set_of_tiles(rules.deal)), seed[SEED:]
    rounds = [placed[start : start + size] for start in range(0, len(placed), size)]
    return len(seed) >= SEED and all(len(row) == size and _is_order([*row], size) for row in rounds)


def _is_order(places: list[int], size: int) -> bool:
    fixed = [index for index in places if index != DRAWN]
    return len(set(fixed)) == len(fixed) and max(fixed, default=0) < size


def begin(game: Game, dealt: Dealt) -> None:
    """Begin a round after chance has decided, or deal it again."""
    lay_out(game, dealt)
    if dealt.deal > 0:
        find_leader(game)


def lay_out(game: Game, dealt: Dealt) -> None:
    """Begin a round as `begin` does, but stop before tiles are drawn or turned up for the lead."""
    before = game.round
    is_redeal = before is not None and before.number == dealt.round
    lead_method: Method = before.phase.method if before and is_redeal else method(game)
    history = before.history[:] if before and is_redeal else []
    if dealt.deal == 0:
        phase = Phase(
            0, lead_method, dealt.leader, "guess", (dealt.leader,), dealt.leader, None, dealt.lots
        )
        game.round = _fresh(game, dealt, history, phase)
        return
    phase = Phase(dealt.deal, lead_method, dealt.leader)
    game.round = _fresh(game, dealt, [*history, *dealt.lots], phase)


def _fresh(game: Game, dealt: Dealt, history: list[Event], phase: Phase) -> Round:
    rules, table = game.rules, game.settings.table
    bit = table.bit
    hands = [[bit[tile] for tile in hand] for hand in dealt.hands]
    rows = [[bit[tile] for tile in row] for row in dealt.stock]
    stock_size = sum([len(row) for row in rows])
    return Round(
        table,
        dealt.round,
        dealt.leader,
        hands,
        [sum(tiles) for tiles in hands],
        rows,
        stock_size,
        turn.drawable(rules.boneyard, rules.turn, stock_size),
        history,
        phase,
    )


def find_leader(game: Game) -> None:
    """Find the leader, unless the deal does not count.

    If both annul the deal, a hand too strong (C.6) counts before a double that nobody has (C.13).
    """
    state = game.playing
    lead_method = state.phase.method
    may_annul = state.phase.deal < MOST_DEALS
    strong = too_strong(game.rules.deal, state)
    if strong is not None and may_annul:
        return _annul(state, Annulled(strong, "suit"))
    won_with = None
    if lead_method in BY_DOUBLE:
        holder = holder_of(game.rules.deal, lead_method, state.hands)
        missing = game.rules.lead.missing
        if holder is None and missing == "redeal" and may_annul:
            return _annul(state, Annulled(None, "missing"))
        if holder is None and missing == "draw_for_it":
            holder = _draw_for_it(game, state)
        state.leader, won_with = holder or next_leader(state.hands)
        state.turn = state.leader
    if game.rules.lead.tile != "any":
        required = required_lead(game.rules.lead, state.hand(state.leader), won_with)
        state.phase = replace(state.phase, must_lead=required)
    state.history.append(Leads(state.leader))
    return _show(game, state)


def _draw_for_it(game: Game, state: Round) -> tuple[int, Tile] | None:
    """Let the seats draw a tile each in turn until one has the double, the reserve too (C.3)."""
    seat, holder = state.leader, None
    while state.stock_size and holder is None:
        turn.draw_tile(game, state, seat)
        holder = holder_of(game.rules.deal, state.phase.method, state.hands)
        seat = game.after(seat)
    state.drawn = 0
    return holder


def _show(game: Game, state: Round) -> None:
    """Turn up the starter, and ask the seats whether they keep the deal (E deal, C.5)."""
    if game.rules.deal.starter:
        turn.turn_up(state)
    if is_refusable(game, state):
        queue = game.order(state.leader)
        state.turn = queue[0]
        state.phase = replace(state.phase, name="keep", queue=queue, next_seat=state.leader)
    else:
        _open(game, state)


def _open(game: Game, state: Round) -> None:
    """Begin play, for the deal counts: the seats pay their antes, and the leader moves."""
    if state.phase.name != "play":
        state.phase = replace(state.phase, name="play", queue=())
    state.turn = state.leader
    scoring.ante(game)
    turn.settle(game, state)


def _annul(state: Round, event: Annulled) -> None:
    state.history.append(event)
    state.phase = replace(state.phase, name="deal", queue=())


def apply_keep(game: Game, state: Round, option: Keep | Refuse) -> None:
    """Let a seat keep the deal or refuse it (C.5)."""
    queue = state.phase.queue[1:]
    if isinstance(option, Refuse):
        _annul(state, Annulled(state.turn, "doubles"))
    elif queue:
        state.turn, state.phase = queue[0], replace(state.phase, queue=queue)
    else:
        _open(game, state)


def apply_guess(game: Game, state: Round, guess: Guess) -> None:
    """Show the lots: the seat that was right leads, and the tiles can be dealt (C.11)."""
    caller, lots = state.turn, state.phase.lots
    state.leader = caller if is_right_guess(lots, guess) else game.after(caller)
    state.history += [Guessed(caller, guess.parity), *lots]
    state.phase = Phase(0, state.phase.method, state.leader, "deal")
