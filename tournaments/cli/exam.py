"""Problem sets: `check --exam` puts one to bots, `export --problems` makes one from games."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import chain
from math import isfinite
from pathlib import Path

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from arena.analysis.find import logs, require_path
from arena.analysis.text import option_words
from arena.document.blocks import (
    Cell,
    Column,
    Document,
    DocumentBlock,
    Media,
    Paragraph,
    Section,
    table,
    to_markdown,
)
from arena.document.terminal import open_console, renderables
from arena.exam.problems import (
    MOST_BYTES,
    ExamAnswer,
    Mark,
    PosedProblem,
    Problem,
    compare_answers,
    mark_answers,
    parse_problems,
    pose,
    problem_lines,
    sit_exam,
)
from arena.files import temporary_folder, write_atomic
from arena.logs.gamelog import read_games
from arena.machine import default_jobs
from arena.match.bot_process import CannotStartError
from arena.match.clock import LagError
from arena.program import run_async
from arena.rules.english import count_in_digits, join_words
from arena.rules.load import read_user_file
from arena.sandbox.command import Limits, SandboxMode
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.ui.console import print_json, print_note, print_paged, track, working, writing_beside
from protocol.codec import decode_json
from protocol.errors import UserError
from protocol.messages import Ask, Clock
from tournaments.cli.options import check_out_folder
from tournaments.event.combine import check_no_same_logs
from tournaments.event.folder import default_file
from tournaments.formats.base import Entrant
from tournaments.formats.entrant import own_or
from tournaments.plan.bots import own_bots, prepare_entrant, sample_folder
from tournaments.plan.read_plan import parse_event
from tournaments.play.sittings import check_greetings
from tournaments.rating.statistics import Estimate
from tournaments.report.report import csv_lines

SAMPLE_PROBLEMS = sample_folder() / "problems.jsonl"
"""The problem set that ships with the sample bots."""
ANSWER_COLUMNS = (
    "entrant",
    "problem",
    "kind",
    "rules",
    "choice",
    "loss",
    "error",
    "foul",
    "ms",
    "source",
)
EXAM_HELP = "How to read these numbers: `boneyard help authors`."
INTERVALS = 2
"""The most bots whose losses in each game have an interval: 80 columns have no room for more."""
DEAR_ANSWERS_SHOWN = 5
"""The number of a bot's costliest answers that are shown."""
DEAR_COLUMNS = (
    *(Column("problem"), Column("loss"), Column("choice", "word"), Column("best", "word")),
    *(Column("ends", "word"), Column("hand", "word", spare=True), Column("game", "name")),
)
MAX_BOTS_COMPARED = 4
"""The most bots whose losses in each game stand on a terminal; a file has all."""


class ExamResult(Struct, frozen=True):
    """A bot's result."""

    entrant: str
    sandbox: str
    marks: tuple[Mark, ...]
    answers: tuple[ExamAnswer, ...]


def examine_bots(
    words: Sequence[str],
    problems: Path | None,
    move_ms: int | None,
    sandbox: SandboxMode | None,
    *,
    jobs: int | None,
    out: Path | None,
    in_json: bool,
) -> int:
    """Put the problems to each bot, print the marks; return 1 if one fouled, else 0.

    `words`: bots as `run` takes them; none: all in folders here. `problems`: their file; None: the
    one of the sample bots. `jobs`: processes of a bot side by side. Raises UserError, OSError.
    """
    if out and out.suffix not in (".md", ".csv"):
        raise UserError(f"--out: {out} must end with .md or .csv.")
    check_out_folder(out)
    file = problems or SAMPLE_PROBLEMS
    problem_set = parse_problems(read_user_file(file, MOST_BYTES), f"{file}")
    clock = Clock(move_ms=move_ms) if move_ms else Clock()
    posed = cache(lambda clock: [(problem, pose(problem, clock)) for problem in problem_set])
    posed(clock)  # Reports a problem that cannot be played before any bot starts.
    with temporary_folder("exam", shared=True) as path:
        fields = {"clock": to_builtins(clock)}
        event, base = parse_event(words or tuple(own_bots(Path())), fields)
        # The candidates of a tune are the first bot with other values.
        bots = event.bots[: 1 if event.tune else None]
        entrants = [prepare_entrant(bot, base, path) for bot in bots]
        mode, limits = sandbox or "auto", Limits()
        box = choose_sandbox(mode, limits, path)
        if not box.is_locked and mode != "off":
            print_note(box.brief)
        greet = partial(check_greetings, say=print_note)
        run_async(greet, entrants, clock.start_ms, box)
        clocks = [own_or(entrant.clock, clock, entrant.command) for entrant in entrants]
        results = [
            _examined(entrant, posed(own_clock), own_clock, box, jobs or default_jobs())
            for entrant, own_clock in zip(entrants, clocks, strict=True)
        ]
    blocks = exam_blocks(problem_set, results)
    if out:
        text = [to_markdown(Document("Exam", blocks)).encode()]
        csv = out.suffix == ".csv"
        write_atomic(out, csv_lines(ANSWER_COLUMNS, _rows(problem_set, results)) if csv else text)
    if in_json:
        print_json(results)
    else:
        console = open_console()
        print_paged(renderables(blocks, console.width), console)
    return int(any(mark.fouls for result in results for mark in result.marks))


def _examined(
    entrant: Entrant,
    posed: Sequence[tuple[Problem, PosedProblem]],
    clock: Clock,
    sandbox: Sandbox,
    jobs: int,
) -> ExamResult:
    problems = [problem for problem, _ in posed]
    with working(f"Problems answered by {entrant.name}", lines=True) as tell:
        sit = partial(
            sit_exam, entrant.command, posed, clock, sandbox, jobs, lambda n: tell(n, len(problems))
        )
        try:
            with writing_beside():
                answers = run_async(sit)
        except* (CannotStartError, LagError) as group:
            raise UserError(f"Bot {entrant.name}: {group.exceptions[0]}.") from group
    marks = tuple(mark_answers(problems, answers))
    return ExamResult(entrant.name, sandbox.state, marks, tuple(answers))


# --- the results ---


def exam_blocks(problems: Sequence[Problem], results: Sequence[ExamResult]) -> list[DocumentBlock]:
    """Return the tables of all bots: by kind of problem, and by game."""
    kinds = [mark for mark in results[0].marks if not mark.rules]
    games = [mark for mark in results[0].marks if mark.rules]
    head = [Column("bot", "name")]
    for mark in kinds:
        head.append(Column(mark.kind or "loss", detail="±"))
        head += [Column("best %")] if mark.kind else []
    head += [Column("fouls"), Column("mean ms", spare=True)]
    by_kind = table("Loss by kind of problem", head, (_row(result, kinds) for result in results))
    detail = "±" if len(results) <= INTERVALS else ""
    columns = [
        Column("loss in problems", "word"),
        Column("number", spare=True),
        *(Column(result.entrant, detail=detail) for result in results),
    ]
    first, *others = results
    pairs = [(other, compare_answers(problems, other.answers, first.answers)) for other in others]
    comparison = table(
        f"Loss beyond that of {first.entrant}",
        [head[0], *(Column(mark.kind or "loss", detail="±") for mark in kinds)],
        ([other.entrant, *(_cell(*each[1:], "+") for each in losses)] for other, losses in pairs),
    )
    media = Media.ALL if len(results) <= MAX_BOTS_COMPARED else Media.FILES
    by_game = table("Loss by game", columns, (_game_row(mark, results) for mark in games))
    states = ", ".join(sorted({result.sandbox for result in results}))
    parts = join_words([count_in_digits(mark.problems, mark.kind) for mark in kinds if mark.kind])
    summary = f"{count_in_digits(len(problems), 'problem')} ({parts}), sandbox {states}."
    return [
        Paragraph(summary, "lead"),
        by_kind,
        *([Section(comparison.caption, [comparison])] if others else []),
        *(
            _dearest_answers(problems, result)
            for result in results
            if any(answer.loss > 0 for answer in result.answers)
        ),
        Section("Loss by game", [by_game], media=media),
        Paragraph(EXAM_HELP, "faint"),
    ]


def _dearest_answers(problems: Sequence[Problem], result: ExamResult) -> Section:
    """Return a bot's dearest answers, each with the tiles that it saw."""
    dear = sorted((a for a in result.answers if a.loss > 0), key=lambda a: -a.loss)
    posed = {problem.number: problem for problem in problems}
    rows = [_dear_row(posed[answer.number], answer) for answer in dear[:DEAR_ANSWERS_SHOWN]]
    title = f"Dearest answers of {result.entrant}"
    return Section(title, [table(title, DEAR_COLUMNS, rows)])


def _dear_row(problem: Problem, answer: ExamAnswer) -> list[str | Cell]:
    question = pose(problem, Clock())
    ask = decode_json(question.lines[-1], Ask)
    words = [*map(option_words, question.question.options)]
    choice, best = words[answer.choice or 0], words[problem.values.index(max(problem.values))]
    hand = " ".join(f"[{high}|{low}]" for high, low in ask.hand)
    ends = " and ".join(map(str, ask.ends))
    cells = (answer.foul or choice, best, ends, hand, problem.ruleset.name)
    return [f"{problem.number}", f"{answer.loss:.1f}", *cells]


def _row(result: ExamResult, kinds: Sequence[Mark]) -> list[str | Cell]:
    marks = {(mark.kind, mark.rules): mark for mark in result.marks}
    cells: list[str | Cell] = [result.entrant]
    for kind in kinds:
        mark = marks[kind.kind, ""]
        cells.append(_cell(mark.loss, mark.half_width))
        cells += [f"{100 * mark.best / mark.problems:.0f}"] if mark.kind else []
    fouls = sum(answer.foul is not None for answer in result.answers)
    mean = sum(answer.ms for answer in result.answers) / len(result.answers)
    return [*cells, f"{fouls}", f"{mean:.1f}"]


def _game_row(row_mark: Mark, results: Sequence[ExamResult]) -> list[str | Cell]:
    cells = (
        _cell(mark.loss, mark.half_width)
        for result in results
        for mark in result.marks
        if (mark.kind, mark.rules) == (row_mark.kind, row_mark.rules)
    )
    return [f"{row_mark.kind}, {row_mark.rules}", f"{row_mark.problems}", *cells]


def _cell(mean: float, half_width: float, sign: str = "") -> Cell:
    return Estimate(mean, half_width if isfinite(half_width) else None).cell(2, sign)


def _rows(problems: Sequence[Problem], results: Sequence[ExamResult]) -> Iterator[Sequence[object]]:
    posed = {problem.number: problem for problem in problems}
    for result in results:
        for answer in result.answers:
            task = posed[answer.number]
            facts = (answer.choice, answer.loss, answer.error, answer.foul, answer.ms)
            yield result.entrant, answer.number, task.kind, task.ruleset.name, *facts, task.source


# --- a new set ---


def make_set(
    folders: Sequence[Path],
    out: Path | None,
    *,
    endgames: int,
    middle_games: int,
    deals: int,
    seed: int,
) -> None:
    """Write a problem set made from game logs. Raises UserError, OSError.

    `deals`: those in which the options of a middle game are tried. `seed`: of the choice of games.
    """
    from arena.exam.problems import Candidates  # It needs numpy.

    file = out or default_file(folders, "problems.jsonl")
    check_out_folder(file)
    for path in folders:
        require_path(path)
    check_no_same_logs(folders)
    paths = [*chain.from_iterable(map(logs, folders))]
    candidates = Candidates(seed)
    for path in track(paths, "Logs searched", len(paths)):
        for logged in read_games(path):
            candidates.look(logged)
    with working("Middle games valued") as tell:
        middle = candidates.middle_games(middle_games, deals, lambda done: tell(done, middle_games))
        problems = [*candidates.endgames(endgames), *middle]
    if not problems:
        raise UserError("These games have no problems: no decision whose options differ clearly.")
    numbered = [replace(problem, number=number) for number, problem in enumerate(problems, start=1)]
    write_atomic(file, problem_lines(numbered))
    solved = sum(problem.kind == "endgame" for problem in numbered)
    print_note(f"{file}: {solved} endgames, {len(numbered) - solved} middle games.")
