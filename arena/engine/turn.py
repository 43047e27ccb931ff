"""A turn: the plays, draws and passes of the seat to move."""

from arena.engine import scoring
from arena.engine.state import Game, Round
from arena.engine.structs import Bit
from protocol.messages import Draw, End, Option, Pass, Play, PlayTwo
from protocol.tiles import Tile

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
    seat = state.turn
    found = plays_of_two(state, seat) if game.settings.two_tiles else plays_of_one(state, seat)
    if state.drawable and _may_draw(game, state, able=bool(found)):
        if found:
            return (*found, DRAW)
        return DRAW_OR_PASS if game.settings.draw_optional else ONLY_DRAW
    return found or ONLY_PASS


def plays_of_one(state: Round, seat: int) -> tuple[Option, ...]:
    """Return every play of a tile of this seat on the line, in the order of its hand."""
    ends = state.ends
    able, plays = state.hand_masks[seat] & ends.fitting, ends.plays
    # Mostly no tile fits, or a single one.
    if able in plays:
        return plays[able]
    found: tuple[Option, ...] = ()
    for bit in state.hand_bits[seat]:
        if bit & able:
            found += plays[bit]
    return found


def plays_of_two(state: Round, seat: int) -> tuple[Option, ...]:
    """Return every two tiles of this seat for opposite ends (E play); with equal ends each once.

    A last tile is played alone once no more may be drawn.
    """
    if not state.layout or (not state.drawable and state.hand_masks[seat].bit_count() == 1):
        return plays_of_one(state, seat)
    hand, tile, ends = state.hand_bits[seat], state.table.tile, state.ends
    on_left, on_right = state.table.suits[ends.left], state.table.suits[ends.right]
    found: list[Option] = []
    for at, one in enumerate(hand):
        if one & on_left:
            others: list[Bit] = hand[at + 1 :] if ends.left == ends.right else hand
            found += [
                PlayTwo(tile[one], tile[two]) for two in others if two & on_right and two != one
            ]
    return tuple(found)


def _may_draw(game: Game, state: Round, *, able: bool) -> bool:
    """Tell whether a seat may draw while tiles may be drawn.

    One that can play may by C.22, not by C.23; before the first tile only if the leader may (B, C;
    not D).
    """
    settings = game.settings
    if able and not (settings.draw_when_able and (settings.leader_may_draw or state.layout)):
        return False
    return state.drawn < settings.draw_limit and scoring.can_pay(game, state.turn)


def put(state: Round, tile: Tile, end: End) -> None:
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
