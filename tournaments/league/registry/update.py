"""The update of a register: each new push is copied, built and checked, and then plays or not."""

import hashlib
import os
import re
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from pathlib import Path

from arena.conformance.model import EventGame
from arena.match.piped_process import CannotStartError
from arena.sandbox.limits import MIB
from arena.sandbox.sandbox import Sandbox
from arena.sandbox.select import choose_sandbox
from arena.sandbox.temporary import sweep
from arena.ui.console import print_note
from protocol.codec import encode_json, printable_lines
from protocol.errors import UserError
from tournaments.formats.own_clock import own_or
from tournaments.league.folder import LeagueFolder
from tournaments.league.read import parse_time, write_utc
from tournaments.league.records import Admitted, AnyEntry, CheckSummary, Refused, Withdrawn
from tournaments.league.register import NOT_READ, append_entry, bot_histories, read_register
from tournaments.league.registry.bot_file import parse_bot_file
from tournaments.league.registry.build import build_bot
from tournaments.league.registry.examine import examine_version, failure_words
from tournaments.league.registry.file_tree import (
    FileTree,
    RefusedPushError,
    TreeBounds,
    TreeItem,
    remove_tree,
    shown_name,
    tree_fingerprint,
    without_ignored,
    write_tree,
)
from tournaments.league.registry.push import ChangedPushError, FolderBots
from tournaments.league.registry.repository import RepositoryBots
from tournaments.league.registry.version_command import built_folder, check_sealed, version_command
from tournaments.league.settings import BotPermissions, LeagueSettings, division_rules
from tournaments.plan.bot_catalog import BOT_FILE, BotFile, sample_bots, sample_folder
from tournaments.plan.event import ENTRANT, NAME_WORDS

MOST_STRANGERS = 200
"""Folders that are no bots and were never heard of, of which the register tells in 24 hours: each
has a page on the site for ever, and one push may bring a thousand."""
LONGEST_WHY = 5_000
"""Characters of the reason for a refusal: an author's own words may be in it."""
DAY = timedelta(days=1)
TURN_S = 60.0
"""Time that builds and checks take in a turn, in s; then the league plays before it looks on."""
MOST_VERSIONS = 9999
"""Versions of a bot: their names have no room for more."""


def update_register(
    league: LeagueFolder, settings: LeagueSettings, now: datetime
) -> Iterator[AnyEntry]:
    """Look at all bots; admit, refuse or withdraw them; yield each new line once written.

    Killed at any moment, it goes on when it is called again. Raises UserError, OSError and
    DamagedFileError.
    """
    league = LeagueFolder(league.path.resolve())
    try:
        opened = RepositoryBots(league.repository) if settings.pull else FolderBots(league.bots)
    except OSError as error:
        raise UserError(
            f"{league.repository} has no bots, perhaps because no pull has succeeded yet: {error}."
        ) from error
    with opened as bots:
        yield from _Update(league, settings, now, bots).run()


class _Update:
    """One pass over all bots of a league."""

    def __init__(
        self,
        league: LeagueFolder,
        settings: LeagueSettings,
        now: datetime,
        bots: FolderBots | RepositoryBots,
    ) -> None:
        self.league = league
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
        written = append_entry(self.league.register, entry)
        self.histories[entry.bot].add(written)
        return written

    # --- all bots ---

    def run(self) -> Iterator[AnyEntry]:
        """Yield each new line when it is written."""
        self._open_bots()
        for name in self.settings.house:
            if not self.histories[name].admitted:
                yield self._admit_house(name)
        names = self.bots.names()
        for name in sorted(self.histories.keys() - names):
            yield from self._withdraw(name)
        # Those that bots can have, and then the others.
        for name in sorted(names, key=lambda name: (name_in_register(name) != name, name)):
            yield from self._look_at(name)
        # The oldest push first: neither a name nor a flood of pushes takes anybody's place.
        began = time.monotonic()
        for _, name in sorted(self._waiting):
            yield from self._look_at(name, is_its_turn=True)
            if time.monotonic() - began > TURN_S:
                return

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

    def _look_at(self, name: str, *, is_its_turn: bool = False) -> Iterator[AnyEntry]:
        """Yield the lines about a bot's folder, none if it is as before.

        A new version waits until `is_its_turn`.
        """
        bot = name_in_register(name)
        with suppress(_PostponedError):
            try:
                check_bot_name(name, self._authors_bots())
                yield from self._update_bot(bot, is_its_turn)
            except RefusedPushError as error:
                # A folder that is no bot; no more of them than some become known in a day.
                if self.histories[bot].last is None:
                    if self._strangers >= MOST_STRANGERS:
                        return
                    self._strangers += 1
                yield from self._refuse(bot, f"{error}", always=isinstance(error, ChangedPushError))
            except (OSError, CannotStartError) as error:
                print_note(f"bots/{bot} waits for the next turn: {error}")

    def _update_bot(self, bot: str, is_its_turn: bool) -> Iterator[AnyEntry]:
        history = self.histories[bot]
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
            if is_its_turn:
                yield from self._try(bot, file, tree, fingerprint)
            else:
                self._waiting.append((self.bots.time(bot), bot))

    def _read(self, bot: str) -> tuple[FileTree, BotFile]:
        place = f"bots/{bot}"
        tree = self.bots.read(bot, place, self.bounds)
        file = parse_bot_file(tree, place, self.divisions)
        return without_ignored(tree, file.ignore, place), file

    def _recent(self, bot: str) -> int:
        return sum(self.now - parse_time(one) < DAY for one in self.histories[bot].times)

    def _has_room(self, bot: str) -> Iterator[AnyEntry]:
        """Raise _PostponedError if a bot has changed often enough for a day; tell its author once.

        So one that changes all the time costs no more than a few checks and lines of the register.
        """
        most = self.settings.quota.pushes_a_day
        if self._recent(bot) < most:
            return
        again = write_utc(parse_time(self.histories[bot].times[-most]) + DAY)
        why = f"bots/{bot} changed {most} times in a day. It is looked at again after {again}."
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

    def _try(self, bot: str, file: BotFile, tree: FileTree, fingerprint: str) -> Iterator[AnyEntry]:
        history = self.histories[bot]
        if len(history.admitted) >= MOST_VERSIONS:
            raise RefusedPushError(
                f"bots/{bot} has had {MOST_VERSIONS} versions: there are no more."
            )
        version = f"{bot}@{len(history.admitted) + 1}" if history.admitted else bot
        why, check, is_admitted = "", None, False
        try:
            try:
                check = self._checked(version, bot, file, tree)
                why = failure_words(check) if check.verdict == "failed" else ""
            except RefusedPushError as error:
                why = f"bots/{bot}/{BOT_FILE}: {error}"
            if tree_fingerprint(self._read(bot)[0]) != fingerprint:
                raise ChangedPushError(f"bots/{bot}")
            if why:
                yield from self._refuse(bot, why, fingerprint, check)
                return
            # Before the line: a signal while the disk takes it would remove what is admitted.
            is_admitted = True
            yield self._admit(bot, version, file, fingerprint, check)
        finally:
            if not is_admitted:
                self._remove(version)

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

    def _checked(self, version: str, bot: str, file: BotFile, tree: FileTree) -> CheckSummary:
        """Copy, build and check a version. Raises RefusedPushError, CannotStartError, OSError."""
        folder = self._lay_out(version, file, tree)
        permissions = self.settings.permissions(bot)
        command = version_command(file, folder, permissions)
        check_sealed(command, self.settings)
        games = [
            (one.name, EventGame(*division_rules(one, self.league.path)))
            for one in self.settings.divisions
            if not file.divisions or one.name in file.divisions
        ]
        clock = own_or(permissions.clock, self.settings.clock, command)
        return examine_version(command, self.sandbox, clock, games, self.settings.quota.check_s)

    def _lay_out(self, version: str, file: BotFile, tree: FileTree) -> Path:
        """Write a version's files, build them, and return the folder in which it runs."""
        folder = self.league.version(version)
        # What a kill left here never played.
        self._remove(version)
        write_tree(tree, folder)
        if not file.build:
            return folder
        built = built_folder(folder)
        seconds = self.settings.quota.build_s
        build_bot(file, folder, built, self.sandbox, self.bounds, seconds)
        return built

    def _remove(self, version: str) -> None:
        folder = self.league.version(version)
        for one in (folder, built_folder(folder)):
            remove_tree(one)

    def _admit_house(self, name: str) -> AnyEntry:
        tree = house_files(name)
        file = parse_bot_file(tree, name, self.divisions)
        try:
            version_command(file, self._lay_out(name, file, tree), BotPermissions())
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
    alike = [other for other in sorted(admitted) if other.casefold() == name.casefold()]
    if alike and name not in admitted:
        raise RefusedPushError(
            f"bots/{name} differs from the bot {alike[0]} in capitals only. Rename it."
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
    files = {word: TreeItem("file", (home / word).read_bytes()) for word in words if _is_own(word)}
    fields = {"run": bot.run, "build": bot.build, "about": bot.about}
    # Every JSON string is a TOML string too.
    lines = [f"{key} = {encode_json(value).decode()}" for key, value in fields.items() if value]
    return {**files, BOT_FILE: TreeItem("file", "\n".join([*lines, ""]).encode())}


def _is_own(word: str) -> bool:
    return bool(word) and "/" not in word and (sample_folder() / word).is_file()
