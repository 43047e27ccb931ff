"""The command `explain`: why a bot lost an event or a game, and what a decision was worth."""

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from arena.analysis import review
from arena.analysis.find import (
    EVENT_FILE,
    find_seat,
    latest_folder,
    name_log,
    read_foul,
    require_one_game,
)
from arena.analysis.text import Look, option_words
from arena.analysis.timeline import AskedQuestion, RoundEnd, Timeline, round_ends
from arena.document.blocks import Cell, Column, DocumentBlock, Paragraph, table
from arena.document.terminal import open_console, renderables
from arena.files import write_atomic
from arena.logs.gamelog import read_games
from arena.program import INTERRUPTED
from arena.rules.english import count_in_digits
from arena.rules.load import load_ruleset
from arena.ui.console import (
    plain_console,
    print_json,
    print_note,
    print_paged,
    text_look,
    track,
    working,
)
from arena.valuation.terms import USUAL_WORLDS, ReviewedDecision, why_no_values
from protocol.codec import printable, printable_lines
from protocol.errors import UserError, unknown_name
from protocol.position import is_position
from protocol.records import FoulRecord, Result
from tournaments.cli.options import (
    CHOICES,
    FILE_PATH,
    GAME_ARGUMENT,
    LOG,
    USUAL_RULES,
    WISH,
    ExplainOptions,
    check_out_folder,
    choose_seat,
    command,
    complete_bots,
    complete_rules,
    complete_seats,
    flag,
    number,
    option,
)
from tournaments.commands.report import warn_of_faults, write_review
from tournaments.event.book import Book, results_of
from tournaments.event.facts import log_facts
from tournaments.event.folder import Folder, default_file, load_event
from tournaments.event.luck import DecisionLoss, ReviewTerms, SeatLosses, read_seats, terms_of_game
from tournaments.plan.bots import own_bot
from tournaments.report.review import DEAR_DECISIONS_NAMED, dearest, pick_dearest, review_blocks
from tournaments.study.losses import (
    CausesOf,
    Losses,
    RoundCauses,
    causes_by_round,
    count_losses,
    losses_blocks,
    luck_by_round,
    overview,
    summed,
)
from tournaments.study.valuation import quiz_cards, read_timeline, review_timeline

if TYPE_CHECKING:
    from arena.ui.position_pages import QuizCard

INCOMPLETE = 1
"""Exit code if some games could not be reviewed."""
QUIZ_PAGE = "quiz.html"
EXPLAIN_HELP = "How to read these numbers: `boneyard help events`."
EDITOR_PAGE = "editor.html"
REVIEW, QUESTION, EDITOR = "Values of options", "With a question", "Editor of positions"


@command()
@LOG
@GAME_ARGUMENT
@click.argument("question", required=False)
@click.argument("bot", nargs=-1, shell_complete=complete_bots)
@flag(
    "--review",
    "Review the decisions of the event or the game: what each choice cost.",
    section=REVIEW,
)
@flag(
    "--quiz",
    "With --review: write quiz.html, a page that asks the dearest of them again.",
    section=REVIEW,
)
@number(
    "--deals",
    "Deals of the hidden tiles over which an option is valued; also when a bot is asked.  "
    "[default: 64]",
    2,
    10_000,
    section=REVIEW,
)
@flag(
    "--ask",
    "Ask the bot that had the seat: starts the command in event.json, whoever wrote that, with "
    "its folder and its program, but without network and variables.",
    section=QUESTION,
)
@number(
    "--times", "Number of times to ask, each time in a new process.", 0, 1000, 1, section=QUESTION
)
@option(
    "--sandbox",
    section=QUESTION,
    type=WISH,
    help="As in `run`.  [default: as in the event, but not off]",
)
@flag("--raw", "Only print what the bot would be sent.", section=QUESTION)
@option(
    "--seat",
    "--bot",
    "seat",
    metavar="N|BOT",
    shell_complete=complete_seats,
    help="The bot to explain, or its seat's number.  [default: your bot, or who came last; with "
    "--review all]",
)
@flag("--all", "Show every round and decision of the game.", "shows_all")
@number("--round", "Show only this round.", 1)
@flag(
    "--editor",
    "Write editor.html, a page in which a round is laid by hand and becomes a position's line.",
    section=EDITOR,
)
@option(
    "--rules",
    section=EDITOR,
    shell_complete=complete_rules,
    help="The game that it begins with: a named game or your own rules file.",
)
@CHOICES
@option("--out", section=EDITOR, type=FILE_PATH, help="The page's file.  [default: editor.html]")
@flag("--json", "Print JSON instead of sentences.", "in_json")
def explain(
    log: Path | None, game: str | None, question: str | None, bot: tuple[str, ...], **options: Any
) -> int:
    """Explain why a bot lost: an event, a game or a decision.

    LOG is an event's folder or a game's log; by default the event in the current directory, or else
    the one here that was run last.

    \b
    explain                 where the points of all games went, and the worst games
    explain GAME            a game's rounds and what turned it
    explain GAME QUESTION   a decision as the bot saw it, what each option was worth
    explain POSITION        the same for a position in one line, without a log
    explain --editor        a page that writes the line of a round laid by hand
    explain --review        what all decisions of an event cost, on all cores
    explain GAME --review   the dearest decisions of a game, their options with values

    GAME is a game's name or any unique part of it. QUESTION is a number that `--all` shows. To ask
    a bot, name BOT as in `run`, or use --ask for the bot that had the seat: a fresh process of it
    gets the game and the question, byte for byte, under the same clock. Long output is shown
    in your pager ($PAGER) on a terminal.

    The value of an option is the lead that it brings by the round's end: the average over deals
    that the bot could not tell from the real one, played on by a simple bot. A choice's gap is the
    value of the best option less that of the chosen one. Chance makes gaps too large, so sums add
    up losses instead: estimates of the gap that are right on average and may be below 0. An event's
    review is in review.jsonl, its sums in review.json, each decision in review.csv. After an
    interrupt, a kill or new games the same command reviews the games that are left.

    Exit code 1 when a bot that is asked commits a foul.

    \b
    Examples:
      boneyard explain demo
      boneyard explain demo --bot greedy
      boneyard explain demo 1.greedy.suit --seat 1 --all
      boneyard explain demo 1.greedy.suit 3 --seat suit --ask
      boneyard explain demo 1.greedy.suit 3 --seat 1 --times 20 -- node my_bot.mjs
      boneyard explain demo 1.greedy.suit 3 --seat 1 --deals 200
      boneyard explain demo 1.greedy.suit 3 --seat 1 --raw | python my_bot.py
      boneyard explain demo --review --bot greedy
      boneyard explain demo 1.greedy.suit --review --all
      boneyard explain boneyard-play 3.you.greedy --review --seat you --quiz
    """
    request = ExplainOptions(**options)
    if request.quiz and (request.in_json or not request.review):
        raise UserError("--quiz goes with --review, and without --json.")
    without_editor = request._replace(editor=False, rules=None, choices=(), out=None)
    if request.editor:
        if log or without_editor != ExplainOptions():
            raise UserError("Only --rules, --set and --out go with --editor.")
        return _write_editor(request)
    if request != without_editor:
        raise UserError("--rules, --set and --out go with --editor.")
    if log and is_position(f"{log}"):
        from tournaments.cli.explain_question import explain_position

        if game or request.review or request.ask or request.raw or request.seat:
            raise UserError("A position stands alone: --deals and --json go with it.")
        return explain_position(f"{log}", request)
    path, words = name_log(log, game, question, *bot)
    if len(words) > 1:
        from tournaments.cli.explain_question import explain_question

        return explain_question(path, words, request)
    return explain_place(path, words[0] if words else None, request)


def _write_editor(request: ExplainOptions) -> int:
    """Write the editor's page; rules that a user names come first in it."""
    from arena.ui.position_pages import editor_page

    rules = load_ruleset(request.rules or USUAL_RULES, Path.cwd(), request.choices)
    path = request.out or Path(EDITOR_PAGE)
    check_out_folder(path)
    write_atomic(path, [editor_page(rules).encode()])
    print_note(f"Editor: {path}")
    return 0


def explain_place(path: Path, name: str | None, request: ExplainOptions) -> int:
    """Print why a bot lost an event or a game of it, as the options say; return the exit code.

    Raises UserError.
    """
    words = (name,) if name else ()
    is_game = bool(words) or not (path / EVENT_FILE).is_file()
    if request.review:
        return _review_game(path, name, request) if is_game else _review_event(path, request)
    if request.deals:
        raise UserError("--deals goes with --review.")
    return _explain_game(path, name, request) if is_game else _explain_event(path, request)


def _explain_game(log: Path, game: str | None, options: ExplainOptions) -> int:
    logged = require_one_game(log, game)
    seat = choose_seat(log, logged, options.seat)
    timeline = Timeline(logged)
    # Only a person's view of the whole game tells of the rivals' losses.
    shows_rivals = options.round is None and not options.in_json
    seats = range(len(logged.sitting.seats)) if shows_rivals else (seat,)
    with working("Luck and mistakes"):
        decisions = _review_seats(timeline, seats)
        causes = causes_by_round(timeline, seat, decisions[seat], terms_of_game(log, logged))
    if options.in_json:
        print_json({**review.seat_facts(timeline, seat), "causes": list(causes.values())})
        return 0
    console = plain_console()
    look = text_look(logged, console)
    parts = _explained(log, timeline, seat, options, look, causes, decisions)
    print_paged(parts, console, click.echo_via_pager)
    return 0


def _explained(
    log: Path,
    timeline: Timeline,
    seat: int,
    options: ExplainOptions,
    look: Look,
    causes: Mapping[int, RoundCauses],
    decisions: Mapping[int, Sequence[ReviewedDecision]],
) -> Iterator[RenderableType]:
    round, shows_all = options.round, options.shows_all
    logged, questions = timeline.logged, timeline.questions(seat)
    ends = list(round_ends(timeline, seat))
    if round is None:
        yield review.heading(logged, seat, questions, look)
        if ends:
            columns = _cause_columns(causes)
            rounds = review.round_blocks(ends, look, full=shows_all, more=columns)
            yield Group(*renderables(rounds, look.width))
        sentences = list(review.turning_points(ends, questions, look, full=shows_all))
        sentences += [*_told_causes(ends, causes), *_lost_by_others(look, seat, decisions)]
        yield Text("\n".join(f"- {sentence}" for sentence in sentences))
    if round is not None or shows_all:
        yield from _decisions(timeline, seat, round, look, causes)
    words = () if choose_seat(log, logged, None) == seat else ("--seat", f"{seat}")
    more = Text()
    if not shows_all:
        command = _command(log, logged.game.game, *words, "--all")
        more.append(f"All decisions: {command}\n", "dim")
    shown = [question for question in questions if round in (None, question.round)]
    of_round = [decision for decision in decisions[seat] if round in (None, decision.round)]
    number = _telling_question(shown, of_round)
    if number:
        more.append(f"One decision: {_command(log, logged.game.game, f'{number}', *words)}", "dim")
    yield more


def _telling_question(
    questions: Sequence[AskedQuestion], decisions: Sequence[ReviewedDecision]
) -> int | None:
    """Return the number of a foul, else of the dearest decision, else of any; None: no question."""
    # A foul costs the game whatever was played before.
    fouls = (question.number for question in questions if isinstance(question.answer, FoulRecord))
    dear = (decision.number for decision in sorted(decisions, key=lambda lost: -lost.loss))
    return next(chain(fouls, dear, (question.number for question in questions)), None)


def _cause_columns(causes: Mapping[int, RoundCauses]) -> dict[str, Callable[[RoundEnd], str]]:
    """Return the columns of luck and choices, points gained, if anything is drawn."""
    nothing = RoundCauses(None, None)

    def luck(end: RoundEnd) -> str:
        return f"{round(causes.get(end.round, nothing).luck or 0.0):+}"

    def mistakes(end: RoundEnd) -> str:
        return f"{-round(causes.get(end.round, nothing).mistakes or 0.0):+}"

    has_luck = any(cause.luck is not None for cause in causes.values())
    return {**({"luck": luck} if has_luck else {}), **({"choices": mistakes} if causes else {})}


def _told_causes(ends: Sequence[RoundEnd], causes: Mapping[int, RoundCauses]) -> Iterator[str]:
    """Say what luck and mistakes did in the round that cost the most, and in the game."""
    worst = min(ends, key=lambda end: end.swing, default=None)
    if worst and worst.swing < 0 and worst.round in causes:
        yield f"In round {worst.round} it {causes[worst.round].describe()}."
    if len(ends) > 1 and causes:
        estimate = "(estimated; not a split of the score)"
        yield f"In the whole game it {summed(causes).describe()} {estimate}."


def _review_seats(timeline: Timeline, seats: Iterable[int]) -> dict[int, list[ReviewedDecision]]:
    """Review the decisions of these seats, in a second or less; there are none without values."""
    from arena.valuation.decision_loss import review_seat  # It needs numpy.

    has_values = not why_no_values(timeline.logged.sitting.rules)
    return {seat: [*review_seat(timeline, seat)] if has_values else [] for seat in seats}


def _lost_by_others(
    look: Look, seat: int, decisions: Mapping[int, Sequence[ReviewedDecision]]
) -> Iterator[str]:
    """Yield a sentence for each other seat: what its decisions cost it in the game."""
    for rival, losses in decisions.items():
        if losses and rival != seat:
            points = max(0, round(sum(loss.loss for loss in losses)))
            yield f"{look.name(rival)} lost {count_in_digits(points, 'point')} to weaker choices."


def _command(path: Path, *words: str) -> str:
    """Return a command that explains more; the default folder is left out."""
    with suppress(UserError):
        if path == latest_folder():
            return printable_lines(shlex.join(("boneyard", "explain", *words)))
    return printable_lines(shlex.join(("boneyard", "explain", str(path), *words)))


def _decisions(
    timeline: Timeline, seat: int, round: int | None, look: Look, causes: Mapping[int, RoundCauses]
) -> Iterator[Text]:
    """Yield every decision, and each round's end after the last decision of that round."""
    questions = timeline.questions(seat)
    ends = review.ends_of_rounds(timeline, seat, look)
    numbers = sorted({*ends, *(question.round for question in questions)})
    if round is not None and round not in numbers:
        raise UserError(f"There is no round {round}: this game has {len(numbers)}.")
    for round_number in numbers if round is None else [round]:
        for question in questions:
            if question.round == round_number:
                yield review.decision_text(question, len(questions), look)
        if round_number in ends:
            yield ends[round_number]
        if round_number in causes:
            yield Text(f"In this round it {causes[round_number].describe()}.\n")


# --- an event ---


def _explain_event(path: Path, options: ExplainOptions) -> int:
    book = Book(Folder(path))
    folder, event = book.folder, book.event
    names = [bot.name for bot in event.entrants]
    if options.seat and options.seat not in names:
        raise unknown_name("bot", options.seat, names)
    bot = options.seat or own_bot(event)
    if options.in_json:
        print_json([_losses(book, name) for name in ([bot] if bot else names)])
        return 0
    console = open_console()
    if bot:
        losses = _losses(book, bot)
        foul = ""
        if losses.worst and losses.worst[0].foul:
            foul = read_foul(folder.path, losses.worst[0].game, losses.worst[0].seat)
        blocks = list(losses_blocks(losses, foul))
        game = losses.worst[0].game if losses.worst else "GAME"
        words = () if own_bot(event) == bot else ("--bot", bot)
        more = f"See one: {_command(path, game, *words)}"
    else:
        results = book.results
        facts = log_facts(folder, results)
        blocks = [*overview(event.rules, names, results.values(), facts.rounds)]
        more = f"One bot: {_command(path, '--bot', names[0])}"
    parts = renderables([*blocks, Paragraph(more, "faint")], console.width)
    print_paged(parts, console, click.echo_via_pager)
    return 0


def _losses(book: Book, bot: str) -> Losses:
    """Replay a bot's games and sum them up; show progress on a terminal."""
    folder, event = book.folder, book.event
    count = sum(bot in result.seats for result in results_of(folder.ledger, event))
    logs = (path for path in folder.logs() if f".{bot}." in f"{path.name}.")
    games = track(_games(logs, bot), "Games replayed", count)
    return count_losses(bot, event.rules, games, _known_causes(book, bot))


def _known_causes(book: Book, bot: str) -> CausesOf:
    """Return a function that tells the causes of a game's rounds, from luck.jsonl and a review."""
    event, luck = book.event, book.luck
    # A bot that is its own partner has two seats in a game.
    mistakes: defaultdict[str, list[Sequence[DecisionLoss]]] = defaultdict(list)
    for seat_losses in read_seats(book.folder):
        if seat_losses.entrant == bot:
            mistakes[seat_losses.game].append(seat_losses.decisions)

    def causes(result: Result, seat: int) -> dict[int, RoundCauses]:
        record = luck.known(result)
        by_luck = luck_by_round(record, event.rules, seat) if record else {}
        losses: dict[int, float] = dict.fromkeys(range(1, result.rounds + 1), 0.0)
        reviewed = mistakes[result.game]
        for decision in chain.from_iterable(reviewed):
            losses[decision.round] = losses.get(decision.round, 0.0) + decision.loss
        is_complete = len(reviewed) == result.seats.count(bot)
        return {
            number: RoundCauses(by_luck.get(number), losses[number] if is_complete else None)
            for number in losses
        }

    return causes


def _games(logs: Iterable[Path], bot: str) -> Iterator[tuple[Result, int, list[RoundEnd]]]:
    """Yield each finished game of a bot once, with the bot's seat and the rounds' ends for it."""
    names: set[str] = set()
    for logged in chain.from_iterable(map(read_games, logs)):
        name, seats = logged.game.game, logged.sitting.seats
        if logged.result and bot in seats and name not in names:
            names.add(name)
            seat = seats.index(bot)
            yield logged.result, seat, list(round_ends(Timeline(logged), seat))


OTHERS_SHOWN = 3
"""Options beside the chosen and the best one whose values are shown in a line."""
FACTS = [key for key in ReviewedDecision.__struct_fields__[1:] if key not in ("values", "errors")]
"""Fields of a decision that programs get as they are."""
DECISION_COLUMNS = (
    *(Column("question"), Column("round"), Column("phase", "word", spare=True)),
    *(Column("choice", "word"), Column("value"), Column("better", "word"), Column("value")),
    *(Column("gap", detail="±"), Column("game %"), Column("other options", "word", spare=True)),
)


def _review_game(log: Path, game: str | None, options: ExplainOptions) -> int:
    seat = options.seat
    logged = require_one_game(log, game)
    names, timeline = logged.sitting.seats, Timeline(logged)
    seats = [*range(len(names))] if seat is None else [find_seat(logged, seat)]
    terms = ReviewTerms(logged.sitting.event, options.deals or USUAL_WORLDS)
    reviews = [
        review_timeline(timeline, seat, terms)
        for seat in track(seats, "Seats reviewed", len(seats))
    ]
    name = logged.game.game
    if options.in_json:
        facts = {"game": name, "worlds": terms.worlds}
        print_json({**facts, "seats": [_facts(timeline, losses) for losses in reviews]})
        return 0
    console = open_console()
    blocks = [block for losses in reviews for block in _blocks(timeline, losses, options.shows_all)]
    print_paged(renderables(blocks, console.width), console, click.echo_via_pager)
    if options.quiz:
        _write_quiz(log, quiz_cards((losses, lambda: timeline) for losses in reviews))
    return 0


def _write_quiz(log: Path, cards: "Sequence[QuizCard]") -> None:
    """Write the page of a quiz into the folder of an event, or of a log's games."""
    from arena.ui.position_pages import quiz_page

    path = default_file([log if log.is_dir() else log.resolve().parent], QUIZ_PAGE)
    write_atomic(path, [quiz_page(cards).encode()])
    print_note(f"Quiz: {path}")


def _facts(timeline: Timeline, losses: SeatLosses) -> dict[str, Any]:
    """Return a seat's review for programs: each option in words, with its value and error."""
    decisions = [
        {
            "question": loss.number,
            **{name: getattr(loss, name) for name in FACTS},
            "options": [
                dict(zip(("option", "value", "error"), row, strict=True))
                for row in zip(
                    _options(timeline, losses, loss), loss.values, loss.errors, strict=True
                )
            ],
        }
        for loss in losses.decisions
    ]
    seat = {"seat": losses.seat, "entrant": losses.entrant, "rounds": losses.rounds}
    return {**seat, "decisions": decisions}


def _options(timeline: Timeline, losses: SeatLosses, loss: DecisionLoss) -> list[str]:
    return [*map(option_words, timeline.questions(losses.seat)[loss.number - 1].options)]


# --- the review of an event ---


def _review_event(path: Path, options: ExplainOptions) -> int:
    """Review the games that are not reviewed yet, and print the sums; return the exit code.

    Raises UserError; DamagedFileError is one.
    """
    folder, seat = Folder(path), options.seat
    try:
        summary, played, faults = write_review(folder, seat, options.deals)
    except KeyboardInterrupt:
        words = ("--review", *(("--bot", seat) if seat else ()))
        print_note(f"Interrupted. `{_command(path, *words)}` goes on with the rest.")
        return INTERRUPTED
    warn_of_faults(faults)
    if options.in_json:
        print_json(summary)
        return INCOMPLETE if faults else 0
    console, more = open_console(), [EXPLAIN_HELP]
    for dear in dearest(summary)[:1]:
        game, place = dear.game, ("--seat", f"{dear.seat}")
        more.append(f"The decisions of a game: {_command(path, game, '--review', *place)}")
        more.append(f"One decision: {_command(path, game, f'{dear.number}', *place)}")
    bot = own_bot(load_event(folder))
    blocks = [
        *review_blocks(summary, played, reader=bot),
        *(Paragraph(line, "faint") for line in more),
    ]
    print_paged(renderables(blocks, console.width), console, click.echo_via_pager)
    if options.quiz:
        rows = (
            (losses, partial(read_timeline, path, losses.game))
            for losses in read_seats(folder)
            if seat in (None, losses.entrant)
        )
        _write_quiz(path, quiz_cards(rows))
    return INCOMPLETE if faults else 0


# --- as blocks ---


def _blocks(timeline: Timeline, losses: SeatLosses, shows_all: bool) -> Iterator[DocumentBlock]:
    yield Paragraph(f"{printable(losses.entrant)} in seat {losses.seat} of {losses.game}", "strong")
    if not losses.decisions:
        yield Paragraph("It had no decision between several options.")
        return
    loss = count_in_digits(max(0, round(sum(loss.loss for loss in losses.decisions))), "point")
    best = sum(loss.choice == loss.best for loss in losses.decisions)
    rounds = f" in {count_in_digits(losses.rounds, 'round')}" if losses.rounds else ""
    yield Paragraph(
        f"It lost about {loss} by its choices{rounds} and chose the best option "
        f"in {best} of {count_in_digits(len(losses.decisions), 'decision')}."
    )
    decisions = losses.decisions
    if not shows_all and len(decisions) > DEAR_DECISIONS_NAMED:
        wrong = [loss for loss in decisions if loss.choice != loss.best]
        decisions = tuple(pick_dearest(wrong, DEAR_DECISIONS_NAMED))
        yield Paragraph(
            f"The {len(decisions)} that most surely cost points; --all shows all, in order:"
        )
    rows = [_row(loss, _options(timeline, losses, loss)) for loss in decisions]
    yield table("Decisions", DECISION_COLUMNS, rows)


def _row(loss: DecisionLoss, options: Sequence[str]) -> list[str | Cell]:
    values = [_signed(value) for value in loss.values]
    better = [loss.better, values[loss.best]] if loss.best != loss.choice else ["", ""]
    width = "exact" if loss.exact else f"{2 * loss.error:.1f}"
    left = sorted(
        {*range(len(options))} - {loss.choice, loss.best}, key=lambda index: -loss.values[index]
    )
    others = [f"{options[index]} {values[index]}" for index in left[:OTHERS_SHOWN]]
    if len(left) > OTHERS_SHOWN:
        others.append(f"{len(left) - OTHERS_SHOWN} more")
    return [
        *(f"{loss.number}", f"{loss.round}", loss.phase),
        *(loss.chosen, values[loss.choice], *better),
        Cell(f"{round(loss.gap, 1) + 0.0:.1f}", detail=width),
        f"{loss.percent_gap:.1f}",
        ", ".join(others),
    ]


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:+.1f}"
