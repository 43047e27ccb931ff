"""The commands `run` and `demo`: play an event, show its progress, publish its results."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from arena.analysis.find import DEMO, RUNS
from arena.files import describe_error, read_file, write_atomic
from arena.logs.catalog import GAMES_FOLDER, REPLAY_ENDING, remove_leftovers
from arena.logs.checksummed import status_of
from arena.machine import cores
from arena.program import INTERRUPTED, run_async
from arena.rules.english import count_in_digits
from arena.sandbox.command import SandboxMode
from arena.sandbox.process import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.ui.console import print_note, shown_path, working, writing_beside
from protocol.errors import UserError
from tournaments.cli.options import (
    CHOICES,
    DIRECTORY,
    JOBS,
    SANDBOX_OPTION,
    TLS,
    command,
    complete_bots,
    complete_events,
    event_options,
    flag,
    help_all,
    number,
    option,
    position_line,
    take_event_fields,
)
from tournaments.commands.run import (
    PlayGames,
    load_display,
    play_here,
    play_to_end,
    publish_reports,
)
from tournaments.event.book import Book, Ledger, missing_results, read_ledger, refuse_fewer_logs
from tournaments.event.folder import Folder, digest, kept_private, load_event, was_locked
from tournaments.event.grow import (
    CannotExtendError,
    FreshBoards,
    choose_folders,
    held_unless_refused,
    open_event,
    withdrawn_entrants,
)
from tournaments.event.luck import on_all_cores
from tournaments.formats.tables import Matches
from tournaments.formats.versus import Versus
from tournaments.plan.bots import keep_version, keeps_versions, sample_bots, version_before
from tournaments.plan.event import Event
from tournaments.plan.read_plan import EventPlan, read_plan
from tournaments.plan.schedule import describe_spent_out
from tournaments.play.cluster.orders import ClusterAddress, need_engine, parse_cluster_option
from tournaments.play.sittings import STOPPED, UNMET, check_greetings, stop_sentence
from tournaments.report.event_text import describe_access

if TYPE_CHECKING:
    from tournaments.play.cluster.client import BotSource

DEMO_LADDER = ("greedy", "suit", "counting", "montecarlo --worlds 20", "ismcts --simulations 400")
"""Sample bots, each of which meets the one before it; the first three and the last three meet each
other. The searchers think for less than usual: so it takes twelve seconds on two cores."""
DEMO_OTHERS = ("random-js", "random-c", "random-sh")
"""One bot in each other language, which meets the first of the ladder."""
DEMO_TITLE = "Demo: the ladder of sample bots"
DEMO_RULES = ("target=30",)
"""Choices of the demo's rules: short games."""
DEMO_BEGIN = "{} sample bots play, on the same deals from both seats."
DEMO_DEALS = "The demo's deals are always the same."
MOST_REPLAYS = 3_000
"""The largest run whose replays are made at its end: at 4 ms a game some 6 s of two cores."""
STDERR_GAMES = 400
"""The first games of a run whose logs keep stderr unasked: at 128 KiB a game some 50 MB at most."""
FEW_GAMES = 0.01
"""Share of an event's games for which no report is written before they are played."""
BEFORE = {"measure": "points", "h1": 5.0, "without_luck": True}
"""The test of --before. In `draw` a lead of 5 points a game is some 25 Elo."""
BY_SEED = "The deals come from a seed: anyone can predict them."


OUT_OPTION = partial(
    option,
    "--out",
    type=DIRECTORY,
    shell_complete=complete_events,
    help="The event's folder; use the same one again to continue.",
)
JSON = flag("--json", "Print results.json instead of a table.", "in_json")
ShowResult = Callable[[Folder], None]
"""A function that shows what came of an event, from the report in its folder."""


@command()
@click.argument("entries", metavar="[WHAT]...", nargs=-1, shell_complete=complete_bots)
@CHOICES
@flag(
    "--before",
    "Play the bot's files as they are now against its last version before them, until a test "
    "decides, with luck taken out.",
)
@option(
    "--fail-unless",
    section="Format",
    rare=True,
    type=click.Choice(["better", "undecided"]),
    help="versus: exit code 3 unless the first bot is better, or at least the test undecided.",
)
@JOBS
@option(
    "--cluster",
    section="Machine",
    rare=True,
    metavar="ADDRESS",
    help="Play on the workers of the scheduler at this address. See `boneyard worker`.",
)
@TLS(section="Machine", rare=True)
@option(
    "--seed",
    type=int,
    rare=True,
    help="Fix the deals, for tests and demonstrations: anyone can then predict them.",
)
@OUT_OPTION(show_default=f"{RUNS}/ and what is played")
@flag("--plan", "Only estimate the duration and the precision of the ratings.")
@number("--seconds", "Time limit of the games of --plan, in s.", 1, 600, 8, rare=True)
@flag(
    "--keep-stderr",
    "Keep in the game logs what bots write to stderr, beside their answers, also of an event file "
    f"or after the first {STDERR_GAMES} games.",
    rare=True,
)
@JSON
@flag("--markdown", "Print Markdown instead, for a comment on a pull request.", rare=True)
@help_all
def run(
    entries: tuple[str, ...],
    plan: bool,
    seconds: int,
    in_json: bool,
    markdown: bool,
    **options: Any,
) -> int:
    """Play an event: an event file, or bots by name, file or command.

    Every pairing plays every board once in each rotation of the seats. The event goes into a folder
    under runs/, called after what is played. Run the same command again to continue where it
    stopped; with more boards or rounds it plays only the missing games. If the files of bot mine
    have changed, it plays as a new version, mine@2. The files of each version that played in runs/
    are kept: mine@1 is the first of mine, and plays again wherever a bot can be named. What bots
    print to stderr is kept in small events; `explain GAME QUESTION` shows it; see --keep-stderr.

    With [tune] in the event file the run searches better values for a bot's parameters, and tests
    them on new deals. With --plan the bots only play some seconds, on separate deals, to tell
    how many games, questions and minutes the event will take, and how precise its ratings will be.

    Exit codes: 0 all is played, 1 the machine or a bug stopped the run, 2 a mistake of yours, 3 the
    answer is worse than --fail-unless allows, 130 Ctrl-C.

    \b
    Examples:
      boneyard run greedy counting
      boneyard run mine --before
      boneyard run mine mine@1
      boneyard run bot_a.py ./bot_b "node bot_c.mjs" --rules dutch --boards 50
      boneyard run friday.toml --jobs 4 --plan
      boneyard run friday.toml --cluster tls://head:8786 --tls certificates
      boneyard run greedy counting --set draw_limit=2 --seats 2
      boneyard run montecarlo@200ms greedy
      boneyard run montecarlo@20ms montecarlo@100ms montecarlo@500ms --boards 20
      boneyard run my_bot.py old_bot.py --format versus --fail-unless better
      boneyard run my_bot.py old_bot.py --format versus --measure points --h1 5 --without-luck
      boneyard run first greedy random counting --format swiss --rounds 3
    """
    if not entries:
        raise UserError("Name two bots, as in: boneyard run mine greedy; or an event file.")
    fields = take_event_fields(options)
    if "position" in fields:
        fields["position"] = position_line(fields["position"])
    if options.pop("before"):
        if len(entries) != 1:
            raise UserError("--before takes one bot, as in: boneyard run mine --before.")
        entries = (*entries, version_before(entries[0]))
        form = {"type": Versus.__struct_config__.tag, **fields.get("format", {})}
        sprt = form.get("sprt", {})
        fields["format"] = {**form, "sprt": sprt if "measure" in sprt else {**BEFORE, **sprt}}
    if plan:
        from tournaments.cli.plan import estimate

        planned = read_plan(entries, fields, choices=options["choices"])
        return estimate(planned, options["jobs"], seconds, in_json)
    if in_json and markdown:
        raise UserError("--json and --markdown both choose what is printed: leave one of them out.")
    show = partial(_print_result, in_json=in_json, markdown=markdown)
    return run_event(entries, fields, show=show, **options)


run.params[1:1] = event_options()


def run_event(
    entries: Sequence[str],
    fields: Mapping[str, Any] | None = None,
    *,
    out: Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    tls: Path | None = None,
    seed: int | None = None,
    seed_notice: str = BY_SEED,
    keep_stderr: bool = False,
    show: ShowResult,
    fail_unless: Literal["better", "undecided"] | None = None,
    **plan_options: Any,
) -> int:
    """Play an event, or the rest of it; return the exit code. Raises UserError.

    `entries`, `fields`, `plan_options`: see `read_plan`. `out`: the event's folder; None: one under
    `runs/`, called after what is played. `jobs`: sittings side by side, in one process; None: as
    many as the bots' CPU time allows, on all cores. `cluster`: the scheduler whose workers play it.
    `show`: called once the report is written. `fail_unless`: the worst answer of a versus that does
    not make the run fail.
    """
    if cluster:
        need_engine("--cluster")
        if jobs:
            raise UserError("--jobs is a worker's: say `boneyard worker --jobs`, without it here.")
    workers = parse_cluster_option(cluster, tls) if cluster else None
    planned = read_plan(entries, fields, predictable=seed is not None, **plan_options)
    config = planned.config
    seed = config.seed if seed is None else seed
    if fail_unless and not isinstance(config.format, Versus):
        raise UserError(
            f"--fail-unless needs --format versus, whose test gives an answer; this is a "
            f"{config.format.name}."
        )
    if config.luck:
        from arena.valuation.batch import mask_tables  # It needs numpy.

        mask_tables(planned.rules, config.seats_at_table(planned.rules))
    notices = [seed_notice] if seed is not None else []
    for place, notice in [(out, "")] if out else choose_folders(planned, seed):
        # Unlike `Path.resolve` it has no error of its own for a link that leads to itself.
        folder = Folder(Path(os.path.realpath(place)))
        try:
            before = [notice] if notice else []
            code = _run_in(folder, planned, seed, jobs, workers, keep_stderr, before, notices)
            break
        except CannotExtendError:
            # The rounds that were played depend on a bot's earlier files.
            if out or planned.file:
                raise
        except OSError as error:
            print_note(f"The run stopped: {describe_error(error)}.")
            _go_on(folder)
            return STOPPED
    if not folder.results.is_file():
        return code  # No game counts yet, or the reason was printed why there is no report.
    if config.luck and code == 0:
        code = _take_luck_out(folder)
    show(folder)
    _list_events(folder)
    if code == 0:
        _make_replays(folder, with_luck=config.luck)
    if fail_unless and code == 0:
        code = _require_answer(folder, fail_unless)
    return code


def _print_result(folder: Folder, *, in_json: bool, markdown: bool = False) -> None:
    """Print what came of an event: tables, its results.json, or Markdown."""
    if in_json:
        sys.stdout.buffer.write(read_file(folder.results))
    else:
        load_display().final(folder, markdown=markdown)


def _list_events(folder: Folder) -> None:
    """Write the page of the events in runs/, if the event is one of them."""
    if not keeps_versions(folder.path):
        return
    from tournaments.report.page import EVENTS_PAGE, events_page  # The run has begun without it.

    runs = folder.path.parent
    with suppress(OSError):
        write_atomic(runs / EVENTS_PAGE, [events_page(runs).encode()])


def _make_replays(folder: Folder, *, with_luck: bool) -> None:
    """Make the replays of a finished event, unless that takes long; the results were shown before.

    `with_luck`: also those that are there, which may lack the luck.
    """
    try:
        # No more than that are read: a ledger may have a million games.
        games = sum(1 for _ in islice(read_ledger(folder.ledger), MOST_REPLAYS + 1))
        if games > MOST_REPLAYS:
            return
        logs = folder.logs()
        replays = [*folder.replays.glob(f"*{REPLAY_ENDING}")]
        if len(replays) >= games and not with_luck and _are_newer(replays, logs):
            return  # Without the templates, which take as long to load as all else.
        from tournaments.cli.replay import make_all_replays

        make_all_replays(Book(folder), logs)
    except (OSError, UserError) as error:
        print_note(f"Not all replays are made: {error}")


def _are_newer(replays: Sequence[Path], logs: Sequence[Path]) -> bool:
    """Tell whether every replay is newer than every log. Raises OSError."""
    oldest = min((replay.stat().st_mtime_ns for replay in replays), default=0)
    return all(status_of(log).st_mtime_ns < oldest for log in logs)


def _require_answer(folder: Folder, worst: Literal["better", "undecided"]) -> int:
    """Return the exit code for the answer of a finished versus, and say so if it is too bad."""
    book = Book(folder)
    assert isinstance(book.event.format, Versus), "Others were refused."
    verdict = book.event.format.answer(book.event, book.active)
    if verdict == "H1" or verdict == worst:
        return 0
    print_note(f"--fail-unless {worst}: exit code {UNMET}.")
    return UNMET


@command()
@number("--boards", "Boards for each pairing.", 1, None, 20)
@SANDBOX_OPTION
@JOBS
@OUT_OPTION(default=Path(DEMO), show_default=True)
@JSON
def demo(
    boards: int, sandbox: SandboxMode | None, jobs: int | None, out: Path, in_json: bool
) -> int:
    """See it work: the sample bots play and are rated.

    On the ladder of sample bots each meets its neighbours; a bot in each other language meets the
    first. They play draw to 30 points. Bots that this machine cannot run are left out. The
    deals are fixed, so that everybody sees the same demo.

    \b
    Examples:
      boneyard demo
      boneyard demo --boards 50 --out longer
      boneyard demo --json > results.json
    """
    samples = sample_bots()
    wanted = {word: samples[word.split()[0]] for word in (*DEMO_LADDER, *DEMO_OTHERS)}
    able = tuple(word for word, bot in wanted.items() if bot.available)
    print_note(DEMO_BEGIN.format(len(able)))
    for word, bot in wanted.items():
        if word not in able:
            print_note(f"Left out {word}: {bot.needs} is not on the PATH.")
    ladder = [word.split()[0] for word in able if word in DEMO_LADDER]
    pairs = dict.fromkeys((tuple(ladder[:3:2]), tuple(ladder[-3::2])))
    tables = [*pairwise(ladder), *(pair for pair in pairs if len(pair) == 2)]
    tables += [(ladder[0], word) for word in able if word in DEMO_OTHERS]
    form = {"type": Matches.__struct_config__.tag, "tables": tables}
    fields: dict[str, Any] = {"title": DEMO_TITLE, "seats": 2, "boards": boards, "format": form}
    if sandbox:
        fields["sandbox"] = sandbox
    return run_event(
        able,
        fields,
        choices=DEMO_RULES,
        out=out,
        jobs=jobs or 2 * cores(),
        seed=1,
        seed_notice=DEMO_DEALS,
        show=partial(_print_result, in_json=in_json),
    )


def _run_in(
    folder: Folder,
    plan: EventPlan,
    seed: int | None,
    jobs: int | None,
    cluster: ClusterAddress | None,
    keep_stderr: bool,
    notices: list[str],
    last_notices: list[str],
) -> int:
    """Play into the folder and publish there; return the exit code. Raises OSError, UserError."""
    with held_unless_refused(folder, lambda: _publish_again(folder)):
        withdrawn = withdrawn_entrants(folder, plan.config.withdrawn)
        event, at_home = plan.build(folder.build, withdrawn), plan.file is None
        # By fingerprint, because the name changes with the version.
        pairs = zip(event.entrants, plan.config.bots, strict=True)
        sources = {bot.fingerprint: (entry, plan.base) for bot, entry in pairs if not bot.retired}
        old = load_event(folder) if at_home and folder.event.is_file() else event
        if event.boards < old.boards:
            event = plan.with_boards_of(old).event(event.entrants)
            if plan.config.boards is not None:
                boards = count_in_digits(old.boards, "board")
                notices.append(f"It has {boards} already; all of them count.")
        newcomers = plan.config.fresh_boards
        fresh: FreshBoards = "newcomers" if newcomers else "versions" if at_home else ""
        book, remarks = open_event(folder, event, seed, plan.deals, fresh)
        event, ledger = book.event, Ledger(book, on_all_cores)
        gap = missing_results(ledger.book)
        refuse_fewer_logs(ledger.book)
        remove_leftovers(folder.path / GAMES_FOLDER)
        notices += [*remarks, *ledger.notices, *([gap] if gap else [])]
        for notice in (*notices, *describe_access(event.entrants), *last_notices):
            print_note(notice)
        if plan.deals:
            print_note(f"The deals are those of {plan.deals.source}: whoever knows it knows them.")
        published = _publish_earlier(ledger, commits=seed is None and not plan.deals)
        stderr_boards = _stderr_boards(ledger.book, everything=keep_stderr, at_home=at_home)
        ready = _ready_players(ledger, sources, jobs, cluster, stderr_boards)

        def report() -> None:
            if len(ledger.results) > published:
                with working("Writing the report"):
                    publish_reports(ledger)

        with kept_private(folder, lambda: ledger.complete):
            try:
                code = 0 if ledger.complete else _play(ledger, ready, at_home)
            except UserError:
                # After a stop for a bot that only fouls the report has the games until then.
                report()
                raise
            for notice in describe_spent_out(event, ledger.results):
                print_note(notice)
                code = code or STOPPED
        # A disk too full for a game may be too full for a report: the next run writes it.
        with suppress(OSError) if code == STOPPED else nullcontext():
            report()
    return code


def _publish_earlier(ledger: Ledger, *, commits: bool) -> int:
    """Publish the games of earlier runs; return how many of them the report has.

    `commits`: before the first game, print the digest of the commitments.
    """
    published, folder = len(ledger.results), ledger.book.folder
    left = ledger.planned - published
    if 0 < left <= FEW_GAMES * published and ledger.book.reported == published:
        # Only the plan is new. A kill leaves a report that `verify` calls outdated until the next.
        return 0
    if published:
        publish_reports(ledger)
    elif commits:
        sums = f"the SHA-256 of {folder.commitments.name} is {digest(folder)}"
        print_note(f"Commitments to the deals: {sums}.")
    return published


def _ready_players(
    ledger: Ledger,
    sources: Mapping[str, "BotSource"],
    jobs: int | None,
    cluster: ClusterAddress | None,
    stderr_boards: int,
) -> AbstractAsyncContextManager[PlayGames]:
    """Return what gets ready to play: this machine, or the workers of a cluster."""
    if cluster:
        from tournaments.play.cluster.client import connect

        return connect(cluster, ledger, sources, print_note, stderr_boards=stderr_boards)
    # Not on a cluster: there another number would make it another run.
    begun = max(ledger.book.public, default=0)
    prepare = partial(_prepare, ledger.book)
    return play_here(ledger, jobs, prepare, stderr_boards=begun + stderr_boards)


def _stderr_boards(book: Book, *, everything: bool, at_home: bool) -> int:
    """Return of how many boards the logs keep stderr; `at_home`: of bots on the command line."""
    if everything:
        return book.event.boards
    return STDERR_GAMES * book.event.boards // book.planned if at_home else 0


def _keep_versions(folder: Folder, event: Event) -> None:
    """Keep the files of the bots of an event in runs/; that they cannot be kept stops no run."""
    if not keeps_versions(folder.path):
        return
    for bot in event.entrants:
        if not bot.retired:
            try:
                note = keep_version(bot)
            except OSError as error:
                note = f"The files of {bot.name} are not kept: {describe_error(error)}."
            if note:
                print_note(note)


def _go_on(folder: Folder) -> None:
    print_note(f"Stopped; run the same command again to continue. Folder: {folder.path}")


def _play(ledger: Ledger, ready: AbstractAsyncContextManager[PlayGames], at_home: bool) -> int:
    """Play until the plan is done or the run is stopped; return the exit code. Raises UserError."""
    folder, play = ledger.book.folder, partial(play_to_end, stop_at_fouls=at_home)
    with writing_beside():
        errors, interrupted = run_async(play, ledger, ready)
    if errors:
        print_note(stop_sentence(folder, errors, "run", "between two games"))
    if errors or interrupted:
        waiting = len(ledger.results) - sum(1 for _ in read_ledger(folder.ledger))
        if waiting:
            games = count_in_digits(waiting, "more game")
            print_note(f"{games} wait for earlier ones of the plan: `show` counts them already.")
        _go_on(folder)
        return STOPPED if errors else INTERRUPTED
    return 0


async def _prepare(book: Book) -> Sandbox:
    """Return the best sandbox, in which every bot greets.

    Raises UserError, OSError, RunStoppedError.
    """
    folder, event = book.folder, book.event
    sandbox = choose_sandbox(
        event.sandbox_here, event.limits, folder.path, was_locked=was_locked(folder)
    )
    if sandbox.is_locked or not event.is_sealed(all):
        print_note(sandbox.brief)
    await check_greetings(event.entrants, event.clock.start_ms, sandbox, say=print_note)
    # Now, because an author may go on with the files while games are played.
    _keep_versions(folder, event)
    return sandbox


def _publish_again(folder: Folder) -> None:
    """Write the reports of the plan that was put back. Raises UserError, OSError."""
    print_note(f"{shown_path(folder.path)} is as it was before.")
    publish_reports(Ledger(Book(folder)))


def _take_luck_out(folder: Folder) -> int:
    """Write the report with luck taken out; return the exit code. Raises UserError."""
    from tournaments.commands.report import rewrite_report

    try:
        rewrite_report(Book(folder), luck=True)
    except OSError as error:
        print_note(f"The luck of the games is not complete: {describe_error(error)}.")
        _go_on(folder)
        return STOPPED
    return 0
