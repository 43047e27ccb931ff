"""The scenes of a replay's page, and the same game in two worlds that a seat cannot tell apart."""

import base64
import random
import zlib
from collections.abc import Iterator
from typing import Any

from arena.analysis.alternative_deals import RoundHistory, StopAt, replay_round
from arena.engine import values
from arena.engine.shuffle import board_seed
from arena.logs.gamelog import LoggedGame
from arena.match.referee import QUESTIONS_A_GAME, needs_answer
from arena.rules.variants import find_variant
from arena.ui.replay_page import Fields, Playback, pack_game
from protocol.codec import decode_json
from protocol.messages import Clock
from protocol.records import ChoiceRecord, DealRecord, GameRecord
from tests.support import random_rounds
from tests.support.logged_games import NAMES
from tests.support.tables import sitting

CLOCK = Clock()
Shown = list[list[Fields]]


def unpack_game(data: str) -> Playback:
    """Return the game that `pack_game` packed."""
    return decode_json(zlib.decompress(base64.b64decode(data)), Playback)


def whole(game: LoggedGame, seat: int | None = None) -> Shown:
    """Return the scenes of each viewer as the page's script assembles them."""
    play = unpack_game(pack_game(game, seat).data)
    shown: Shown = [[] for _ in play.seats]
    first: Fields = {}
    for changes, *others in play.moments:
        first = {**first, **changes}
        shown[0].append(first)
        for who, other in enumerate(others, 1):
            shown[who].append({**first, **other})
    return shown


def log_of(deal: RoundHistory, until: StopAt, rng: random.Random) -> LoggedGame:
    """Return a round as a log up to a question; other seats' times and notes differ each time."""
    seat = until.seat
    rules, names = deal.start.rules, NAMES[: deal.start.seats]
    records: list[Any] = []
    ids = [QUESTIONS_A_GAME] * len(names)
    dealt = 0
    for turn in replay_round(deal, until):
        while dealt < len(deal.deals) and deal.deals[dealt].deal <= turn.game.playing.phase.deal:
            one = deal.deals[dealt]
            records.append(
                DealRecord(
                    round=one.round,
                    deal=one.deal,
                    leader=one.leader,
                    lots=one.lots,
                    hands=one.hands,
                    stock=one.stock,
                )
            )
            dealt += 1
        if turn.choice is None:
            break
        at = turn.game.playing.turn
        if needs_answer(CLOCK, values.legal(turn.game), fouled=False):
            ms, note = (1.0, "mine") if at == seat else (rng.random(), f"{rng.random()}")
            ids[at] += 1
            records.append(ChoiceRecord(seat=at, id=ids[at], choice=turn.choice, ms=ms, note=note))
    first = GameRecord(game="1.game", number=1, board=1, commitment="0" * 64)
    return LoggedGame(sitting(names, (1,), rules, CLOCK), first, tuple(records), None)


def pairs(name: str, seats: int, tries: int) -> Iterator[tuple[int, LoggedGame, LoggedGame]]:
    """Yield the same round up to a question of a seat, in two worlds that it cannot distinguish."""
    rng = random.Random(name)
    for number in range(tries):
        seed = board_seed(b"pages", "event", number)
        deal = random_rounds.played(find_variant(name), seats, seed, rng)[0]
        seat = rng.randrange(seats)
        for moment in [*random_rounds.questions(deal, seat, CLOCK)][-3:]:
            other = random_rounds.resampled(deal, seat, rng, moment)
            yield seat, log_of(deal, moment, rng), log_of(other, moment, rng)
