"""The update of a register: each new push is copied, built and checked, and then plays or not."""

import hashlib
import os
import re
import selectors
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from arena.conformance.connection import Budget, EventGame, StepResult
from arena.conformance.runner import (
    Report,
    make_report,
    remarks,
    run_steps,
    select_steps,
    violation_parts,
)
from arena.conformance.session import Session
from arena.conformance.steps import limit_to_one_round
from arena.files import sweep
from arena.match.bot_process import CannotStartError
from arena.processes import map_apart
from arena.sandbox.command import MIB, Command, Limits, interpreter, is_file, program_paths
from arena.sandbox.process import Sandbox, SandboxedProcess
from arena.sandbox.select import choose_sandbox
from arena.sealed.module import is_module, sealed_argv
from arena.ui.console import print_note
from protocol.codec import encode_json, printable_lines
from protocol.errors import UserError, suggestion
from protocol.messages import Clock
from tournaments.formats.base import Entrant
from tournaments.formats.entrant import own_or
from tournaments.league.push import (
    ChangedPushError,
    FileTree,
    FolderBots,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    archive_bound,
    parse_bot_file,
    read_archive,
    remove_tree,
    shown_name,
    tree_fingerprint,
    without_ignored,
    write_tree,
)
from tournaments.league.repository import RepositoryBots
from tournaments.league.settings import (
    BotPermissions,
    LeagueFolder,
    LeagueSettings,
    Quota,
    division_rules,
)
from tournaments.league.state import (
    NOT_READ,
    Admitted,
    AnyEntry,
    CheckedStep,
    CheckSummary,
    Refused,
    Withdrawn,
    append_entry,
    bot_histories,
    parse_time,
    read_register,
    write_utc,
)
from tournaments.plan.bots import (
    BOT_FILE,
    INTERPRETERS,
    PYTHON_PLACEHOLDER,
    BotFile,
    fill_places,
    find_program,
    our_packages,
    sample_bots,
    sample_folder,
)
from tournaments.plan.event import ENTRANT, NAME_WORDS

# The command of a version: it may read its own files and the installation of its program.


COMPILERS = ("cc", "c++", "go", "javac", "java", "rustc", "make", "tclsh", "bash")
"""Programs that authors ask for, besides interpreters."""


def version_command(
    bot: BotFile, folder: Path, permissions: BotPermissions, *, sealed: bool
) -> Command:
    """Return the command of a bot whose files, built or not, are in a folder.

    No file outside is opened to it, whatever its words name. `sealed`: it must be a module, or in
    a language that runs inside the seal. Raises RefusedPushError.
    """
    argv, reads = resolve_words("run", bot.run, folder, sealed=sealed)
    if sealed and not is_module(argv):
        try:
            argv, reads = sealed_argv(argv, folder, (f"{folder}",)), ()
        except UserError as error:
            raise RefusedPushError(f"run: this league seals its bots, but {error}") from None
    reads = (*reads, str(folder))
    access = permissions.network, permissions.environment
    return Command(argv, str(folder), reads, (str(folder),), *access)


def resolve_words(
    field: str,
    words: Sequence[str],
    folder: Path,
    built: Path | None = None,
    *,
    sealed: bool = False,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a command with its program's path, and what it must read besides the bot's files.

    `built`: the folder that {build} means, if not this one. Raises RefusedPushError.
    """
    first, *others = fill_places(words, built or folder)
    program = _program(field, words[0], first, folder, sealed=sealed)
    reads = tuple(dict.fromkeys(_readable(field, program, folder)))
    return (str(program), *others), reads


def _program(field: str, template: str, word: str, folder: Path, *, sealed: bool) -> Path:
    if template == PYTHON_PLACEHOLDER:
        return find_program("", word, folder)
    path = Path(os.path.normpath(folder / word))
    if path.is_relative_to(folder) and is_file(path):
        if not os.access(path, os.X_OK) and not is_module((word,)):
            raise RefusedPushError(
                f"{field}: {word} is not executable. Make it so (chmod +x), or name its "
                'interpreter first, as in ["{python}", "main.py"].'
            )
        return path
    if "/" in word:
        raise RefusedPushError(
            f"{field}: there is no program {template} in the bot's folder"
            f"{' after the build' if '{build}' in template else ''}. Name one of its files, or a "
            "program of the league's machine without its path."
        )
    try:
        return find_program("", word, folder, sealed=sealed)
    except UserError:
        programs = {
            PYTHON_PLACEHOLDER,
            *(program for program, *_ in INTERPRETERS.values() if "/" not in program),
            *COMPILERS,
        }
        names = sorted(
            name for name in programs if name == PYTHON_PLACEHOLDER or shutil.which(name)
        )
        raise RefusedPushError(
            f"{field}: the league's machine has no program {word!r}: {suggestion(word, names)}"
        ) from None


def _readable(field: str, program: Path, folder: Path) -> Iterator[str]:
    """Yield the paths that a program needs besides the bot's own files.

    The bot's own program chooses none of them: a script may be for a program of the PATH only.
    """
    if program.is_relative_to(folder):
        script_for = interpreter(program)
        if script_for is None:
            return
        if shutil.which(script_for.name) != str(script_for):
            raise RefusedPushError(
                f"{field}: the first line of {program.relative_to(folder)} asks for {script_for}, "
                "which is not a program of the league's PATH. Write #!/usr/bin/env and its name."
            )
        program = script_for
    yield from program_paths(program)
    yield from our_packages(program)


def entrant_of(league: LeagueFolder, settings: LeagueSettings, entry: Admitted) -> Entrant:
    """Return a version as a round's plan has it. Raises UserError if it cannot play here."""
    version = entry.version
    folder = LeagueFolder(league.path.resolve()).version(version)
    try:
        bot = bot_file_of(league, entry)
        permissions = settings.permissions(entry.bot)
        home = built_folder(folder) if bot.build else folder
        sealed = settings.sealed and not entry.house
        command = version_command(bot, home, permissions, sealed=sealed)
    except (OSError, RefusedPushError) as error:
        raise UserError(f"Version {version} cannot play: {error}") from error
    clock = permissions.clock.complete(settings.clock) if permissions.clock else UNSET
    return Entrant(version, command, entry.fingerprint, clock=clock)


def bot_file_of(league: LeagueFolder, entry: Admitted) -> BotFile:
    """Return the bot.toml of a version. Raises RefusedPushError, OSError."""
    item = TreeItem("file", (league.version(entry.version) / BOT_FILE).read_bytes())
    return parse_bot_file({BOT_FILE: item}, entry.version, list(entry.divisions))


def built_folder(folder: Path) -> Path:
    """Return the folder beside a version's files that has them with all that their build made."""
    return folder.with_name(f"{folder.name}.built")


# The build of a bot: hostile code, which runs in the sandbox on a copy of the bot's files.


LIMITS = Limits(memory_mib=1024, processes=256, open_files=1024, file_mib=256, cores=2.0)
"""The limits of a build: compilers take more than bots."""
BUILD_SCRIPT = """\
cp -R "$1/." "$2/" && cd "$2" || exit 125
# The files are the build's to change; the folder itself is, whoever made it.
chmod -R u+w . 2>/dev/null
shift 2
HOME=/tmp
PATH=$PATH:${1%/*}
export HOME PATH
"$@" </dev/null >&2 || exit
exec tar --format=ustar -cf - .
"""
"""The work inside: a copy of the files, the build in it, and all that is there then on stdout."""
OUTPUT_SHOWN = 2_000
"""Characters of a build's output that its author is shown: the last ones."""
MOST_OUTPUT = 16 * MIB
"""Bytes of it that are read."""
BUILD_READ_BYTES = 65_536
MEMORY_CHECK_S = 0.2
"""Time between two looks at the memory of a build, in s."""
BUILD_KILL_S = 10.0
"""Time that the kernel has to end the build's processes, in s."""


def build_bot(
    bot: BotFile, source: Path, target: Path, sandbox: Sandbox, bounds: TreeBounds, seconds: float
) -> None:
    """Run a bot's build command on a copy of its files; write all that is there then to a folder.

    `source`: the bot's files. `target`: the folder to write, which {build} means. `sandbox`: how
    a build is confined, with limits for builds. Raises RefusedPushError, and OSError for the
    machine's own failures.
    """
    if sandbox.why_off:
        raise RefusedPushError(
            "The league's machine cannot lock a build in: push a bot that needs none, or ask the "
            "organiser for bubblewrap."
        )
    argv, reads = resolve_words("build", bot.build, source, target)
    if Path(argv[0]).is_relative_to(source):
        argv = (str(target / Path(argv[0]).relative_to(source)), *argv[1:])
    words = ("/bin/sh", "-c", BUILD_SCRIPT, "build", str(source), str(target), *argv)
    command = Command(words, str(source), (*reads, str(source)), (str(source),))
    most = TreeBounds(2 * bounds.files, 2 * bounds.size)
    if not sandbox.is_locked:
        target.mkdir()
    try:
        archive = _run(command, str(target), Sandbox(sandbox.confinement, LIMITS), most, seconds)
    finally:
        remove_tree(target)
    write_tree(read_archive(archive, "build:", most), target)


def _run(
    command: Command, workshop: str, sandbox: Sandbox, bounds: TreeBounds, seconds: float
) -> bytes:
    with closing(sandbox.new_slot()) as slot:
        process = slot.start(command, workshop)
        try:
            return _watch(process, slot, bounds, seconds)
        finally:
            slot.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(BUILD_KILL_S)
            for pipe in (process.stdin, process.stdout, process.stderr):
                assert pipe
                with suppress(OSError):
                    pipe.close()


def _watch(
    process: subprocess.Popen[bytes],
    slot: SandboxedProcess,
    bounds: TreeBounds,
    seconds: float,
) -> bytes:
    """Return the archive that a build leaves. Raises RefusedPushError for its faults."""
    assert process.stdout
    assert process.stderr
    archive, printed = bytearray(), bytearray()
    fault = ""
    ends = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, archive)
        selector.register(process.stderr, selectors.EVENT_READ, printed)
        while selector.get_map() and not fault:
            left = max(0.0, ends - time.monotonic())
            for key, _ in selector.select(min(left, MEMORY_CHECK_S)):
                data = os.read(key.fd, BUILD_READ_BYTES)
                key.data.extend(data)
                if not data:
                    selector.unregister(key.fileobj)
            if time.monotonic() > ends:
                fault = f"it takes longer than {seconds:.0f} s."
            elif len(archive) > archive_bound(bounds):
                fault = f"it leaves more than {bounds.size // MIB:,} MiB, its sources included."
            elif len(printed) > MOST_OUTPUT:
                fault = f"it prints more than {MOST_OUTPUT // MIB} MiB."
            elif slot.usage().memory > LIMITS.memory:
                fault = f"it takes more than {LIMITS.memory_mib} MiB of memory."
    if not fault:
        with suppress(subprocess.TimeoutExpired):
            process.wait(BUILD_KILL_S)
        status = process.returncode
        if slot.never_ran():
            raise OSError(f"The sandbox did not start a build: {_tail(printed)}")
        fault = "" if status == 0 else f"it failed with exit status {status}."
    if fault:
        tail = _tail(printed)
        output = f"It printed:\n{tail}" if tail else "It printed nothing."
        raise RefusedPushError(f"build: {fault} {output}")
    return bytes(archive)


def _tail(data: bytearray) -> str:
    # The first line is empty: see PARENT_CHECK in arena/sandbox/command.py.
    text = printable_lines(data[-8 * OUTPUT_SHOWN :].decode(errors="replace").strip())
    return text if len(text) <= OUTPUT_SHOWN else f"…{text[-OUTPUT_SHOWN:]}"


# The check of a new version, in words for its author: the steps of `boneyard check`.


VERDICTS = {"pass": "passed", "fail": "failed", "skip": "skipped", "missed": "skipped"}
EXPLAINED = 5
"""Failed steps that are explained in full; the first ones cause the others."""
MAX_EXPLANATION_LENGTH = 1_000
"""Characters of each part of an explanation."""


def examine_version(
    command: Command,
    sandbox: Sandbox,
    clock: Clock,
    games: Sequence[tuple[str, EventGame]],
    seconds: float,
) -> CheckSummary:
    """Run the check's steps with a bot, in the games of the divisions that it enters.

    `games`: the game of each division, by its name. Other steps are made once. `seconds`: time
    after which no further step begins. Raises CannotStartError if the machine keeps it from
    starting.
    """
    began = time.monotonic()
    reports: dict[str, Report] = {}
    for division, game in games:
        # The first division's check has every step, those of the others only their own game.
        steps = select_steps(("event",) if reports else (), of_event=True)
        left = max(1.0, seconds - (time.monotonic() - began))
        short = game._replace(rules=limit_to_one_round(game.rules))
        session = Session(command, sandbox, clock, Budget(total_s=left, is_full=False), short)
        reports[division] = make_report("", session, run_steps(session, steps), 0.0)
        if reports[division].verdict == "failed":
            break
    verdicts = {report.verdict for report in reports.values()}
    return CheckSummary(
        verdict=next((word for word in ("failed", "not finished") if word in verdicts), "passed"),
        steps=tuple(_steps(reports)),
        sandbox=sandbox.state,
        seconds=round(time.monotonic() - began, 1),
        question_ms=max((report.mean_ms for report in reports.values()), default=0.0),
    )


def _steps(reports: Mapping[str, Report]) -> Iterator[CheckedStep]:
    explained = 0
    for division, report in reports.items():
        for outcome in report.outcomes:
            failed = outcome.state == "fail"
            about = outcome.title if failed else division if outcome.name == "event" else ""
            name = f"{outcome.name} ({about})" if about else outcome.name
            explained += failed
            words = _words(outcome, in_full=explained <= EXPLAINED)
            yield CheckedStep(name, VERDICTS[outcome.state], words)
        for sentence in remarks(report):
            if sentence.startswith("Warning"):
                yield CheckedStep("remark", "warned", sentence)


def _words(outcome: StepResult, *, in_full: bool) -> str:
    if outcome.finding is None:
        return "" if outcome.state == "pass" else _cut(outcome.note, MAX_EXPLANATION_LENGTH)
    if not in_full:
        return _cut(f"fault: {outcome.finding.fault}", 200)
    parts = violation_parts(outcome.finding)
    return "\n".join(
        f"{name}: {_cut(printable_lines(text), MAX_EXPLANATION_LENGTH)}" for name, text in parts
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def failure_words(check: CheckSummary) -> str:
    """Return the reason why a version that failed its check does not play, for its author."""
    failed = [step for step in check.steps if step.verdict == "failed"]
    steps = [step for step in check.steps if step.verdict != "warned"]
    return (
        f"It fails {len(failed)} of the {len(steps)} steps of its check. "
        f"First failing step: {failed[0].name}:\n{failed[0].words}"
    )


# --- the update ---


MOST_STRANGERS = 200
"""Folders that are no bots and were never heard of, of which the register tells in 24 hours: each
has a page on the site for ever, and one push may bring a thousand."""
LONGEST_WHY = 5_000
"""Characters of the reason for a refusal: an author's own words may be in it."""
DAY = timedelta(days=1)
BUILD_TURN_S = 60.0
"""Time after which no further check begins before the league looks again at who waits."""
CHECKS_AT_ONCE = 8
"""Bots that are checked side by side: a check waits for most of its time."""
KILLED = (
    "the system killed its check twice, the second time alone, as it does when memory is short. "
    "Let the bot take less memory, and push it again."
)
"""The end of the refusal of a push whose check was killed: it would hold up all others."""
MOST_VERSIONS = 9999
"""Versions of a bot: their names have no room for more."""


def update_register(
    league: LeagueFolder,
    settings: LeagueSettings,
    now: datetime,
    is_ending: Callable[[], bool] = lambda: False,
) -> Iterator[AnyEntry]:
    """Look at all bots; admit, refuse or withdraw them; yield each new line once written.

    `is_ending`: tells whether what is being checked is ended, and shall be checked another time.
    Killed at any moment, it goes on when it is called again. Raises UserError, OSError and
    DamagedFileError.
    """
    league = LeagueFolder(league.path.resolve())
    try:
        source = RepositoryBots(league.repository) if settings.pull else FolderBots(league.bots)
    except OSError as error:
        raise UserError(
            f"{league.repository} has no bots, perhaps because no pull has succeeded yet: {error}."
        ) from error
    with closing(source) as bots:
        yield from _Update(league, settings, now, bots, is_ending).run()


class _Update:
    """One pass over all bots of a league."""

    def __init__(
        self,
        league: LeagueFolder,
        settings: LeagueSettings,
        now: datetime,
        bots: FolderBots | RepositoryBots,
        is_ending: Callable[[], bool],
    ) -> None:
        self.league, self.is_ending = league, is_ending
        self.bots = bots
        self.settings = settings
        self.now, self.time = now, write_utc(now)
        self.histories = bot_histories(read_register(league.register))
        quota = settings.quota
        self.bounds = TreeBounds(quota.files, quota.files_mib * MIB)
        self._waiting: list[tuple[float, str]] = []
        never_played = [bot for bot, each in self.histories.items() if not each.admitted]
        self._strangers = sum(map(bool, map(self._recent, never_played)))
        self.divisions = [division.name for division in settings.divisions]

    def append(self, entry: AnyEntry) -> AnyEntry:
        """Write a line, which everybody may read."""
        public_entry = append_entry(self.league.register, entry)
        self.histories[entry.bot].add(public_entry)
        return public_entry

    # --- all bots ---

    def run(self) -> Iterator[AnyEntry]:
        """Yield each new line when it is written."""
        self._open_bots()
        for name in self.settings.house:
            if not self.histories[name].admitted:
                yield self._admit_house(name)
        names = self.bots.names()
        for name in sorted(self.histories.keys() - names):
            if not self.settings.has_closed(self.now):
                yield from self._withdraw(name)
        # After the close not even a refusal is written.
        names = {name for name in names if not self._came_late(name)}
        # Those that bots can have, and then the others.
        for name in sorted(names, key=lambda name: (name_in_register(name) != name, name)):
            yield from self._look_at(name, self._update_bot)
        # The oldest push first: neither a name nor a flood of pushes takes anybody's place.
        began, waiting = time.monotonic(), [name for _, name in sorted(self._waiting)]
        for place in range(0, len(waiting), CHECKS_AT_ONCE):
            pushes: list[_Push] = []
            for name in waiting[place : place + CHECKS_AT_ONCE]:
                yield from self._look_at(name, partial(self._update_bot, pushes=pushes))
            yield from self._check(pushes)
            if self.is_ending() or time.monotonic() - began > BUILD_TURN_S:
                return

    def _check(self, pushes: Sequence["_Push"], *, again: bool = False) -> Iterator[AnyEntry]:
        """Check pushes side by side, each that the system killed once more alone."""
        killed: list[_Push] = []
        # As each is done: one slow bot keeps no other waiting.
        for push, outcome in map_apart(check_push, pushes):
            if self.is_ending():
                return  # Whoever ended us killed the checks, or their bots.
            if outcome or again:
                yield from self._look_at(push.bot, partial(self._finish, push, outcome))
            else:
                # When memory is short the system may kill another than the one that takes it.
                killed.append(push)
        for push in killed:
            yield from self._check([push], again=True)

    def _authors_bots(self) -> list[str]:
        return [
            name for name, each in self.histories.items() if each.admitted and not each.is_house
        ]

    def _open_bots(self) -> None:
        """Make bots/ in a new league; refuse a league that has lost it. Raises UserError."""
        bots = self.league.bots
        if not self.settings.pull and not os.path.lexists(bots):
            if any(self.histories[name].present for name in self._authors_bots()):
                raise UserError(f"{bots} is missing: all bots would be withdrawn. Restore it.")
            bots.mkdir()
        versions = self.league.versions
        if not versions.is_dir() and any(each.admitted for each in self.histories.values()):
            raise UserError(f"{versions} is missing: it has the bots that play. Restore it.")
        if not self.histories and any(self.league.rounds.glob("*/*")):
            raise UserError(
                f"{self.league.register} is missing, but rounds were played. Restore it."
            )

    def _withdraw(self, name: str) -> Iterator[AnyEntry]:
        present = self.histories[name].present
        if present and not self.histories[name].is_house:
            yield self.append(Withdrawn(time=self.time, bot=name, version=present.version))

    # --- one bot ---

    def _look_at(self, name: str, look: Callable[[str], Iterator[AnyEntry]]) -> Iterator[AnyEntry]:
        """Yield the lines about a bot's folder, by a look at it; none if it is as before."""
        bot = name_in_register(name)
        with suppress(_PostponedError):
            try:
                check_bot_name(name, self._authors_bots())
                yield from look(bot)
            except RefusedPushError as error:
                # A folder that is no bot; no more of them than some become known in a day.
                if self.histories[bot].last is None:
                    if self._strangers >= MOST_STRANGERS:
                        return
                    self._strangers += 1
                yield from self._refuse(bot, f"{error}", always=isinstance(error, ChangedPushError))
            except (OSError, CannotStartError) as error:
                print_note(f"bots/{bot} waits for the next turn: {error}")

    def _update_bot(self, bot: str, pushes: list["_Push"] | None = None) -> Iterator[AnyEntry]:
        """Yield the lines about a bot; a new version joins `pushes`, or waits for its turn."""
        history = self.histories[bot]
        if self._came_late(bot):
            return  # Its files have changed since the turn began.
        tree, file = self._read(bot)
        fingerprint = tree_fingerprint(tree)
        present = history.present
        if file.withdrawn:
            yield from self._withdraw(bot)
        elif present and present.fingerprint == fingerprint:
            return
        elif earlier := history.refused.get(fingerprint):
            yield from self._refuse(bot, earlier.why, fingerprint, earlier.check)
        else:
            yield from self._has_room(bot)
            if pushes is None:
                self._waiting.append((self.bots.time(bot), bot))
            else:
                pushes.append(self._copy(bot, file, tree, fingerprint))

    def _came_late(self, name: str) -> bool:
        """Return whether a folder changed after the close; the last pull guards itself."""
        closing = None if self.settings.pull else self.settings.closing
        with suppress(OSError):
            return bool(closing and self.bots.time(name) > closing.timestamp())
        return False

    def _read(self, bot: str) -> tuple[FileTree, BotFile]:
        place = f"bots/{bot}"
        tree = self.bots.read(bot, place, self.bounds)
        file = parse_bot_file(tree, place, self.divisions)
        return without_ignored(tree, file.ignore, place), file

    def _recent(self, bot: str) -> int:
        return sum(self.now - parse_time(moment) < DAY for moment in self.histories[bot].times)

    def _has_room(self, bot: str) -> Iterator[AnyEntry]:
        """Raise _PostponedError if a bot has changed often enough for a day; tell its author once.

        So one that changes all the time costs no more than a few checks and lines of the register.
        """
        most = self.settings.quota.pushes_a_day
        if self._recent(bot) < most:
            return
        next_look = write_utc(parse_time(self.histories[bot].times[-most]) + DAY)
        why = f"bots/{bot} changed {most} times in a day. It is looked at again after {next_look}."
        last = self.histories[bot].last
        if not isinstance(last, Refused) or last.fingerprint != NOT_READ:
            yield self.append(Refused(time=self.time, bot=bot, fingerprint=NOT_READ, why=why))
        raise _PostponedError

    def _refuse(
        self,
        bot: str,
        why: str,
        fingerprint: str = "",
        check: CheckSummary | None = None,
        *,
        always: bool = False,
    ) -> Iterator[AnyEntry]:
        """Yield a refusal, unless the last line about the bot is the same."""
        why = printable_lines(why)
        why = why if len(why) <= LONGEST_WHY else f"{why[:LONGEST_WHY]}…"
        fingerprint = fingerprint or hashlib.sha256(why.encode()).hexdigest()
        refusal = Refused(time=self.time, bot=bot, fingerprint=fingerprint, why=why, check=check)
        last = self.histories[bot].last
        if always or not isinstance(last, Refused) or last.fingerprint != fingerprint:
            yield from self._has_room(bot)
            yield self.append(refusal)

    # --- a new version ---

    def _copy(self, bot: str, file: BotFile, tree: FileTree, fingerprint: str) -> "_Push":
        """Write a version's files, to be checked."""
        number = len(self.histories[bot].admitted) + 1
        if number > MOST_VERSIONS:
            raise RefusedPushError(
                f"bots/{bot} has had {MOST_VERSIONS} versions: there are no more."
            )
        version = f"{bot}@{number}" if number > 1 else bot
        folder = self._write(version, tree)
        return _Push(bot, version, file, fingerprint, folder, self.settings, self.sandbox)

    def _finish(
        self, push: "_Push", outcome: CheckSummary | Exception | None, bot: str
    ) -> Iterator[AnyEntry]:
        """Yield what becomes of a version whose check is over; None: the system killed it."""
        why, check, is_admitted = "", None, False
        try:
            if isinstance(outcome, CheckSummary):
                check = outcome
                why = failure_words(check) if check.verdict == "failed" else ""
            elif isinstance(outcome, RefusedPushError):
                why = f"bots/{bot}/{BOT_FILE}: {outcome}"
            elif outcome:
                raise outcome
            else:
                why = f"bots/{bot}: {KILLED}"
            if tree_fingerprint(self._read(bot)[0]) != push.fingerprint:
                raise ChangedPushError(f"bots/{bot}")
            if why:
                yield from self._refuse(bot, why, push.fingerprint, check)
                return
            # Before the line: a signal while the disk takes it would remove what is admitted.
            is_admitted = True
            yield self._admit(bot, push.version, push.file, push.fingerprint, check)
        finally:
            if not is_admitted:
                self._remove(push.version)

    def _admit(
        self, bot: str, version: str, file: BotFile, fingerprint: str, check: CheckSummary | None
    ) -> AnyEntry:
        """Write the line of a version; without a check it is a house bot."""
        return self.append(
            Admitted(
                time=self.time,
                bot=bot,
                version=version,
                fingerprint=fingerprint,
                house=check is None,
                about=file.about,
                author=file.author,
                divisions=file.divisions,
                check=check,
            )
        )

    def _write(self, version: str, tree: FileTree) -> Path:
        """Write a version's files; return their folder. What a kill left there never played."""
        self._remove(version)
        folder = self.league.version(version)
        try:
            write_tree(tree, folder)
        except OSError:  # No room.
            self._remove(version)
            raise
        return folder

    def _remove(self, version: str) -> None:
        folder = self.league.version(version)
        for path in (folder, built_folder(folder)):
            remove_tree(path)

    def _admit_house(self, name: str) -> AnyEntry:
        tree = house_files(name)
        file = parse_bot_file(tree, name, self.divisions)
        try:
            folder = self._write(name, tree)
            home = build_version(file, folder, self.settings.quota, self.sandbox)
            version_command(file, home, BotPermissions(), sealed=False)
        except RefusedPushError as error:
            raise UserError(f"The house bot {name} cannot play: {error}") from error
        return self._admit(name, name, file, tree_fingerprint(tree), None)

    @cached_property
    def sandbox(self) -> Sandbox:
        """The sandbox in which bots are built and checked. Raises UserError."""
        settings, versions = self.settings, self.league.versions
        versions.mkdir(exist_ok=True)
        sweep(versions)
        return choose_sandbox(settings.sandbox_here, settings.limits, versions)


class _Push(NamedTuple):
    """A new version that is to be checked."""

    bot: str
    version: str
    file: BotFile
    fingerprint: str
    folder: Path
    """Its files."""
    settings: LeagueSettings
    sandbox: Sandbox


def check_push(push: _Push) -> CheckSummary | Exception:
    """Build and check a version, in a process beside others; return what came of that."""
    try:
        return _build_and_check(push)
    except (RefusedPushError, CannotStartError, OSError) as error:
        return error
    except Exception as error:
        # A bug of ours: the push waits, and others are looked at.
        return OSError(f"its check failed by a bug of ours: {error!r}")


def _build_and_check(push: _Push) -> CheckSummary:
    file, settings = push.file, push.settings
    permissions = settings.permissions(push.bot)
    home = build_version(file, push.folder, settings.quota, push.sandbox)
    command = version_command(file, home, permissions, sealed=settings.sealed)
    games = [
        (division.name, EventGame(*division_rules(division, push.folder.parents[1])))
        for division in settings.divisions
        if not file.divisions or division.name in file.divisions
    ]
    clock = own_or(permissions.clock, settings.clock, command)
    return examine_version(command, push.sandbox, clock, games, settings.quota.check_s)


def build_version(file: BotFile, folder: Path, quota: Quota, sandbox: Sandbox) -> Path:
    """Build a version, if it needs that, and return the folder in which it runs."""
    if not file.build:
        return folder
    built = built_folder(folder)
    bounds = TreeBounds(quota.files, quota.files_mib * MIB)
    build_bot(file, folder, built, sandbox, bounds, quota.build_s)
    return built


class _PostponedError(Exception):
    """The end of looking at a bot that has changed too often today."""


def check_bot_name(name: str, admitted: Collection[str]) -> None:
    """Refuse a folder whose name cannot be a bot's. Raises RefusedPushError.

    `admitted`: the authors' bots that have played already.
    """
    if not re.fullmatch(ENTRANT, name):
        raise RefusedPushError(
            f"bots/ has a folder called {shown_name(name)}. A bot's name has {NAME_WORDS}: rename "
            "it."
        )
    if name not in admitted and name.casefold() in sample_bots():
        raise RefusedPushError(
            f"bots/{name} has the name of a sample bot. Give the folder another name."
        )
    namesakes = [other for other in sorted(admitted) if other.casefold() == name.casefold()]
    if namesakes and name not in admitted:
        raise RefusedPushError(
            f"bots/{name} differs from the bot {namesakes[0]} in capitals only. Rename it."
        )


def name_in_register(name: str) -> str:
    """Return the name under which the register has a folder: a made-up one for an illegal name."""
    if re.fullmatch(ENTRANT, name):
        return name
    return f"illegal-{hashlib.sha256(name.encode(errors='surrogateescape')).hexdigest()[:8]}"


def house_files(name: str) -> FileTree:
    """Return a sample bot as a push: the files that its entry names, and a bot.toml.

    Raises UserError if this machine cannot run it.
    """
    bot = sample_bots()[name]
    if bot.lacks:
        raise UserError(f"The house bot {name} needs {bot.needs}, {bot.lacks}.")
    home = sample_folder()
    words = dict.fromkeys(chain(bot.build, bot.run))
    own_words = [word for word in words if word and "/" not in word and (home / word).is_file()]
    files = {word: TreeItem("file", (home / word).read_bytes()) for word in own_words}
    fields = {"run": bot.run, "build": bot.build, "about": bot.about}
    # Every JSON string is a TOML string too.
    lines = [f"{key} = {encode_json(value).decode()}" for key, value in fields.items() if value]
    return {**files, BOT_FILE: TreeItem("file", "\n".join([*lines, ""]).encode())}
