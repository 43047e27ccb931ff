"""A turn and its end: plays, draws, passes and bids; the next seat, blocked rounds, points."""

from operator import sub

from msgspec.structs import replace

from arena.engine import scoring
from arena.engine.state import Game, Round
from arena.engine.tables import Bit, Settings
from protocol.messages import (
    Bade,
    Bid,
    Call,
    Called,
    Draw,
    Drew,
    End,
    GoOn,
    Option,
    Pass,
    Play,
    PlayTwo,
    TurnedUp,
    WhyGame,
    WhyRound,
)
from protocol.ruleset import Boneyard, Tile, Turn, count_sides

# A turn: the plays, draws and passes of the seat to move.


DRAW = Draw()
PASS = Pass()
ONLY_DRAW: tuple[Option, ...] = (DRAW,)
ONLY_PASS: tuple[Option, ...] = (PASS,)
DRAW_OR_PASS: tuple[Option, ...] = (DRAW, PASS)


def options(game: Game, state: Round) -> tuple[Option, ...]:
    """Return the options of the seat to move: plays, then a draw, then a pass.

    The order matters: the first option is the one that the referee takes for a seat that fouled.
    """
    if not state.layout and (required := state.phase.must_lead) is not None:
        return (Play(required, "lead"),)
    if game.settings.two_at_once and state.drawn == 1 and state.drawable:
        return ONLY_DRAW
    seat = state.turn
    plays = plays_of_two(state, seat) if game.settings.two_tiles else plays_of_one(state, seat)
    if state.drawable and _may_draw(game, state, able=bool(plays)):
        if plays:
            return (*plays, DRAW)
        return DRAW_OR_PASS if game.settings.draw_optional else ONLY_DRAW
    return plays or ONLY_PASS


def plays_of_one(state: Round, seat: int) -> tuple[Option, ...]:
    """Return every play of a tile of this seat on the line, in the order of its hand."""
    ends = state.ends
    able, plays = state.hand_masks[seat] & ends.fitting, ends.plays
    # Mostly no tile fits, or a single one.
    if able in plays:
        return plays[able]
    options: tuple[Option, ...] = ()
    for bit in state.hand_bits[seat]:
        if bit & able:
            options += plays[bit]
    return options


def plays_of_two(state: Round, seat: int) -> tuple[Option, ...]:
    """Return every two tiles of this seat for opposite ends (E play); with equal ends each once.

    A last tile is played alone once no more may be drawn.
    """
    if not state.layout or (not state.drawable and state.hand_masks[seat].bit_count() == 1):
        return plays_of_one(state, seat)
    hand, tile, ends = state.hand_bits[seat], state.table.tile, state.ends
    on_left, on_right = state.table.suits[ends.left], state.table.suits[ends.right]
    options: list[Option] = []
    for index, first in enumerate(hand):
        if first & on_left:
            others: list[Bit] = hand[index + 1 :] if ends.left == ends.right else hand
            options += [
                PlayTwo(tile[first], tile[two]) for two in others if two & on_right and two != first
            ]
    return tuple(options)


def _may_draw(game: Game, state: Round, *, able: bool) -> bool:
    """Tell whether a seat may draw while tiles may be drawn.

    One that can play may by C.22, not by C.23; before the first tile only if the leader may (B, C;
    not D).
    """
    settings = game.settings
    if able and not (settings.draw_when_able and (settings.leader_may_draw or state.layout)):
        return False
    if state.drawn >= settings.draw_limit:
        return False
    # Without chips a score may go below 0 (C.27).
    return settings.chips == 0 or scoring.chips(game, state.turn) >= settings.fee


def put_tile(state: Round, tile: Tile, end: End) -> None:
    """Move a tile from the hand of the seat to move to an end of the line."""
    seat, ends = state.turn, state.ends
    if end == "left":
        landing = ends.on_left[tile]
        state.ends = landing.next_ends[ends.right]
        state.layout.insert(0, landing.tile)
    elif end == "right":
        landing = ends.on_right[tile]
        state.ends = landing.next_ends[ends.left]
        state.layout.append(landing.tile)
    else:
        landing = ends.on_left[tile]
        state.ends = landing.next_ends[0]
        state.layout.append(tile)
    bit = landing.bit
    state.history.append(landing.events[seat])
    state.hand_bits[seat].remove(bit)
    state.hand_masks[seat] ^= bit
    state.held_mask ^= bit
    state.line_mask |= bit
    state.passes = 0


def pass_turn(game: Game, state: Round) -> None:
    """Let the seat to move do nothing."""
    state.history.append(game.settings.pass_events[state.turn])
    state.passes += 1


# The boneyard: draws from it, and the auction of its last tiles.


AUCTIONED_TILES = 2
"""The number of tiles that are auctioned together (C.26)."""
MOST_BIDS = 400
"""The most bids that a question lists besides a check and the whole of a seat's chips.

With more the options would not fit into a line of the protocol (`MAX_LINE`).
"""


def drawable(boneyard: Boneyard, turn: Turn, stock_size: int) -> int:
    """Return the number of tiles that may still be drawn (C.25, C.26): 0 in a block game."""
    return max(0, stock_size - boneyard.reserve) if turn.draw_limit else 0


def take(settings: Settings, state: Round, seat: int) -> Bit:
    """Take from the boneyard the tile that this seat draws next.

    From a single row all seats draw at the same end (C Egypt); see `Settings`.
    """
    rows = state.stock_rows
    _count_down(state)
    # A seat whose own row is empty draws from the next row that is not, in a circle.
    index = settings.own_row[seat]
    while not rows[index]:
        index = (index + 1) % len(rows)
    return rows[index].pop(-1 if settings.from_back[seat] else 0)


def _count_down(state: Round) -> None:
    """Count a tile that leaves the boneyard; once only the reserve is left none is drawable."""
    state.stock_size -= 1
    if state.drawable:
        state.drawable -= 1


def turn_up(state: Round) -> None:
    """Begin the line with the front tile of the first row that has any (E deal)."""
    row = next(row for row in state.stock_rows if row)
    tile = state.table.tile[row.pop(0)]
    _count_down(state)
    state.lay([tile])
    state.history.append(TurnedUp(tile))


def draw_tile(game: Game, state: Round, seat: int) -> None:
    """Let a seat draw a tile; the caller decides whose turn it is then."""
    bit = take(game.settings, state, seat)
    state.hand_bits[seat].append(bit)
    state.hand_masks[seat] |= bit
    state.held_mask |= bit
    state.drawn += 1
    state.passes = 0
    state.history.append(Drew(seat, state.table.tile[bit]))


def auction_opens(state: Round) -> bool:
    """Tell whether the last two tiles are auctioned now, once in a round (C.26)."""
    return not state.phase.auctioned and state.stock_size == AUCTIONED_TILES


def open_auction(game: Game, state: Round) -> None:
    """Open the auction: it goes round the table twice, from the seat whose turn it is (C.26)."""
    queue = game.order(state.turn) * 2
    state.phase = replace(state.phase, name="auction", queue=queue, next_seat=state.turn)


def legal_bids(game: Game, state: Round) -> tuple[Bid, ...]:
    """Return a check, and the bids above the highest so far, up to the seat's chips.

    A question must fit into a line: of very many bids only the lowest are listed, and the highest.
    """
    higher = range(state.phase.bid + 1, scoring.chips(game, state.turn) + 1)
    offers = [*higher[:MOST_BIDS], *higher[MOST_BIDS:][-1:]]
    return Bid(0), *(Bid(chips) for chips in offers)


def apply_bid(game: Game, state: Round, bid: Bid) -> None:
    """Bid, or check; after the last bid the highest bidder pays and draws both tiles."""
    seat, phase = state.turn, state.phase
    state.history.append(Bade(seat, bid.chips))
    if bid.chips:
        phase = replace(phase, bid=bid.chips, bidder=seat)
    queue = phase.queue[1:]
    if queue:
        state.turn, state.phase = queue[0], replace(phase, queue=queue)
        return
    state.turn = phase.next_seat
    state.phase = replace(phase, name="play", queue=(), auctioned=True)
    if phase.bid == 0:
        return
    for _ in range(AUCTIONED_TILES):
        draw_tile(game, state, phase.bidder)
    state.drawn = 0
    scoring.pay(game, phase.bidder, phase.bid)


# The end of a turn, a round and a game: the next turn, blocked rounds, points and places.


CALL_OR_GO_ON: tuple[Option, ...] = (Call(), GoOn())


def is_blocked(game: Game, state: Round) -> bool:
    """Tell whether the round is over although every seat still holds tiles (C play, C.20).

    If no seat can play or draw, none is asked to pass, either.
    """
    settings = game.settings
    if not state.drawable:
        # Before the first tile every tile fits.
        if not state.held_mask & state.ends.fitting:
            return True
        if settings.two_tiles and not _anybody_can_play(game, state):
            return True
    return settings.blocks_early and _is_blocked_early(game, state)


def _anybody_can_play(game: Game, state: Round) -> bool:
    return any(plays_of_two(state, seat) for seat in range(game.seats))


def _is_blocked_early(game: Game, state: Round) -> bool:
    """Tell whether a round ends in which a seat could still draw.

    Everybody has passed instead (C.27), or both ends are dead (C.20).
    """
    settings = game.settings
    if settings.draw_optional and state.layout and state.passes >= game.seats:
        return True
    return 0 < settings.dead_ends_to_end <= dead_ends(state)


def dead_ends(state: Round) -> int:
    """Return the number of ends whose number is dead: all its tiles have been played."""
    return sum(not suit & ~state.line_mask for suit in state.ends.suits)


def can_be_called(game: Game, state: Round) -> bool:
    """Tell whether a seat may call the round blocked, where the rules allow it (E play)."""
    return dead_ends(state) >= game.settings.dead_ends_to_call


def ask_everybody(game: Game, state: Round) -> None:
    """Ask every seat whether it calls the round blocked, the next to move first."""
    queue = game.order(state.turn)
    state.phase = replace(state.phase, name="call", queue=queue, next_seat=state.turn)


def apply_answer(game: Game, state: Round, answer: Call | GoOn) -> None:
    """End the round if a seat has called; else ask the next, and go on after the last."""
    if isinstance(answer, Call):
        state.history.append(Called(state.turn))
        end_round(game, state, "blocked")
        return
    phase = state.phase
    queue = phase.queue[1:]
    if queue:
        state.turn, state.phase = queue[0], replace(phase, queue=queue)
    else:
        state.turn, state.phase = phase.next_seat, replace(phase, name="play", queue=())


def next_turn(game: Game, state: Round) -> None:
    """End a turn: a seat went out, or the last tiles are auctioned, or the next seat moves."""
    settings, seat = game.settings, state.turn
    state.turn = settings.after[seat]
    state.drawn = 0
    if not state.hand_masks[seat]:
        state.out = seat
        end_round(game, state, "out")
    elif settings.plain_turns:
        # Most games: what `settle` does, without its questions.
        if not state.drawable and not state.held_mask & state.ends.fitting:
            end_round(game, state, "blocked")
    elif settings.auction and auction_opens(state):
        open_auction(game, state)
    else:
        settle(game, state)


def settle(game: Game, state: Round) -> None:
    """Begin a turn: first see whether the round is blocked, or a seat may call it so."""
    if is_blocked(game, state):
        end_round(game, state, "blocked")
    elif game.settings.dead_ends_to_call and can_be_called(game, state):
        ask_everybody(game, state)


def end_round(game: Game, state: Round, why: WhyRound) -> None:
    """End a round: credit its points and the pot to the winner."""
    before, pips = game.scores, scoring.pips_held(game, state)
    state.over, state.winner = why, scoring.winner(game, state, pips)
    if state.winner is not None:
        worth = scoring.round_points(game, state, state.winner, pips) + game.pot
        game.scores, game.pot = scoring.credit(game, state.winner, worth), 0
    game.points = tuple(map(sub, game.scores, before))
    game.over = why_over(game, state.number)


def why_over(game: Game, rounds: int) -> WhyGame | None:
    """Return why the game is over after so many rounds; None: it goes on.

    It goes on, too, while two sides share the best score.
    """
    limits = game.rules.game
    if limits.rounds:
        return "rounds" if rounds >= limits.rounds else None
    sides = game.scores[: count_sides(game.rules.deal.partners, game.seats)]
    best = max(sides)
    if best >= game.target and sides.count(best) == 1:
        return "target"
    return "max_rounds" if rounds >= limits.max_rounds else None
