"""The decisions of one seat in a logged game, and the results of its rounds. Pure, without seed."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from arena import engine
from arena.analysis.replay import Step, apply_record, deal_of, setup_of, steps
from arena.engine.state import Game
from arena.engine.structs import Dealt
from arena.logs.gamelog import DamagedLogError, LoggedGame
from arena.match.game_setup import Question
from arena.match.referee import Chance, Referee
from protocol.errors import UserError
from protocol.messages import Drew, Event, Passed, WhyRound
from protocol.records import ChoiceRecord, DealRecord, FoulRecord, RoundRecord
from protocol.ruleset import Ruleset, side_of
from protocol.tiles import Tile


class Decision(Struct, frozen=True):
    """A question to a seat, the seat's view at that moment, and the answer."""

    number: int
    """The question's number among those to this seat in the game, from 1."""
    round: int
    """The round's number in the game, from 1."""
    question: Question
    """The question: its seat, id, options and time."""
    told: tuple[bytes, ...]
    """The lines that the seat had been sent in this game, without earlier questions."""
    line: bytes
    """The question as it was written, byte for byte."""
    step: Step
    """The table at that moment, nothing hidden; its events are new since the seat's last choice."""
    record: ChoiceRecord | FoulRecord | None
    """The answer or the foul; None: the game was cut off before."""


class RoundEnd(Struct, frozen=True):
    """The end of a round, and its result for one seat."""

    round: int
    """The round's number in the game, from 1."""
    why: WhyRound
    """The way in which it ended."""
    out: int | None
    """The seat that went out, if any."""
    hand: tuple[Tile, ...]
    """The tiles left in the seat's hand."""
    pips: int
    """The pips of those tiles."""
    drew: int
    """The number of tiles that the seat drew."""
    passed: int
    """The number of times that the seat passed."""
    gained: int
    """Points that the seat's side gained in the round, fees and stakes included."""
    lost: int
    """The largest gain of another side, in points."""
    ahead: int
    """Points by which its side leads the best other side afterwards; negative: it trails."""

    @property
    def swing(self) -> int:
        """Return the points that the seat's side gained on the best other side in this round."""
        return self.gained - self.lost


class CutOffError(Exception):
    """The log ends before a deal that is needed."""


def _logged_deals(logged: LoggedGame) -> Chance:
    """Return a source of the deals in the log, which needs no seed; it may raise CutOffError."""
    records = (one for one in logged.records if isinstance(one, DealRecord))
    dealt = iter([deal_of(record) for record in records])

    def next_deal(_: Game, __: bytes) -> Dealt:
        found = next(dealt, None)
        if found is None:
            raise CutOffError
        return found

    return next_deal


def decisions(logged: LoggedGame, seat: int) -> Iterator[Decision]:
    """Yield every question to a seat, in order; the last may be without an answer.

    Raises DamagedLogError at the first record that cannot follow.
    """
    moments = list(_moments(logged, seat))
    told: list[bytes] = []
    number = 0
    answers = (*logged.choices(), None)
    for asked, moment, record in zip(_referees(logged), moments, answers, strict=False):
        own = [line for to, line in asked.outgoing() if to == seat]
        question = asked.awaiting
        if question is None or question.seat != seat:
            told += own
            continue
        number += 1
        told += own[:-1]
        round_number = moment.game.playing.number
        yield Decision(number, round_number, question, tuple(told), own[-1], moment, record)


def _referees(logged: LoggedGame) -> Iterator[Referee]:
    """Yield the referee before each answer, and after the last."""
    try:
        referee = Referee(setup_of(logged), b"", _logged_deals(logged))
        yield referee
        for record in logged.choices():
            _check_asked(logged, referee.awaiting, record)
            apply_record(referee, record)
            yield referee
    except CutOffError:
        return


def _check_asked(
    logged: LoggedGame, question: Question | None, record: ChoiceRecord | FoulRecord
) -> None:
    """Refuse an answer to another question than the one that is open. Raises DamagedLogError."""
    choice = record if isinstance(record, ChoiceRecord) else None
    if question is None or question.seat != record.seat or (choice and choice.id != question.id):
        answered = f"question {choice.id}" if choice else "no question"
        name = logged.game.game
        raise DamagedLogError(f"Game {name}: seat {record.seat} answers {answered}, not its own.")


def _moments(logged: LoggedGame, seat: int) -> Iterator[Step]:
    """Yield the table before each answer and at the end, with the events since the seat's own."""
    game: Game | None = None
    since: list[Event] = []
    for step in steps(logged):
        record = step.record
        if isinstance(record, ChoiceRecord | FoulRecord) and game:
            yield Step(game, tuple(since), step.options, record)
            if record.seat == seat:
                since.clear()
        if isinstance(record, DealRecord) and not (game and game.playing.over is None):
            since.clear()  # A round begins.
        since += step.events
        game = step.game
    if game:
        yield Step(game, tuple(since), engine.legal(game), None)


def find_decision(found: Sequence[Decision], wanted: int) -> Decision:
    """Return the question that a user means, by its number in the game or by its id.

    Raises UserError.
    """
    for decision in found:
        if wanted in (decision.number, decision.question.id):
            return decision
    asked = f"was asked {len(found)} questions" if found else "was not asked any question"
    raise UserError(f"There is no question {wanted}: this seat {asked} in this game.")


# --- rounds ---


def round_ends(logged: LoggedGame, seat: int) -> Iterator[RoundEnd]:
    """Yield the end of each finished round, for a seat. Raises DamagedLogError."""
    rules, seats = logged.sitting.rules, len(logged.sitting.seats)
    before = [0] * seats
    for step in steps(logged):
        if not isinstance(step.record, RoundRecord):
            continue
        state, scores = step.game.playing, step.game.scores
        gains = [now - was for now, was in zip(scores, before, strict=True)]
        others = opponents(rules, seats, seat)
        yield RoundEnd(
            round=state.number,
            why=step.record.why,
            out=state.out,
            hand=state.hands[seat],
            pips=engine.pips(step.game)[seat],
            drew=sum(isinstance(one, Drew) and one.seat == seat for one in state.events),
            passed=sum(isinstance(one, Passed) and one.seat == seat for one in state.events),
            gained=gains[seat],
            lost=max(gains[other] for other in others),
            ahead=scores[seat] - max(scores[other] for other in others),
        )
        before = list(scores)


def opponents(rules: Ruleset, seats: int, seat: int) -> tuple[int, ...]:
    """Return the seats that do not win with this one."""
    partners = rules.deal.partners
    side = side_of(partners, seat)
    return tuple(other for other in range(seats) if side_of(partners, other) != side)
