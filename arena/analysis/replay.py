"""Replay of a logged game, from its seed or from its deals, with the mismatches that it finds."""

from collections.abc import Iterator
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from arena.engine import boneyard, lead, values
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.logs.gamelog import DamagedLogError, LoggedGame
from arena.match.game_setup import GameSetup
from arena.match.referee import Referee, decided_by_fouls, needs_answer
from protocol.codec import encode_line
from protocol.messages import Choose, Clock, Event, Option
from protocol.records import (
    ChoiceRecord,
    DealRecord,
    FoulPolicy,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    RoundRecord,
    SentRecord,
    SpentRecord,
)
from protocol.ruleset import hand_size, set_of_tiles


def setup_of(logged: LoggedGame) -> GameSetup:
    """Return the setup of a logged game."""
    return GameSetup(
        game=logged.game.game,
        number=logged.game.number,
        board=logged.game.board,
        seats=logged.sitting.seats,
        rules=logged.sitting.rules,
        clock=logged.sitting.clock,
        fouls=logged.sitting.fouls,
        forfeited=logged.game.forfeited,
        clocks=logged.sitting.clocks or (),
    )


def replay_game(logged: LoggedGame, seed: bytes) -> Referee:
    """Return the referee after all answers and fouls of a log.

    It stops at a record that is impossible; `mismatches` says why.
    """
    referee = Referee(setup_of(logged), seed)
    # Nobody reads the lines: only their hashes count.
    _answer_again(referee, logged)
    return referee


def resume_game(referee: Referee, logged: LoggedGame) -> bool:
    """Bring a new referee to where a log was cut off; return False if the log does not fit it.

    It then sends to fresh bots all that was sent but the questions that are answered.
    """
    lines = _answer_again(referee, logged)
    made, written = referee.records(), (logged.game, *logged.records)
    begun = made[: len(written)]
    referee.send_again(lines, [*written, *made[len(written) :]])
    return [*map(_bare, written)] == [*map(_bare, begun)]


def _answer_again(referee: Referee, logged: LoggedGame) -> list[tuple[int, bytes]]:
    """Apply all answers and fouls of a log; return the lines but the questions that they answer."""
    lines = referee.outgoing()
    for record in logged.choices():
        question = referee.awaiting
        if question is None or question.seat != record.seat:
            break
        lines.pop()  # A question is always the last line.
        apply_record(referee, record)
        lines += referee.outgoing()
    return lines


def apply_record(referee: Referee, record: ChoiceRecord | FoulRecord) -> None:
    """Apply a recorded answer or foul again; its seat must be the one that is asked."""
    if isinstance(record, FoulRecord):
        line = record.line.encode()
        referee.forfeit(
            record.seat,
            record.foul,
            record.detail,
            ms=record.ms,
            line=line,
            given_back_ms=record.given_back_ms,
        )
    else:
        answer = Choose(id=record.id, choice=record.choice, note=record.note, usage=record.usage)
        referee.receive(record.seat, b"", record.ms, record.given_back_ms, answer)


def mismatches(logged: LoggedGame, seed: bytes) -> Iterator[str]:
    """Yield what in the log does not follow from the seed and the recorded answers."""
    made = replay_game(logged, seed).records()
    written = (logged.game, *logged.records)
    # No replay can know the time used.
    kept = [record for record in written if not isinstance(record, SpentRecord)]
    for number, (was, now) in enumerate(zip(kept, made, strict=False)):
        if was != now and _bare(was) != _bare(now):
            yield _difference(logged, number, was, now)
            return
    if logged.result and len(made) != len(kept):
        yield f"{logged.game.game}: {len(kept)} records, but {len(made)} follow"


def _bare(record: LogRecord) -> LogRecord:
    """Return a record without evidence that only the table could know."""
    if isinstance(record, ChoiceRecord):
        return replace(record, stderr="")
    if not isinstance(record, FoulRecord):
        return record
    return replace(record, stderr="", line="", limit_ms=0, cpu_ms=None)


def _difference(logged: LoggedGame, number: int, was: LogRecord, now: LogRecord) -> str:
    names = {DealRecord: "the deal", GameRecord: "its first record"}
    what = names.get(type(now), f"record {number}")
    shown = [encode_line(record).decode().strip()[:300] for record in (was, now)]
    return f"{logged.game.game}: {what} is {shown[0]}, but {shown[1]} follows"


class Step(Struct, frozen=True):
    """One event of a logged game, with nothing hidden."""

    game: Game
    """The game after it."""
    events: tuple[Event, ...]
    """The events that it added to the history of the round."""
    options: tuple[Option, ...]
    """The options of the seat that was asked; empty if none was asked."""
    record: LogRecord | None
    """The line of the log; None: the step followed from the rules."""


def steps(logged: LoggedGame) -> Iterator[Step]:
    """Yield the steps of a game from its log alone: the log has the hands, so no seed is needed.

    Raises DamagedLogError at the first record that cannot follow.
    """
    game = values.new_game(logged.sitting.rules, len(logged.sitting.seats))
    policy = logged.sitting.fouls
    fouled = set(logged.game.forfeited)
    for number, record in enumerate(logged.records, 1):
        ended = _ended(game, policy, fouled)
        options = () if ended else values.legal(game)
        misfit = _misfit(game, record, options, ended)
        if misfit:
            raise DamagedLogError(f"Game {logged.game.game}, record {number}: {misfit}.")
        if isinstance(record, SentRecord | SpentRecord) or (ended and game.round is None):
            continue  # Nothing happened at the table.
        if isinstance(record, FoulRecord):
            fouled.add(record.seat)
        step = _taken(game, record, options)
        yield step
        game = step.game
        for step in _forced(game, logged.sitting.clock, policy, fouled):
            yield step
            game = step.game


def _ended(game: Game, policy: FoulPolicy, fouled: set[int]) -> bool:
    """Tell whether the game is over by the rules, or by fouls."""
    return game.over is not None or decided_by_fouls(game, policy, fouled)


def _taken(game: Game, record: LogRecord, options: tuple[Option, ...]) -> Step:
    """Return the step of a record."""
    match record:
        case DealRecord():
            return _step(game, values.begin(game, deal_of(record)), (), record)
        case ChoiceRecord():
            return _step(game, values.act_unchecked(game, options[record.choice]), options, record)
        case FoulRecord():
            return Step(game, (), options, record)
        case _:
            return Step(game, (), (), record)


def _forced(game: Game, clock: Clock, policy: FoulPolicy, fouled: set[int]) -> Iterator[Step]:
    """Yield the steps that need no answer: only options, and those of a seat that has fouled."""
    while not _ended(game, policy, fouled) and (options := values.legal(game)):
        if needs_answer(clock, options, fouled=game.playing.turn in fouled):
            return
        step = _step(game, values.act_unchecked(game, options[0]), (), None)
        yield step
        game = step.game


def _step(before: Game, after: Game, options: tuple[Option, ...], record: LogRecord | None) -> Step:
    """Return the step from one state to the next."""
    old, new = before.round, after.playing
    known = len(old.events) if old and old.number == new.number else 0
    return Step(after, new.events[known:], options, record)


def deal_of(record: DealRecord) -> Dealt:
    """Return a recorded deal as the engine takes it."""
    return Dealt(record.round, record.deal, record.leader, record.lots, record.hands, record.stock)


def _misfit(game: Game, record: LogRecord, options: tuple[Option, ...], ended: bool) -> str | None:
    """Return the reason why a record cannot come next, if there is one."""
    match record:
        case DealRecord():
            return _misdeal(game, deal_of(record), ended)
        case ChoiceRecord() | FoulRecord():
            return _unasked(game, record, options)
        case RoundRecord():
            state = game.round
            follows = state and (state.number, state.over, game.points, game.scores)
            if follows != (record.round, record.why, record.points, record.scores):
                return "the round does not end so"
        case Result():
            if game.round is None and not ended:
                return "a result before any deal"
            if {len(record.seats), len(record.scores), len(record.places)} != {game.seats}:
                return f"the result is not one of {game.seats} seats"
        case _:
            pass
    return None


def _unasked(
    game: Game, record: ChoiceRecord | FoulRecord, options: tuple[Option, ...]
) -> str | None:
    if not options or game.playing.turn != record.seat:
        return f"seat {record.seat} was not asked"
    if isinstance(record, ChoiceRecord) and record.choice not in range(len(options)):
        return f"choice {record.choice} of {len(options)}, counted from 0"
    return None


def _misdeal(game: Game, dealt: Dealt, ended: bool) -> str | None:
    """Return the fault of a deal: it must be the next, of the whole set, in the engine's order."""
    if ended or not values.needs_deal(game):
        return "a deal before the round is over, or after the game"
    before, seats = game.round, range(game.seats)
    leaders: tuple[int, ...] = tuple(seats)
    if before and not before.over:
        turn, leaders = (before.number, before.aside.deal + 1), (before.aside.began,)
    else:
        turn = (before.number if before else 0) + 1, lead.method(game) != "odd_even"
    if (dealt.round, dealt.deal) != turn:
        return f"deal {dealt.deal} of round {dealt.round} is dealt out of order"
    tiles = set_of_tiles(game.rules.deal)
    lots = all(lot.seat in seats and lot.tile in tiles for lot in dealt.lots)
    if not (lots and dealt.leader in leaders and _laid(game, dealt)):
        return "the deal is not one of these rules"
    return None


def _laid(game: Game, dealt: Dealt) -> bool:
    """Tell whether all tiles are dealt by these rules; none are before odd or even is called."""
    if dealt.deal == 0:
        return dealt.hands == ((),) * game.seats and not dealt.stock
    rules, rest = game.rules, tuple(chain(*dealt.stock))
    whole = sorted(chain(*dealt.hands, rest)) == list(set_of_tiles(rules.deal))
    even = [hand_size(rules.deal, game.seats)] * game.seats == list(map(len, dealt.hands))
    return whole and even and dealt.stock == boneyard.arrange(rules.boneyard, rest, game.seats)
