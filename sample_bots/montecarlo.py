"""Determinised Monte Carlo: imagine the hidden tiles, play the round to its end, count, repeat.

The rung above counting.py. Instead of judging a play by rules of thumb it tries what comes of it:

1. Deal the unseen tiles at random to the other seats and the boneyard: a *world*. It must fit
   what the events tell. A seat that passed or drew had no tile for the ends of that moment, so
   every tile that it holds since then must not fit them (`Slots`). Most bots draw only when they
   must, so a draw is read as "could not play" even where the rules leave it free.
2. In that world try every option, and let all seats play on by a policy that looks at its own
   hand only, much as counting.py does, with some chance in it (but a seat that may call a blocked
   round sees who would win). At the end count the points.
3. After a quarter of WORLDS worlds only the BEST two options are tried on, which is where more
   worlds still tell something; in the end take the one with the best mean.

All options are tried in the same worlds with the same boneyard, so that luck falls on all alike
and few worlds suffice. What the method misses: a play that is good only if the next one is, too,
for the policy will not find it; and it never asks why another seat played as it did.
The rung above, ismcts.c, does something about both.

Hands are integers, a bit for each tile: `hand & fits[pip]` is all of it that fits, and counting
bits counts tiles.

The simulator (`Sim`) follows the ruleset: one or two tiles a turn, every way to draw, blocked
rounds and calls, fees and all scoring. Bids are left out, in its worlds everybody checks, and so
are chips: there nobody runs out of them.
Usage: montecarlo.py [--worlds N]
"""

import json
import math
import random
import sys
import time

WORLDS = 100  # worlds for each question
BEST = 2  # options that are still tried after a quarter of them
TRIES = 8  # to deal a world that fits the events, before some of them are forgotten
SHARE = 0.3  # of the time for a question, at most
WHIM = 1.5  # how much chance there is in what a seat plays
MOST_TURNS = 400  # a round is over long before
USUAL = {"turn": {"tiles": 1, "draw_limit": "unlimited", "draw_when_able": True}}


class Game:
    """What never changes in a game: the set as bits, and the rules where they are looked at."""

    def __init__(self, rules, seats):
        group = {name: rules.get(name, {}) for name in ("deal", "turn", "boneyard", "end", "score")}
        deal, turn, self.score = group["deal"], group["turn"], group["score"]
        self.highest, doubles = deal.get("highest_pip", 6), deal.get("doubles", True)
        self.make_tiles(doubles)
        self.whole = self.highest + doubles  # tiles with one number
        self.seats, self.partners = seats, deal.get("partners", False)
        self.step = 1 if deal.get("direction", "clockwise") == "clockwise" else -1
        self.two = turn.get("tiles", 1) == 2
        limit = turn.get("draw_limit", "unlimited")
        self.limit = 10**6 if limit == "unlimited" else limit
        self.when_able = turn.get("draw_when_able", True)
        self.leader_too = turn.get("leader_may_draw", True)
        self.draw_ends = turn.get("draw_ends_turn", False)
        self.optional = turn.get("draw_optional", False)
        self.reserve = group["boneyard"].get("reserve", 2)
        self.blocked = group["end"].get("blocked", "play_on")
        stakes = rules.get("stakes", {})
        self.fee, self.pot = stakes.get("fee", 0), stakes.get("pot", False)

    def make_tiles(self, doubles):
        """Every tile as a bit, by weight; `fits[pip]` has the bits of all tiles with that pip."""
        pips = range(self.highest + 1)
        tiles = [(high, low) for high in pips for low in range(high + 1) if doubles or high > low]
        self.tiles = sorted(tiles, key=lambda tile: (tile[0] == tile[1], sum(tile), tile))
        self.bit = {tile: 1 << at for at, tile in enumerate(self.tiles)}
        self.all = (1 << len(self.tiles)) - 1
        self.appeal = [0.065 * sum(tile) + 1.1 * (tile[0] == tile[1]) for tile in self.tiles]
        self.stuck = [20 * math.exp(-x / 8) for x in range(8 * len(self.tiles))]
        self.fits = [sum(bit for tile, bit in self.bit.items() if pip in tile) for pip in pips]

    def mask(self, tiles):
        """Tiles of a message as an integer; None if one of them is not in the set."""
        bits = [self.bit.get((max(tile), min(tile))) for tile in tiles]
        return None if None in bits or len(set(bits)) < len(bits) else sum(bits)

    def pips(self, hand):
        """What a hand counts."""
        blank = self.score.get("double_blank", 0) if hand & self.bit.get((0, 0), 0) else 0
        return blank + sum(sum(self.tiles[at]) for at in bits_of(hand))


def bits_of(mask):
    """The places of the bits in an integer, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Sim:
    """A round in which every tile is known. Moves are small tuples, such as ("play", at, end)."""

    def __init__(self, game, hands, stock, line, turn):
        self.game, self.hands, self.stock, self.turn = game, list(hands), list(stock), turn
        self.line = game.mask(line)
        self.ends = (line[0][0], line[-1][1]) if line else None
        self.drawn = self.passes = 0
        self.asked = []  # seats that may still call the round blocked
        self.mover = turn  # whose turn it is after they have been asked
        self.out = self.blocker = None
        self.over = False
        self.last = None  # the last tile, and the ends that it found
        self.paid = [0] * game.seats
        self.pot = 0  # what was paid before

    def copy(self):
        """The same round, to be played on in another way."""
        new = object.__new__(Sim)
        new.__dict__.update(self.__dict__)
        new.hands, new.stock, new.paid = self.hands[:], self.stock[:], self.paid[:]
        return new

    def drawable(self):
        """Tiles that may still be drawn."""
        game = self.game
        return max(0, len(self.stock) - game.reserve) if game.limit else 0

    def plays(self, hand):
        """Every way to play this hand on the line."""
        game = self.game
        if self.ends is None:
            return [("play", at, "lead") for at in bits_of(hand)]
        left, right = self.ends
        if game.two and (hand & (hand - 1) or self.drawable()):
            return self.pairs(hand)
        found = [("play", at, "left") for at in bits_of(hand & game.fits[left])]
        if left != right:  # equal ends are one place to play
            found += [("play", at, "right") for at in bits_of(hand & game.fits[right])]
        return found

    def pairs(self, hand):
        """Two tiles, one for each end; on equal ends each pair once."""
        left, right = self.ends
        lefts = list(bits_of(hand & self.game.fits[left]))
        rights = list(bits_of(hand & self.game.fits[right]))
        return [("two", a, b) for a in lefts for b in rights if a < b or (a > b and left != right)]

    def moves(self):
        """Everything that the seat to move may do."""
        if self.asked:
            return [("call",), ("go_on",)]
        game, found = self.game, self.plays(self.hands[self.turn])
        able = bool(found)
        if self.may_draw(able):
            found.append(("draw",))
        if not found or (game.optional and not able):
            found.append(("pass",))
        return found

    def may_draw(self, able):
        """Whether the seat to move may draw."""
        game = self.game
        if not self.drawable() or self.drawn >= game.limit:
            return False
        return not able or (game.when_able and (game.leader_too or self.ends is not None))

    def do(self, move):
        """Make one of the moves."""
        what = move[0]
        if what == "play":
            self.put(move[1], move[2])
            self.turned()
        elif what == "two":
            self.put(move[1], "left")
            self.put(move[2], "right")
            self.turned()
        elif what == "draw":
            self.draw()
        elif what == "pass":
            self.passes += 1
            self.turned()
        elif what == "call":
            self.over = True
        else:
            self.asked = self.asked[1:]
            self.turn = self.asked[0] if self.asked else self.mover

    def put(self, at, end):
        """A tile leaves the hand for the line."""
        high, low = self.game.tiles[at]
        bit = 1 << at
        self.last = (at, end, self.ends)
        if end == "lead":
            self.ends = (high, low)
        else:
            left, right = self.ends
            if end == "left":
                self.ends = (low if high == left else high, right)
            else:
                self.ends = (left, low if high == right else high)
        self.hands[self.turn] ^= bit
        self.line |= bit
        self.passes, self.blocker = 0, self.turn
        if not self.hands[self.turn]:
            self.out = self.turn

    def draw(self):
        """The seat to move takes a tile; its turn goes on unless the rules end it."""
        self.hands[self.turn] |= self.stock.pop()
        self.drawn += 1
        self.passes = 0
        self.paid[self.turn] += self.game.fee
        if self.game.draw_ends:
            self.turned()
        elif self.is_blocked():
            self.over = True

    def turned(self):
        """The turn passes on, unless somebody is out or nobody can go on."""
        game = self.game
        self.turn = (self.turn + game.step) % game.seats
        self.drawn = 0
        if self.out is not None or self.is_blocked():
            self.over = True
        elif game.blocked == "call" and self.ends and self.dead_ends() >= (1 if game.two else 2):
            self.mover = self.turn
            self.asked = [(self.turn + i * game.step) % game.seats for i in range(game.seats)]

    def dead_ends(self):
        """How many ends show a number of which every tile lies in the line."""
        game = self.game
        return sum((self.line & game.fits[end]).bit_count() == game.whole for end in self.ends)

    def is_blocked(self):
        """Whether the round is over although everybody still holds tiles."""
        game = self.game
        if self.ends is None:
            return False
        if game.optional and self.passes >= game.seats:
            return True
        if game.blocked == "at_once" and self.dead_ends() == 2:
            return True
        if self.drawable():
            return False
        if game.two:
            return not any(self.plays(hand) for hand in self.hands)
        fit = game.fits[self.ends[0]] | game.fits[self.ends[1]]
        return not any(hand & fit for hand in self.hands)

    def points(self, number=10**6):
        """What the round brought each seat, fees and pot included; `number` is the round's."""
        game, score = self.game, self.game.score
        count = [game.pips(hand) for hand in self.hands]
        winner = self.winner(count)
        points = [-paid for paid in self.paid]
        if winner is not None:
            bonus = score.get("bonus", ())
            won = max(0, self.worth(count, winner)) + self.extra(winner)
            won += bonus[number - 1] if number <= len(bonus) else 0
            points[winner] += won + self.pot + (sum(self.paid) if game.pot else 0)
        if game.partners:
            points = [points[seat] + points[(seat + 2) % 4] for seat in range(4)]
        return points

    def winner(self, count):
        """The seat that wins the round, or None."""
        game, out = self.game, self.out
        if out is not None and game.score.get("winner", "lowest") == "out":
            return out
        party = [count[0] + count[2], count[1] + count[3]] if game.partners else count
        tied = [one for one, pips in enumerate(party) if pips == min(party)]
        won = tied[0] if len(tied) == 1 else None
        if won is None and out is None:
            won = self.broken(tied, len(party))
        if won is None or not game.partners:
            return won
        if out is not None and out % 2 == won:
            return out
        return min((won, won + 2), key=lambda seat: count[seat])

    def broken(self, tied, parties):
        """Who wins a blocked round in which the fewest pips are held twice."""
        tie = self.game.score.get("tie", "nobody")
        seats = [range(one, self.game.seats, parties) for one in range(parties)]
        if tie == "blocker" and self.blocker is not None:
            return self.blocker % parties
        if tie == "outsider":
            count = [sum(self.game.pips(self.hands[s]) for s in each) for each in seats]
            return only([one for one in range(parties) if one not in tied], count)
        if tie == "fewest_tiles":
            return only(tied, [sum(self.hands[s].bit_count() for s in each) for each in seats])
        if tie == "lowest_end":
            tiles = self.game.tiles
            high = [max(tiles[at][0] for at in bits_of(hand)) for hand in self.hands]
            return only(tied, [max(high[s] for s in each) for each in seats])
        return None

    def worth(self, count, winner):
        """Points for the winner by the rules' formula."""
        game, score = self.game, self.game.score
        usual = "others_minus_own"
        formula = score.get("points_blocked" if self.out is None else "points_out", usual)
        own = count[winner] + (count[(winner + 2) % 4] if game.partners else 0)
        others, losers = sum(count) - own, 1 if game.partners else len(count) - 1
        return {
            "others_minus_own": others - own,
            "others": others,
            "everybody": others + own,
            "difference": others - losers * own,
            "one": 1,
        }.get(formula, 0)

    def extra(self, winner):
        """Points for how the winner went out."""
        score, game = self.game.score, self.game
        if self.out != winner or self.last is None:
            return 0
        at, end, ends = self.last
        tile = game.tiles[at]
        both = end != "lead" and tile[0] != tile[1] and ends[0] in tile and ends[1] in tile
        return score.get("capicu", 0) * both + score.get("out_with_blank", 0) * (tile == (0, 0))


def only(among, values):
    """The one of these with the lowest value, if it is one alone."""
    lowest = [one for one in among if values[one] == min(values[other] for other in among)]
    return lowest[0] if len(lowest) == 1 else None


class Slots:
    """What each other seat may hold: for each of its tiles the bits that it cannot be."""

    def __init__(self, ask, game):
        self.game, self.own = game, ask["seat"]
        self.ends, self.bought = [None, None], False
        begins = max([at for at, e in enumerate(ask["events"]) if e["do"] == "leads"], default=0)
        events = ask["events"][begins:]
        moves = [(e["do"], e["seat"]) for e in events if e["do"] in ("play", "draw")]
        self.of = {}
        for seat, held in enumerate(ask["hands"]):
            dealt = held + moves.count(("play", seat)) - moves.count(("draw", seat))
            self.of[seat] = [0] * dealt
        for event in events:
            self.see(event)
        del self.of[self.own]

    def see(self, event):
        """Learn from one event."""
        do = event["do"]
        self.bought = do == "bid" or (self.bought and do == "draw")
        if do in ("draw", "pass"):
            if not self.bought:
                self.could_not(event["seat"])
            if do == "draw":
                self.of[event["seat"]].append(0)
        elif do == "turn_up":
            self.ends = list(event["tile"])
        elif do == "play":
            self.played(event["seat"], event["tile"], event["end"])

    def could_not(self, seat):
        """It has nothing for these ends; two tiles a turn tell less, and that is left out."""
        if None in self.ends or self.game.two:
            return
        lacks = self.game.fits[self.ends[0]] | self.game.fits[self.ends[1]]
        self.of[seat] = [slot | lacks for slot in self.of[seat]]

    def played(self, seat, tile, end):
        """A tile left a slot that may have held it."""
        if end != "right":
            self.ends[0] = tile[0]
        if end != "left":
            self.ends[1] = tile[1]
        bit = self.game.mask([tile]) or 0
        slots = self.of[seat]
        fitting = [at for at, slot in enumerate(slots) if not slot & bit]
        if slots:
            slots.pop(fitting[0] if fitting else 0)

    def deal(self, unseen, dice):
        """Hands for the other seats, and what is left: the boneyard in the order of drawing."""
        for attempt in range(TRIES + 1):
            dealt = self.dealt(unseen, dice, trust=attempt < TRIES)
            if dealt:
                return dealt
        raise AssertionError("A deal that trusts no event always works.")

    def dealt(self, unseen, dice, trust):
        """One try: the slots that admit least are filled first; None if one stays empty."""
        bits = [1 << at for at in bits_of(unseen)]
        dice.shuffle(bits)
        hands = dict.fromkeys(self.of, 0)
        slots = [(slot if trust else 0, seat) for seat, own in self.of.items() for slot in own]
        for slot, seat in sorted(slots, key=lambda one: -one[0].bit_count()):
            at = next((at for at, bit in enumerate(bits) if not bit & slot), None)
            if at is None:
                return None
            hands[seat] |= bits.pop(at)
        return hands, bits


def policy(sim, dice):
    """What a seat does in an imagined round: cheap, for it is done a thousand times."""
    game, hand = sim.game, sim.hands[sim.turn]
    if sim.asked:
        return ("call",) if is_lightest(sim) else ("go_on",)
    if sim.ends is None or game.two:
        return simple_play(sim, dice)
    left, right = sim.ends
    fit = hand & (game.fits[left] | game.fits[right])
    if not fit:
        return ("draw",) if sim.may_draw(False) else ("pass",)
    return best_play(sim, hand, dice)


def simple_play(sim, dice):
    """The heaviest lead or pair of tiles, doubles first; what it must where it cannot play."""
    found = sim.moves()
    plays = [move for move in found if move[0] in ("play", "two")]
    if not plays:
        return found[0]
    appeal = sim.game.appeal
    return max(plays, key=lambda move: tile_sum(move, appeal) + dice.random() * WHIM)


def tile_sum(move, appeal):
    """What the tiles of a play are worth together."""
    return appeal[move[1]] + (appeal[move[2]] if move[0] == "two" else 0)


def best_play(sim, hand, dice):
    """The play after which few unseen tiles fit and many of its own; heavy, doubles first."""
    game, (left, right) = sim.game, sim.ends
    unseen = game.all & ~hand & ~sim.line
    next_one = (sim.turn + game.step) % game.seats
    likely = sim.hands[next_one].bit_count() / (unseen.bit_count() or 1)
    best, most = None, -1.0
    for end, here, there in (("left", left, right), ("right", right, left))[: 1 + (left != right)]:
        for at in bits_of(hand & game.fits[here]):
            fit = game.fits[game.tiles[at][0] + game.tiles[at][1] - here] | game.fits[there]
            own = (hand & fit & ~(1 << at)).bit_count()
            value = game.appeal[at] + dice.random() * WHIM
            value += game.stuck[int((unseen & fit).bit_count() * likely * 8)] + 0.3 * own
            if own:
                value += 0.7
            if value > most:
                best, most = ("play", at, end), value
    return best


def is_lightest(sim):
    """Whether the side to move would win if the round were called now."""
    winner = sim.winner([sim.game.pips(hand) for hand in sim.hands])
    if winner is None:
        return False
    return winner == sim.turn or (sim.game.partners and (winner - sim.turn) % 2 == 0)


def gain(points, seat, partners):
    """What the points mean for a seat: its own, less what the others make on average."""
    others = [p for s, p in enumerate(points) if s != seat and not (partners and (s - seat) == 2)]
    if partners:
        return points[seat] - points[(seat + 1) % 4]
    return points[seat] - sum(others) / len(others)


def play_out(sim, dice):
    """Play the imagined round to its end; what it brought."""
    for _ in range(MOST_TURNS):
        if sim.over:
            break
        sim.do(policy(sim, dice))
    return sim.points()


def as_move(option, game):
    """The simulator's move for an option, or None if it knows none."""
    do = option["do"]
    if do == "play":
        return do, game.tiles.index(tuple(option["tile"])), option["end"]
    if do == "play_two":
        return "two", *(game.tiles.index(tuple(option[side])) for side in ("left", "right"))
    return (do,) if do in ("draw", "pass", "call", "go_on") else None


def imagined(ask, game, slots, unseen, dice):
    """A world: the round as it may be, with the seat that is asked to move."""
    hands, stock = slots.deal(unseen, dice)
    hands[ask["seat"]] = game.mask(ask["hand"])
    sim = Sim(game, [hands[seat] for seat in range(game.seats)], stock, ask["line"], ask["seat"])
    sim.pot = ask["pot"]
    for event in reversed(ask["events"]):
        if event["do"] != "draw" or event["seat"] != ask["seat"]:
            break
        sim.drawn += 1
    if ask["options"][0]["do"] == "call":
        asked_next(sim, ask)
    return sim


def asked_next(sim, ask):
    """Who may call after this seat, and whose turn it is then: the seat after the last move."""
    game, seat = sim.game, ask["seat"]
    moves = [e["seat"] for e in ask["events"] if e["do"] in ("play", "draw", "pass", "leads")]
    sim.mover = (moves[-1] + game.step) % game.seats
    behind = (seat - sim.mover) * game.step % game.seats
    sim.asked = [(seat + i * game.step) % game.seats for i in range(game.seats - behind)]


def search(ask, game, worlds, dice):
    """Index of the option with the best mean over the worlds; None where it cannot imagine any."""
    unseen = hidden(ask, game)
    moves = [as_move(option, game) for option in ask["options"]] if unseen is not None else [None]
    if None in moves:
        return None
    slots = Slots(ask, game)
    enough = time.monotonic() + SHARE * ask["time_ms"] / 1000
    totals = dict.fromkeys(range(len(moves)), 0.0)
    for number in range(worlds):
        if number == worlds // 4:
            totals = {index: totals[index] for index in ranked(totals)[:BEST]}
        world, seed = imagined(ask, game, slots, unseen, dice), dice.random()
        gains = {}
        for index in totals:
            sim = world.copy()
            sim.do(moves[index])
            points = play_out(sim, random.Random(seed))
            gains[index] = gain(points, ask["seat"], game.partners)
            if time.monotonic() > enough:
                return ranked(totals)[0]  # a world that not all were tried in is no use
        totals = {index: total + gains[index] for index, total in totals.items()}
    return ranked(totals)[0]


def ranked(totals):
    """Options, the best first."""
    return sorted(totals, key=lambda index: -totals[index])


def hidden(ask, game):
    """The tiles that this seat does not see; None if the question does not add up."""
    hand, line = game.mask(ask["hand"]), game.mask(ask["line"])
    if hand is None or line is None or hand & line:
        return None
    unseen = (1 << len(game.tiles)) - 1 & ~hand & ~line
    elsewhere = sum(ask["hands"]) - len(ask["hand"]) + ask["boneyard"]["tiles"]
    return unseen if unseen.bit_count() == elsewhere else None


def by_thumb(options):
    """What needs no search, or admits none: the heaviest play; refuse doubles; else the first."""
    kinds = [option["do"] for option in options]
    if "refuse" in kinds:
        return kinds.index("refuse")
    plays = [index for index, kind in enumerate(kinds) if kind == "play"]
    return max(plays, key=lambda index: sum(options[index]["tile"]), default=0)


def choose(ask, rules, worlds):
    """Index of an option; the same question always gets the same one, if there is time."""
    game = Game(rules, len(ask["hands"]))
    dice = random.Random(json.dumps(ask["events"] + ask["hand"]))
    choice = search(ask, game, worlds, dice)
    return by_thumb(ask["options"]) if choice is None else choice


def main():
    worlds = int(sys.argv[2]) if sys.argv[1:2] == ["--worlds"] else WORLDS
    rules = {}
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            answer = {"type": "hello", "name": "montecarlo", "version": "1"}
        elif kind == "ask":
            choice = choose(message, rules.get(message["game"], USUAL), worlds)
            answer = {"type": "choose", "id": message["id"], "choice": choice}
        elif kind == "bye":
            break
        else:
            if kind == "game":
                rules[message["game"]] = message["rules"]
            elif kind == "end":
                rules.pop(message["game"], None)
            continue
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
