"""A turn and its end: plays, draws and passes; the next seat, blocked rounds, points and places."""

from operator import sub

from msgspec.structs import replace

from arena.engine import boneyard, scoring
from arena.engine.state import Game, Round
from arena.engine.tables import Bit
from protocol.messages import (
    Call,
    Called,
    Draw,
    End,
    GoOn,
    Option,
    Pass,
    Play,
    PlayTwo,
    WhyGame,
    WhyRound,
)
from protocol.ruleset import Tile, count_sides

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
    return state.drawn < settings.draw_limit and scoring.can_pay(game, state.turn)


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
    elif settings.auction and boneyard.auction_opens(state):
        boneyard.auction(game, state)
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
    """Return why the game is over after so many rounds; None: the target needs one best score."""
    limits = game.rules.game
    if limits.rounds:
        return "rounds" if rounds >= limits.rounds else None
    sides = game.scores[: count_sides(game.rules.deal.partners, game.seats)]
    best = max(sides)
    if best >= game.target and sides.count(best) == 1:
        return "target"
    return "max_rounds" if rounds >= limits.max_rounds else None
