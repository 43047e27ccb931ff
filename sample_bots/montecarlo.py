"""Determinised Monte Carlo: imagine the hidden tiles, play the round to its end, count, repeat.

The rung above counting.py. Instead of judging a play by rules of thumb it tries what comes of it:

1. Deal the unseen tiles at random to the other seats and the boneyard: a *world*. It must fit
   the events: a seat that passed or drew had no tile for the ends of that moment, so every tile
   that it holds since then must not fit them (`slots_of`).
2. In that world try every option, and let all seats play on by a policy that looks at its own
   hand only, much as counting.py does, with some chance in it. At the end count the points.
3. After a quarter of the worlds only the two best options are tried on, which is where more
   worlds still help; in the end take the one with the best mean.

All options are tried in the same worlds, so that luck falls on all alike and few worlds suffice.
The method misses a play that is good only if the next one is good, too, and it never asks why
another seat played as it did: the rung above, ismcts.c, does something about both. Bids, fees,
bonuses and broken ties are left out of the worlds.

Hands are integers, a bit for each tile: `hand & fits[pip]` is all of it that fits.
Usage: montecarlo.py [--worlds N]
"""

import json
import math
import random
import sys
import time

WORLDS = 100  # worlds for each question
TRIES = 8  # to deal a world that fits the events, before the events are forgotten
SHARE = 0.3  # of the time for a question, at most
WHIM = 1.5  # how much chance there is in what a seat plays


class Game:
    """The set as bits, and the rules that the worlds follow."""

    def __init__(self, rules, seats):
        deal, turn = rules.get("deal", {}), rules.get("turn", {})
        pips, doubles = range(deal.get("highest_pip", 6) + 1), deal.get("doubles", True)
        tiles = [(high, low) for high in pips for low in range(high + doubles)]
        self.tiles = sorted(tiles, key=lambda tile: (tile[0] == tile[1], sum(tile), tile))
        self.bit = {tile: 1 << at for at, tile in enumerate(self.tiles)}
        self.fits = [sum(bit for tile, bit in self.bit.items() if pip in tile) for pip in pips]
        self.appeal = [0.065 * sum(tile) + 1.1 * (tile[0] == tile[1]) for tile in self.tiles]
        self.stuck = [20 * math.exp(-x / 8) for x in range(8 * len(self.tiles))]
        self.seats, self.sides = seats, 2 if deal.get("partners") else seats
        self.step = -1 if deal.get("direction") == "counter_clockwise" else 1
        self.two, self.draw_ends = turn.get("tiles", 1) == 2, turn.get("draw_ends_turn", False)
        limit = turn.get("draw_limit", "unlimited")
        self.limit = {"unlimited": len(self.tiles), "two_at_once": 2}.get(limit, limit)
        self.at_once = limit == "two_at_once"  # then who draws one draws the other too
        self.reserve = rules.get("boneyard", {}).get("reserve", 2)
        self.score = rules.get("score", {})

    def mask(self, tiles):
        return sum(self.bit[max(tile), min(tile)] for tile in tiles)


def bits_of(mask):
    """The places of the bits in an integer, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class World:
    """A round with every tile known. A play is one or two pairs of a tile's place and an end."""

    def __init__(self, game, hands, stock, line, turn):
        self.game, self.hands, self.stock, self.turn = game, hands[:], stock[:], turn
        self.line = game.mask(line)
        self.ends = (line[0][0], line[-1][1]) if line else None
        self.drawn = self.passes = 0
        self.out, self.over = None, False

    def plays(self):
        """Every play of the seat to move."""
        if self.must_draw():
            return []
        hand = self.hands[self.turn]
        if self.ends is None:
            return [((at, "lead"),) for at in bits_of(hand)]
        lefts, rights = (list(bits_of(hand & self.game.fits[end])) for end in self.ends)
        if self.game.two and (hand & (hand - 1) or self.can_draw()):
            return [((a, "left"), (b, "right")) for a in lefts for b in rights if a != b]
        return [((at, "left"),) for at in lefts] + [((at, "right"),) for at in rights]

    def can_draw(self):
        return self.drawn < self.game.limit and len(self.stock) > self.game.reserve

    def must_draw(self):
        return self.game.at_once and self.drawn == 1 and self.can_draw()

    def do(self, move):
        """Make a move: a play, "draw" or "pass"."""
        if move == "draw":
            self.hands[self.turn] |= self.stock.pop()
            self.drawn += 1
        elif move == "pass":
            self.passes += 1
        else:
            for at, end in move:
                self.put(at, end)
        if move != "draw" or self.game.draw_ends:
            self.turn, self.drawn = (self.turn + self.game.step) % self.game.seats, 0
        self.over = self.out is not None or self.passes >= self.game.seats

    def put(self, at, end):
        """A tile leaves the hand for the line."""
        high, low = self.game.tiles[at]
        left, right = self.ends or (low, low)
        played = high + low
        self.ends = (left, played - right) if end == "right" else (played - left, right)
        self.hands[self.turn] ^= 1 << at
        self.line |= 1 << at
        self.passes = 0
        if not self.hands[self.turn]:
            self.out = self.turn

    def gain(self, seat):
        """Points of the round for a seat's side, less what the others make on average."""
        game, sides, score = self.game, self.game.sides, self.game.score
        pips = [sum(sum(game.tiles[at]) for at in bits_of(hand)) for hand in self.hands]
        pips = [sum(pips[side::sides]) for side in range(sides)]
        winner = pips.index(min(pips))
        if self.out is not None and score.get("winner", "lowest") == "out":
            winner = self.out % sides
        elif pips.count(min(pips)) > 1:
            return 0
        formula = score.get("points_blocked" if self.out is None else "points_out")
        own, others = pips[winner], sum(pips) - pips[winner]
        won = others if formula == "others" else max(0, others - own)
        return won if winner == seat % sides else -won / (sides - 1)


def policy(world, dice):
    """The move of a seat in a world: cheap, for it is made a thousand times."""
    game, hand = world.game, world.hands[world.turn]
    if world.ends is None or game.two:  # the heaviest lead or pair, doubles first
        worth = {play: sum(game.appeal[at] for at, _ in play) for play in world.plays()}
        if worth:
            return max(worth, key=lambda play: worth[play] + dice.random() * WHIM)
    elif hand & (game.fits[world.ends[0]] | game.fits[world.ends[1]]) and not world.must_draw():
        return best_play(world, hand, dice)
    return "draw" if world.can_draw() else "pass"


def best_play(world, hand, dice):
    """The best play: few unseen tiles fit after it and many own ones; it is heavy, or a double."""
    game, (left, right) = world.game, world.ends
    unseen = (1 << len(game.tiles)) - 1 & ~hand & ~world.line
    next_hand = world.hands[(world.turn + game.step) % game.seats]
    likely = 8 * next_hand.bit_count() / (unseen.bit_count() or 1)
    best, most = None, -1.0
    for end, here, there in (("left", left, right), ("right", right, left))[: 1 + (left != right)]:
        for at in bits_of(hand & game.fits[here]):
            fit = game.fits[sum(game.tiles[at]) - here] | game.fits[there]
            own = (hand & fit & ~(1 << at)).bit_count()
            value = game.appeal[at] + dice.random() * WHIM + 0.3 * own + 0.7 * (own > 0)
            value += game.stuck[int((unseen & fit).bit_count() * likely)]
            if value > most:
                best, most = ((at, end),), value
    return best


def slots_of(ask, game):
    """For each seat, and each tile that it holds: the bits that this tile cannot be."""
    begins = max([at for at, e in enumerate(ask["events"]) if e["do"] == "leads"], default=0)
    events = ask["events"][begins:]
    moves = [(e["do"], e["seat"]) for e in events if e["do"] in ("play", "draw")]
    slots, ends, last = [], None, None
    for seat, held in enumerate(ask["hands"]):
        slots.append([0] * (held + moves.count(("play", seat)) - moves.count(("draw", seat))))
    for event in events:
        do, held = event["do"], slots[event.get("seat") or 0]
        # If two tiles are drawn at once, the second draw tells nothing: the first tile may fit.
        is_second, last = game.at_once and last == do == "draw", do
        if do in ("draw", "pass") and ends and not game.two and not is_second:
            lacks = game.fits[ends[0]] | game.fits[ends[1]]
            held[:] = [slot | lacks for slot in held]
        if do == "draw":
            held.append(0)
        elif do == "turn_up":
            ends = event["tile"]
        elif do == "play":
            tile, end, bit = event["tile"], event["end"], game.mask([event["tile"]])
            ends = (ends[0] if end == "right" else tile[0], ends[1] if end == "left" else tile[1])
            held.remove(next((slot for slot in held if not slot & bit), held[0]))
    return slots


def dealt(slots, own, unseen, dice):
    """A hand for each seat but our own, and the rest: the boneyard in the order of drawing."""
    for trust in [True] * TRIES + [False]:
        bits = [1 << at for at in bits_of(unseen)]
        dice.shuffle(bits)
        hands = [0] * len(slots)
        wanted = [(slot * trust, s) for s, held in enumerate(slots) if s != own for slot in held]
        for slot, seat in sorted(wanted, key=lambda one: -one[0].bit_count()):  # hardest first
            at = next((at for at, bit in enumerate(bits) if not bit & slot), None)
            if at is None:
                break
            hands[seat] |= bits.pop(at)
        else:
            return hands, bits
    raise AssertionError("A deal that trusts no event always works.")


def as_move(option, game):
    """The move of an option, or None if worlds have none of that kind."""
    ends = {end: option[end] for end in ("left", "right") if end in option}
    if option["do"] == "play":
        ends = {option["end"]: option["tile"]}
    moves = tuple((game.tiles.index(tuple(tile)), end) for end, tile in ends.items())
    return moves or {"draw": "draw", "pass": "pass"}.get(option["do"])


def adds_up(ask, game):
    """True if all tiles of the set, and no others, are seen or counted in the question."""
    seen = {(max(tile), min(tile)) for tile in ask["hand"] + ask["line"]}
    unseen = sum(ask["hands"]) - len(ask["hand"]) + ask["boneyard"]["tiles"]
    return seen <= game.bit.keys() and len(seen) + unseen == len(game.bit)


def search(ask, game, moves, worlds, dice):
    """Index of the move with the best mean over the worlds, and numbers for the log."""
    seat, hand = ask["seat"], game.mask(ask["hand"])
    unseen = (1 << len(game.tiles)) - 1 & ~hand & ~game.mask(ask["line"])
    slots = slots_of(ask, game)
    enough = time.monotonic() + SHARE * ask["time_ms"] / 1000
    totals, played = dict.fromkeys(range(len(moves)), 0.0), 0
    for number in range(worlds):
        if number == worlds // 4:
            totals = {index: totals[index] for index in sorted(totals, key=totals.get)[-2:]}
        (hands, stock), seed, gains = dealt(slots, seat, unseen, dice), dice.random(), {}
        hands[seat] = hand
        for index in totals:
            world, chance = World(game, hands, stock, ask["line"], seat), random.Random(seed)
            world.do(moves[index])
            while not world.over:
                world.do(policy(world, chance))
            gains[index] = world.gain(seat)
        if time.monotonic() > enough:
            break
        totals = {index: total + gains[index] for index, total in totals.items()}
        played = number + 1
    best = max(totals, key=totals.get)
    return best, {"worlds": played, "value": round(totals[best] / max(1, played), 2)}


def choose(ask, rules, worlds):
    """Index of an option, and numbers; the same question always gets the same, if there is time."""
    options, game = ask["options"], Game(rules, len(ask["hands"]))
    moves = [as_move(option, game) for option in options] if adds_up(ask, game) else [None]
    kinds = [option["do"] for option in options]
    if None not in moves:
        dice = random.Random(json.dumps(ask["events"] + ask["hand"]))
        return search(ask, game, moves, worlds, dice)
    if "call" in kinds:  # the lightest hand wins a blocked round
        others = [held for seat, held in enumerate(ask["hands"]) if seat != ask["seat"]]
        light = sum(map(sum, ask["hand"])) < 6 * min(others)
        return kinds.index("call" if light else "go_on"), {}
    return kinds.index("refuse") if "refuse" in kinds else 0, {}


if __name__ == "__main__":
    worlds = int(sys.argv[2]) if sys.argv[1:2] == ["--worlds"] else WORLDS
    rules = {}  # of this game
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type": "hello", "name": "montecarlo", "version": "1"}', flush=True)
        elif message["type"] == "game":
            rules = {message["game"]: message["rules"]}
        elif message["type"] == "ask":
            choice, info = choose(message, rules.get(message["game"], {}), worlds)
            answer = {"type": "choose", "id": message["id"], "choice": choice, "info": info}
            print(json.dumps(answer), flush=True)
