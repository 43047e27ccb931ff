"""The timeline of a logged game: one checked walk of its log, and its replay by a referee."""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from msgspec import UNSET, Struct
from msgspec.structs import replace

from arena import engine
from arena.analysis.alternative_deals import (
    SILENT_ANSWERS,
    PublicMove,
    RoundHistory,
    draw_opening,
    find_round,
    logged_opening,
    position_rules,
    reach_question,
)
from arena.engine import deal, values, view
from arena.engine.state import Dealt, Game, Opening
from arena.engine.view import LineWriter
from arena.logs.gamelog import ANSWER_RECORDS, DamagedLogError, LoggedGame
from arena.match.clock import bank_left_ms
from arena.match.referee import (
    QUESTIONS_A_GAME,
    GameSetup,
    OpenQuestion,
    Referee,
    decided_by_fouls,
    needs_answer,
)
from protocol.codec import Fault, encode_line
from protocol.errors import UserError
from protocol.messages import Choose, Drew, Event, Option, Passed, Play, PlayTwo, WhyRound
from protocol.position import Position, read_position
from protocol.records import (
    ChoiceRecord,
    DealRecord,
    FoulRecord,
    GameRecord,
    LogRecord,
    Result,
    RoundRecord,
    SentRecord,
    SpentRecord,
)
from protocol.ruleset import Ruleset, Tile, hand_size, set_of_tiles, side_of

# Replay of a logged game from its seed, by a referee, with the mismatches that it finds.


def setup_of(logged: LoggedGame, seed: bytes | None = None) -> GameSetup:
    """Return the setup of a logged game.

    `seed`: its board's, which draws the hidden tiles of a position from which the game goes on;
    None: its log has them. Raises DamagedLogError.
    """
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
        opening=_opening_of(logged, seed),
    )


def _opening_of(logged: LoggedGame, seed: bytes | None) -> Opening | None:
    line, rules, seats = logged.sitting.position, logged.sitting.rules, len(logged.sitting.seats)
    if not line:
        return None
    deals = [deal_of(record) for record in logged.records if isinstance(record, DealRecord)]
    first_round = [dealt for dealt in deals if dealt.round == deals[0].round]
    try:
        position = read_position(line)
        if (position_rules(position), len(position.scores)) != (rules, seats):
            raise UserError("its position is of other rules or seats.")
        new = values.new_game(rules, seats)
        if not all(_is_dealt_by_rules(new, dealt) for dealt in first_round):
            raise UserError("its first deals are not of its rules.")
        if seed is None:
            return logged_opening(position, first_round)
        return draw_opening(line, seed)
    except UserError as error:
        raise DamagedLogError(f"Game {logged.game.game}: {error}") from error


def resume_game(referee: Referee, logged: LoggedGame) -> bool:
    """Bring a new referee to where a log was cut off; return False if the log does not fit it.

    It then sends to fresh bots all that was sent, except the questions that were answered. Sealed
    bots are sent these too: by giving the same answers they come into the same state.
    """
    clocks = logged.sitting.seat_clocks
    sealed = {seat for seat, clock in enumerate(clocks) if clock.effort}
    lines = [*_answer_again(referee, logged, sealed)]
    new_records, log_records = referee.take_records(), (logged.game, *logged.records)
    first_records = new_records[: len(log_records)]
    repeated = (record.seat for record in logged.choices() if record.seat in sealed)
    referee.send_again(lines, [*log_records, *new_records[len(log_records) :]], repeated)
    return [*map(without_evidence, log_records)] == [*map(without_evidence, first_records)]


def _answer_again(
    referee: Referee, logged: LoggedGame, sealed: Collection[int] = ()
) -> Iterator[tuple[int, bytes]]:
    """Apply all answers and fouls of a log; yield the lines but the questions that they answer.

    `sealed`: the seats whose questions it yields too.
    """
    for record in logged.choices():
        question = referee.awaiting
        if question is None or question.seat != record.seat:
            break
        lines = referee.take_outgoing()
        yield from lines if record.seat in sealed else lines[:-1]  # The question is the last.
        repeat_answer(referee, record)
    yield from referee.take_outgoing()


def repeat_answer(referee: Referee, record: ChoiceRecord | FoulRecord) -> None:
    """Give a referee what a log has of the seat that it asks."""
    seat, ms, lag_ms = record.seat, record.ms, record.given_back_ms
    if isinstance(record, FoulRecord):
        fault, line = Fault(record.foul, record.detail), record.line.encode()
        referee.forfeit(seat, fault, ms=ms, line=line, given_back_ms=lag_ms)
    else:
        answer = Choose(
            id=record.id,
            choice=record.choice,
            note=record.note,
            usage=record.usage,
            info=record.info,
        )
        referee.receive(seat, b"", ms, lag_ms, answer)


def mismatches(logged: LoggedGame, seed: bytes) -> Iterator[str]:
    """Yield what in the log does not follow from the seed and the recorded answers."""
    referee = Referee(setup_of(logged, seed), seed)
    # Nobody reads the lines: only their hashes count.
    deque(_answer_again(referee, logged), maxlen=0)
    new_records = referee.take_records()
    log_records = (logged.game, *logged.records)
    # No replay can know the time used.
    records = [record for record in log_records if not isinstance(record, SpentRecord)]
    for number, (was, now) in enumerate(zip(records, new_records, strict=False)):
        if was != now and without_evidence(was) != without_evidence(now):
            yield _difference(logged, number, was, now)
            return
    if logged.result and len(new_records) != len(records):
        yield f"{logged.game.game}: {len(records)} records, but {len(new_records)} follow"


def without_evidence(record: LogRecord) -> LogRecord:
    """Return a record without evidence that only the table could know."""
    if isinstance(record, ChoiceRecord):
        return replace(record, stderr="")
    if not isinstance(record, FoulRecord):
        return record
    return replace(record, stderr="", stdout=UNSET, line="", limit_ms=0, cpu_ms=None)


def _difference(logged: LoggedGame, number: int, was: LogRecord, now: LogRecord) -> str:
    names = {DealRecord: "the deal", GameRecord: "its first record"}
    label = names.get(type(now), f"record {number}")
    lines = [encode_line(record).decode().strip()[:300] for record in (was, now)]
    return f"{logged.game.game}: {label} is {lines[0]}, but {lines[1]} follows"


# The timeline of a logged game: one checked walk of its log, in which every analysis looks up.


AnswerRecord = ChoiceRecord | FoulRecord
"""A bot's reaction to a question."""


class Moment(Struct, frozen=True):
    """One event of a logged game, with nothing hidden."""

    before: Game
    game: Game
    events: tuple[Event, ...]
    """The events that it added to the history of the round."""
    question: OpenQuestion | None
    """The question that the record answers; without a record, the one at which the log ends."""
    record: LogRecord | None
    """The line of the log; None: the moment followed from the rules."""
    index: int
    """The index of the record in the game's records; without one, of the last before it."""
    history: RoundHistory | None = None
    """The round before the moment, as everybody sees it; None outside the walk of a log."""
    is_opening: bool = False
    """True if the position from which the game goes on has it."""

    @property
    def options(self) -> tuple[Option, ...]:
        """Return the options of the seat that was asked; none if none was asked."""
        return self.question.options if self.question else ()


class AskedQuestion(Struct, frozen=True):
    """A question to a seat in a logged game, the table at that moment, and the answer."""

    question: OpenQuestion
    game: Game
    events: tuple[Event, ...]
    """The events since the question before, or since the round began."""
    index: int
    """The index in the game's records of the answer, or of where it would stand."""
    answer: AnswerRecord | None
    """The answer or the foul; None: the game was cut off before."""
    history: RoundHistory
    """The round up to the question, as everybody sees it."""

    @property
    def number(self) -> int:
        """The question's number among those to this seat in the game, from 1."""
        return self.question.id % QUESTIONS_A_GAME

    @property
    def round(self) -> int:
        """The round's number in the game, from 1."""
        return self.game.playing.number

    @property
    def seat(self) -> int:
        """The seat that was asked."""
        return self.question.seat

    @property
    def options(self) -> tuple[Option, ...]:
        """The seat's options."""
        return self.question.options

    @property
    def choice(self) -> int | None:
        """The index of the chosen option; None after a foul or without an answer."""
        return self.answer.choice if isinstance(self.answer, ChoiceRecord) else None


class RoundEnd(Struct, frozen=True):
    """The end of a round, and its result for one seat."""

    round: int
    why: WhyRound
    out: int | None
    hand: tuple[Tile, ...]
    pips: int
    drew: int
    passed: int
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


class Timeline:
    """A logged game, walked once: its moments in order, the questions and the ends of rounds."""

    def __init__(self, logged: LoggedGame) -> None:
        """Walk the log. Raises DamagedLogError at the first record that cannot follow."""
        self.logged = logged
        self.moments = tuple(walk_log(logged))
        self._questions: list[list[AskedQuestion]] = [[] for _ in logged.sitting.seats]
        self._ask_all()

    def questions(self, seat: int) -> Sequence[AskedQuestion]:
        """Return every question to a seat, in order; the last may be without an answer."""
        return self._questions[seat]

    def chosen_plays(self, seat: int) -> Iterator[tuple[Game, Play | PlayTwo]]:
        """Yield each play that a seat chose among several, behind the game before it."""
        for question in self.questions(seat):
            plays = [option for option in question.options if isinstance(option, Play | PlayTwo)]
            if question.choice is not None and len(plays) > 1:
                option = question.options[question.choice]
                if isinstance(option, Play | PlayTwo):
                    yield question.game, option

    def _ask_all(self) -> None:
        for moment in self.moments:
            if moment.question and moment.history:
                self._ask(moment, moment.question, moment.history)

    def _ask(self, moment: Moment, question: OpenQuestion, history: RoundHistory) -> None:
        questions, now = self._questions[question.seat], moment.before.playing
        before = questions[-1].game.playing if questions else now
        count = len(before.events) if questions and before.number == now.number else 0
        answer = moment.record
        assert answer is None or isinstance(answer, ANSWER_RECORDS)
        index = moment.index if answer else len(self.logged.records)
        events = now.events[count:]
        questions.append(AskedQuestion(question, moment.before, events, index, answer, history))

    def line(self, question: AskedQuestion) -> bytes:
        """Return a question as it was written, byte for byte."""
        message, writer = question.question, self._writer(question.game)
        return writer.question(message.seat, message.options, message.id, message.time_ms)

    def context(self, question: AskedQuestion) -> list[bytes]:
        """Return the lines that the seat had been sent in this game, without earlier questions."""
        setup, seat = setup_of(self.logged), question.seat
        new = self.moments[0].before
        clock, chances = setup.clock_of(seat), self.logged.game.chances
        starts = view.starting_events(new, setup.number, seat, clock, chances)
        over = (moment.game for moment in self.round_ends() if moment.index < question.index)
        ends = (self._writer(game).round_over()[seat] for game in over)
        return [encode_line(starts), *ends]

    def _writer(self, game: Game) -> LineWriter:
        return LineWriter(game, self.logged.game.number)

    def round_ends(self) -> Iterator[Moment]:
        """Yield the end of each finished round."""
        return (moment for moment in self.moments if isinstance(moment.record, RoundRecord))


def question_of(position: Position) -> AskedQuestion:
    """Return the question of a position, in a round that leads to it.

    Raises UserError if the rules forbid the position, or no such round was found.
    """
    history = find_round(position)
    game = reach_question(history, position)
    question = OpenQuestion(game.playing.turn, 1, engine.legal(game), 0)
    return AskedQuestion(question, game, game.playing.events, 0, None, history)


def find_question(questions: Sequence[AskedQuestion], wanted: int) -> AskedQuestion:
    """Return the question that a user means, by its number in the game or by its id.

    Raises UserError.
    """
    for question in questions:
        if wanted in (question.number, question.question.id):
            return question
    phrase = f"was asked {len(questions)} questions" if questions else "was not asked any question"
    raise UserError(f"There is no question {wanted}: this seat {phrase} in this game.")


def round_ends(timeline: Timeline, seat: int) -> Iterator[RoundEnd]:
    """Yield the end of each finished round, for a seat."""
    rules, seats = timeline.logged.sitting.rules, len(timeline.logged.sitting.seats)
    others, moments = opponents(rules, seats, seat), timeline.moments
    before = moments[0].before.scores if moments else ()
    for moment in timeline.round_ends():
        game, state = moment.game, moment.game.playing
        assert state.over
        scores = game.scores
        gains = [now - was for now, was in zip(scores, before, strict=True)]
        yield RoundEnd(
            round=state.number,
            why=state.over,
            out=state.out,
            hand=state.hands[seat],
            pips=engine.pips(game)[seat],
            drew=sum(isinstance(event, Drew) and event.seat == seat for event in state.events),
            passed=sum(isinstance(event, Passed) and event.seat == seat for event in state.events),
            gained=gains[seat],
            lost=max(gains[other] for other in others),
            ahead=scores[seat] - max(scores[other] for other in others),
        )
        before = scores


def opponents(rules: Ruleset, seats: int, seat: int) -> tuple[int, ...]:
    """Return the seats that do not win with this one."""
    partners = rules.deal.partners
    side = side_of(partners, seat)
    return tuple(other for other in range(seats) if side_of(partners, other) != side)


# --- the walk ---


def walk_log(logged: LoggedGame) -> Iterator[Moment]:
    """Yield the moments of a game from its log alone: the log has the hands, so no seed is needed.

    A log that ends at an open question has one more moment. Raises DamagedLogError at the first
    record that cannot follow.
    """
    walker = Walker(setup_of(logged))
    for index, record in enumerate(logged.records):
        if misfit := walker.misfit(record):
            raise DamagedLogError(f"Game {logged.game.game}, record {index + 1}: {misfit}.")
        yield from walker.take(record, index)
    if walker.question:
        game = walker.game
        index = len(logged.records) - 1
        yield Moment(game, game, (), walker.question, None, index, walker.history)


class Walker:
    """A game replayed from its records, with the time of each seat."""

    def __init__(self, setup: GameSetup) -> None:
        self._setup, seats = setup, range(len(setup.seats))
        opening = setup.opening
        self.game = opening.start if opening else values.new_game(setup.rules, len(seats))
        self._deals_left = len(opening.deals) if opening else 0
        self._taken = deque(opening.options if opening else ())
        self._is_dealt = False
        self.question: OpenQuestion | None = None
        self.history = RoundHistory(self.game, (), ())
        self._fouled = set(setup.forfeited)
        self._last_ids = [setup.number * QUESTIONS_A_GAME for _ in seats]
        self._bank_ms = [float(setup.clock_of(seat).bank_ms) for seat in seats]

    @property
    def _is_over(self) -> bool:
        decided = decided_by_fouls(self.game, self._setup.fouls, self._fouled)
        return self.game.over is not None or decided

    def take(self, record: LogRecord, index: int) -> Iterator[Moment]:
        """Yield the moment of a record, and those after it that need no answer."""
        over_before_deal = not (self._is_dealt or isinstance(record, DealRecord)) and self._is_over
        if isinstance(record, SentRecord | SpentRecord) or over_before_deal:
            return  # Nothing happened at the table.
        before, question, is_opening = self.game, None, False
        if before.round is None or before.round.over:
            self.history = RoundHistory(before, (), ())
        history = self.history
        match record:
            case DealRecord():
                dealt, is_opening = deal_of(record), self._deals_left > 0
                self._deals_left, self._is_dealt = self._deals_left - is_opening, True
                self.game = values.begin(before, dealt)
                self.history = history._replace(deals=(*history.deals, dealt))
            case ChoiceRecord() | FoulRecord():
                question, self.question = self.question, None
                assert question, "A record that fits answers a question."
                self._last_ids[record.seat] += 1
                move_ms = self._setup.clock_of(record.seat).move_ms
                bank_ms = bank_left_ms(self._bank_ms[record.seat], move_ms, record.ms)
                self._bank_ms[record.seat] = bank_ms
                if isinstance(record, ChoiceRecord):
                    self._act(question.options[record.choice])
                else:
                    self._fouled.add(record.seat)
            case _:
                pass
        yield self._moment(before, question, record, index, history, is_opening=is_opening)
        while self._taken and values.legal(self.game):
            before, history = self.game, self.history
            self._act(self._taken.popleft())
            yield self._moment(before, None, None, index, history, is_opening=True)
        # A seat's only option, and any of a seat that has fouled, is taken without a question.
        while self.question is None and not self._is_over and (options := values.legal(self.game)):
            before, history, seat = self.game, self.history, self.game.playing.turn
            if needs_answer(self._setup.clock, options, fouled=seat in self._fouled):
                time_ms = self._setup.clock_of(seat).move_ms + int(self._bank_ms[seat])
                self.question = OpenQuestion(seat, self._last_ids[seat] + 1, options, time_ms)
            else:
                self._act(options[0])
                yield self._moment(before, None, None, index, history)

    def _act(self, option: Option) -> None:
        """Let the seat to move take an option."""
        seat, game, history = self.game.playing.turn, self.game, self.history
        if not isinstance(option, SILENT_ANSWERS):
            move = PublicMove(seat, option, seat in self._fouled)
            self.history = history._replace(acts=(*history.acts, move))
        self.game = values.act_unchecked(game, option)

    def _moment(
        self,
        before: Game,
        question: OpenQuestion | None,
        record: LogRecord | None,
        index: int,
        history: RoundHistory,
        *,
        is_opening: bool = False,
    ) -> Moment:
        old, new = before.round, self.game.playing
        count = len(old.events) if old and old.number == new.number else 0
        events = new.events[count:]
        return Moment(before, self.game, events, question, record, index, history, is_opening)

    def misfit(self, record: LogRecord) -> str | None:
        """Return the reason why a record cannot come next, if there is one."""
        game = self.game
        match record:
            case DealRecord():
                return self._misdeal(deal_of(record))
            case ChoiceRecord() | FoulRecord():
                return self._unasked(record)
            case RoundRecord():
                state = game.round
                follows = state and (state.number, state.over, game.points, game.scores)
                if follows != (record.round, record.why, record.points, record.scores):
                    return "the round does not end so"
            case Result():
                if not (self._is_dealt or self._is_over):
                    return "a result before any deal"
                if {len(record.seats), len(record.scores), len(record.places)} != {game.seats}:
                    return f"the result is not one of {game.seats} seats"
            case _:
                pass
        return None

    def _unasked(self, record: AnswerRecord) -> str | None:
        question = self.question
        if question is None or question.seat != record.seat:
            return f"seat {record.seat} was not asked"
        if isinstance(record, FoulRecord):
            return None
        if record.choice not in range(len(question.options)):
            return f"choice {record.choice} of {len(question.options)}, counted from 0"
        if record.id != question.id:
            return f"an answer to question {record.id}; question {question.id} is open"
        return None

    def _misdeal(self, dealt: Dealt) -> str | None:
        """Return the fault of a deal: it must be next, of the whole set, in the engine's order."""
        game = self.game
        if self._is_over or not values.needs_deal(game):
            return "a deal before the round is over, or after the game"
        before, seats = game.round, range(game.seats)
        leaders: tuple[int, ...] = tuple(seats)
        if before and not before.over and self.history.deals:
            turn, leaders = (before.number, before.phase.deal + 1), (before.phase.began,)
        else:
            # A position begins in the state before its round's deal.
            is_begun = before is not None and not before.over
            method = before.phase.method if before and is_begun else deal.method(game)
            turn = (before.number if before else 0) + (not is_begun), method != "odd_even"
        if (dealt.round, dealt.deal) != turn:
            return f"deal {dealt.deal} of round {dealt.round} is dealt out of order"
        if not (dealt.leader in leaders and _is_dealt_by_rules(game, dealt)):
            return "the deal is not one of these rules"
        return None


def deal_of(record: DealRecord) -> Dealt:
    """Return a recorded deal as the engine takes it."""
    return Dealt(record.round, record.deal, record.leader, record.lots, record.hands, record.stock)


def _is_dealt_by_rules(game: Game, dealt: Dealt) -> bool:
    tiles, seats = set_of_tiles(game.rules.deal), range(game.seats)
    lots = all(lot.seat in seats and lot.tile in tiles for lot in dealt.lots)
    return lots and dealt.leader in seats and _is_whole(game, dealt)


def _is_whole(game: Game, dealt: Dealt) -> bool:
    """Tell whether all tiles are dealt by these rules; none are before odd or even is called."""
    if dealt.deal == 0:
        return dealt.hands == ((),) * game.seats and not dealt.stock
    rules, rest = game.rules, tuple(chain(*dealt.stock))
    has_all = sorted(chain(*dealt.hands, rest)) == list(set_of_tiles(rules.deal))
    even = [hand_size(rules.deal, game.seats)] * game.seats == list(map(len, dealt.hands))
    return has_all and even and dealt.stock == deal.arrange_stock(rules.boneyard, rest, game.seats)
