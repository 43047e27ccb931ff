"""The deal and the beginning of a round: hands, deals that do not count, the lead, antes."""

from msgspec.structs import replace

from arena.engine import boneyard, lead, round_end, scoring
from arena.engine.shuffle import RandomWords, shuffle
from arena.engine.state import Dealt, Game, Hand, Interlude, Lots, Round, Row
from protocol.messages import Annulled, Event, Guess, Guessed, Keep, Leads, Option, Refuse, TurnedUp
from protocol.ruleset import BY_DOUBLE, MOST_DEALS, Deal, Ruleset, hand_size, set_of_tiles
from protocol.tiles import Tile

KEEP: tuple[Option, ...] = (Keep(),)
KEEP_OR_REFUSE: tuple[Option, ...] = (Keep(), Refuse())


def deal_tiles(
    rules: Ruleset, seats: int, stream: RandomWords
) -> tuple[tuple[Hand, ...], tuple[Row, ...]]:
    """Deal a shuffled hand to each seat, and the rest to the boneyard (C deal)."""
    order = tuple(shuffle(stream, set_of_tiles(rules.deal)))
    size = hand_size(rules.deal, seats)
    assert size is not None, "A game begins only at a table that its rules have."
    hands = tuple(order[seat * size : (seat + 1) * size] for seat in range(seats))
    return hands, boneyard.arrange(rules.boneyard, order[seats * size :], seats)


def too_strong(deal: Deal, hands: tuple[Hand, ...]) -> int | None:
    """Return the first seat that must declare its hand: too many tiles of one number (C.6)."""
    if deal.annul_suit == 0:
        return None
    for seat, hand in enumerate(hands):
        for pip in range(deal.highest_pip + 1):
            if sum(pip in tile for tile in hand) >= deal.annul_suit:
                return seat
    return None


def is_refusable(game: Game, state: Round) -> bool:
    """Tell whether a seat with many doubles could annul this deal (C.5).

    Then every seat is asked: a seat that is skipped would show that it holds few doubles.
    """
    size = hand_size(game.rules.deal, game.seats) or 0
    return 0 < game.rules.deal.refuse_doubles <= size and state.aside.deal < MOST_DEALS


def keep_or_refuse(game: Game, state: Round) -> tuple[Option, ...]:
    """Return the options about the deal (C.5), without the tiles that were drawn for the lead."""
    dealt = state.hands[state.turn][: hand_size(game.rules.deal, game.seats)]
    doubles = sum(high == low for high, low in dealt)
    return KEEP_OR_REFUSE if doubles >= game.rules.deal.refuse_doubles else KEEP


def chance_decides(game: Game, seed: bytes) -> Dealt:
    """Return what the board's seed deals next: only lots if they are to be guessed, else tiles."""
    before = game.round
    if before is not None and before.over is None:
        return _tiles(game, seed, before.number, before.aside.deal + 1, before.aside.began, ())
    number = before.number + 1 if before else 1
    how = lead.method(game)
    leader, lots = lead.choose_leader(game, how, RandomWords(seed, number, "lead"))
    if how == "odd_even":
        none: tuple[Hand, ...] = ((),) * game.seats
        return Dealt(number, 0, leader, lots, none, ())
    return _tiles(game, seed, number, 1, leader, lots)


def _tiles(game: Game, seed: bytes, number: int, which: int, leader: int, lots: Lots) -> Dealt:
    purpose = "tiles" if which == 1 else f"tiles {which}"
    hands, stock = deal_tiles(game.rules, game.seats, RandomWords(seed, number, purpose))
    return Dealt(number, which, leader, lots, hands, stock)


def begin(game: Game, dealt: Dealt) -> Game:
    """Return the game after chance has decided: a round begins, or it is dealt again."""
    before = game.round
    again = before is not None and before.number == dealt.round
    how, events = (before.aside.how, before.events) if before and again else (lead.method(game), ())
    if dealt.deal == 0:
        aside = Interlude(
            0, how, dealt.leader, "guess", (dealt.leader,), dealt.leader, None, dealt.lots
        )
        return replace(game, round=_fresh(game, dealt, events, aside))
    state = _fresh(game, dealt, (*events, *dealt.lots), Interlude(dealt.deal, how, dealt.leader))
    return _led(game, state)


def _fresh(game: Game, dealt: Dealt, events: tuple[Event, ...], aside: Interlude) -> Round:
    rules = game.rules
    left = boneyard.drawable(rules.boneyard, rules.turn, dealt.stock)
    return Round(
        dealt.round,
        dealt.leader,
        dealt.leader,
        dealt.hands,
        dealt.stock,
        left,
        (),
        0,
        0,
        events,
        aside,
    )


def _led(game: Game, state: Round) -> Game:
    """Find the leader, unless the deal does not count.

    The order matters where both hold: a hand is declared (C.6) before the double is missed (C.13).
    """
    how = state.aside.how
    may_annul = state.aside.deal < MOST_DEALS
    strong = too_strong(game.rules.deal, state.hands)
    if strong is not None and may_annul:
        return _annulled(game, state, Annulled(strong, "suit"))
    won_with = None
    if how in BY_DOUBLE:
        held = lead.holder_of(game.rules.deal, how, state.hands)
        missing = game.rules.lead.missing
        if held is None and missing == "redeal" and may_annul:
            return _annulled(game, state, Annulled(None, "missing"))
        if held is None and missing == "draw_for_it":
            state, held = _drawn_for(game, state)
        leader, won_with = held or lead.next_leader(state.hands)
        state = replace(state, leader=leader, turn=leader)
    required = lead.required(game.rules.lead, state.hands[state.leader], won_with)
    aside = replace(state.aside, must_lead=required)
    events = (*state.events, Leads(state.leader))
    return _shown(game, replace(state, events=events, aside=aside))


def _drawn_for(game: Game, state: Round) -> tuple[Round, tuple[int, Tile] | None]:
    """Let the seats draw a tile each in turn until one has the double, the reserve too (C.3)."""
    seat = state.leader
    while boneyard.count(state.stock):
        state = boneyard.draw_tile(game, state, seat)
        held = lead.holder_of(game.rules.deal, state.aside.how, state.hands)
        if held:
            return replace(state, drawn=0), held
        seat = game.after(seat)
    return replace(state, drawn=0), None


def _shown(game: Game, state: Round) -> Game:
    """Turn up the starter, and ask the seats whether they keep the deal (E deal, C.5)."""
    if game.rules.deal.starter:
        at = next(at for at, row in enumerate(state.stock) if row)
        tile, rest = state.stock[at][0], state.stock[at][1:]
        stock = (*state.stock[:at], rest, *state.stock[at + 1 :])
        rules = game.rules
        state = replace(
            state,
            line=(tile,),
            stock=stock,
            drawable=boneyard.drawable(rules.boneyard, rules.turn, stock),
            events=(*state.events, TurnedUp(tile)),
        )
    if is_refusable(game, state):
        queue = game.order(state.leader)
        aside = replace(state.aside, phase="keep", queue=queue, then=state.leader)
        return replace(game, round=replace(state, turn=queue[0], aside=aside))
    return _opened(game, state)


def _opened(game: Game, state: Round) -> Game:
    """Begin play, for the deal counts: the seats pay their antes, and the leader moves."""
    aside = replace(state.aside, phase="play", queue=())
    state = replace(state, turn=state.leader, aside=aside)
    return round_end.settle(scoring.ante(game), state)


def _annulled(game: Game, state: Round, event: Annulled) -> Game:
    aside = replace(state.aside, phase="deal", queue=())
    return replace(game, round=replace(state, events=(*state.events, event), aside=aside))


def apply_keep(game: Game, state: Round, option: Keep | Refuse) -> Game:
    """Return the game after a seat has kept the deal or refused it (C.5)."""
    if isinstance(option, Refuse):
        return _annulled(game, state, Annulled(state.turn, "doubles"))
    queue = state.aside.queue[1:]
    if not queue:
        return _opened(game, state)
    aside = replace(state.aside, queue=queue)
    return replace(game, round=replace(state, turn=queue[0], aside=aside))


def apply_guess(game: Game, state: Round, guess: Guess) -> Game:
    """Show the lots: the seat that was right leads, and the tiles can be dealt (C.11)."""
    caller, lots = state.turn, state.aside.lots
    leader = caller if lead.is_right_guess(lots, guess) else game.after(caller)
    events = (*state.events, Guessed(caller, guess.parity), *lots)
    return replace(
        game,
        round=replace(
            state, leader=leader, events=events, aside=Interlude(0, state.aside.how, leader, "deal")
        ),
    )
