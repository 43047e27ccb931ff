"""Publication of a league: writes its site, or brings it up to date.

The site follows from the league's files. Nothing of a round that is not over is read, but its plan.
A file is written only if its bytes change, and the first page last. So a publication that was
killed leaves a site that can be read, and the next one mends it.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from markupsafe import Markup

from arena.document.blocks import Media, select
from arena.files import write_atomic
from arena.rules.explain import explain_ruleset
from arena.ui.html import SitePages
from protocol.codec import indented_json, printable_lines
from protocol.errors import UserError
from tournaments.league.folder import CLOSED, PLAN, LeagueFolder
from tournaments.league.pages.bot_page import BotPage
from tournaments.league.pages.news import league_news
from tournaments.league.pages.rounds import publish_round, round_facts
from tournaments.league.pages.view import (
    HOME,
    DivisionView,
    News,
    Ranks,
    RoundFacts,
    bot_address,
    pairing_address,
    round_address,
)
from tournaments.league.pairing.next_round import next_round
from tournaments.league.ratings import LeagueTable, rate_division
from tournaments.league.read import DivisionData, LeagueData, PlayedRound, week_of
from tournaments.league.records import RoundPlan
from tournaments.league.weekly_report import ranks_at_end, week_before, week_blocks
from tournaments.report.html.page import HERE as REPORT
from tournaments.site.publish import write_changed
from tournaments.site.writer import SiteWriter
from tournaments.storage.folder import content

HERE = Path(__file__).parent
LIVE = "live"
"""Folder of the site that shows the present round, some time late."""
PAUSE_FACTOR = 10
"""The site is written again at the earliest when so many times as long has passed as it took."""
OWN = ("bots", "pairings", "weeks")
"""The folders whose files are ours alone; others, such as `live`, are left alone."""
GAMES = 100
"""Games that the page of a pairing lists."""

File = tuple[str, bytes | None]
"""The address of a file from the site's root, and its content; None if it stays as it is."""


class LeagueSite:
    """The site of a league, and what this process has read for it."""

    def __init__(self, folder: LeagueFolder) -> None:
        self._site, self._published = folder.site, folder.published
        self._facts: dict[tuple[object, ...], RoundFacts] = {}
        self._ranks: dict[tuple[str, str, int], Ranks] = {}
        self._made: dict[str, object] = {}
        self._at = self._took_s = 0.0
        self._begun: PlayedRound | None = None
        self._live: tuple[object, SiteWriter] | None = None

    def announce(self, begun: PlayedRound) -> None:
        """Publish the commitments of a round, before its first game, and show it from now on.

        Raises OSError.
        """
        place = self._site / round_address(begun)
        place.mkdir(parents=True, exist_ok=True)
        commitments = begun.folder.commitments
        write_atomic(place / commitments.name, [content(commitments)])
        self._begun = begun

    def show_live(self, data: LeagueData) -> None:
        """Write a public snapshot of the last round; if that fails, the next call tries again.

        After a restart that is the round of before, until the delay of the next has passed.
        """
        last = self._begun or max(data.last_rounds, key=lambda one: one.plan.time, default=None)
        if last:
            key = title, delay_s = data.settings.title, data.settings.delay_s
            if self._live is None or self._live[0] != key:
                self._live = key, SiteWriter(self._site / LIVE, delay_s, ((f"../{HOME}", title),))
            with suppress(OSError, UserError):
                self._live[1].follow(last.folder.path, time.time())

    def outdate(self) -> None:
        """Note that the site lacks something of earlier rounds. Raises OSError."""
        self._published.unlink(missing_ok=True)

    def publish(self, data: LeagueData, now: datetime, *, at_once: bool) -> float | None:
        """Write the site, or bring it up to date; return the duration in s, or None without news.

        Soon after the last time only `at_once`. Raises DamagedFileError and UserError if a round's
        files are damaged, OSError.
        """
        began, state = time.monotonic(), _state(data, now)
        if not at_once and began - self._at < PAUSE_FACTOR * self._took_s:
            return None
        if (self._site / HOME).exists() and content(self._published) == state:
            return None
        week, planned = week_of(now), _planned(data, now)
        divisions = [self._division(data, one, week, planned) for one in data.divisions.values()]
        writer = _Writer(data, divisions, self._site, week, self._made)
        written = set()
        for address, text in writer.files():
            path = self._site / address
            if text is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_changed(path, text)
            written.add(path)
        _remove_others(data, self._site, written)
        write_atomic(self._published, [state])
        self._at = time.monotonic()
        self._took_s = self._at - began
        return self._took_s

    def _division(
        self, data: LeagueData, division: DivisionData, week: str, planned: RoundPlan | None
    ) -> DivisionView:
        """Publish the rounds of a division, and put it together as the pages show it."""
        links = [("../../../" + HOME, data.settings.title)]
        for one in division.over:
            publish_round(one, self._site / round_address(one), links)
        if division.playing or (planned and planned.division != division.settings.name):
            planned = division.playing.plan if division.playing else None
        past = week_before(week_before(week)), week_before(week)
        return DivisionView(
            data=division,
            table=rate_division(division, data),
            facts=[self._facts_of(one) for one in division.over],
            next=planned,
            past=[(one, self._ranks_at(data, division, one)) for one in past],
        )

    def _facts_of(self, one: PlayedRound) -> RoundFacts:
        """Return the facts of a round, read again only if its luck or its review is new."""
        files = (one.folder.luck, one.folder.review)
        sizes = [file.stat().st_size if file.exists() else None for file in files]
        key = one.folder.path, *sizes
        if key not in self._facts:
            self._facts[key] = round_facts(one)
        return self._facts[key]

    def _ranks_at(self, data: LeagueData, division: DivisionData, week: str) -> Ranks:
        """Return the ranks in a division at the end of a week; empty before its first round."""
        name = division.settings.name
        key = name, week, sum(one.week <= week for one in division.over)
        if key not in self._ranks:
            self._ranks[key] = ranks_at_end(data, name, week)
        return self._ranks[key]


class _Writer:
    """The files of a site, one after the other."""

    def __init__(
        self,
        data: LeagueData,
        divisions: Sequence[DivisionView],
        site: Path,
        week: str,
        made: dict[str, object],
    ) -> None:
        """`made`: of what each page was made that changes less often than the site."""
        self._data, self._divisions = data, divisions
        self._site, self._week, self._made = site, week, made
        self._pages = SitePages((HERE, REPORT), ("report.css", "league.css"), ("sort.js",))
        self._news = league_news(data, divisions)
        # The number of the emblem of each bot and version: it never changes.
        numbers = {bot: number for number, bot in enumerate(data.histories)}
        self._emblems = {name: numbers[one.bot] for name, one in data.versions.items()} | numbers
        self._bot_html = cache(partial(_bot_html, self._pages, self._emblems))
        self._title = data.settings.title

    def files(self) -> Iterator[File]:
        """Yield all files but those of the rounds; the first page is the last."""
        data = self._data
        yield from ((name, text.encode()) for name, text in self._pages.files.items())
        for division in self._divisions:
            yield from self._pairings(division)
        by_bot = defaultdict[str, list[News]](list)
        for item in self._news:
            by_bot[item.bot].append(item)
        for bot in data.histories:
            page = BotPage(data, self._divisions, bot, by_bot[bot])
            yield self._page(bot_address(bot), bot, "bot.html.j2", page=page)
        weeks = sorted({one.week for one in data.rounds})
        for week in weeks:
            yield from self._week_files(week)
        yield "register.jsonl", content(data.folder.register)
        yield ".nojekyll", b""
        table = LeagueTable(
            title=self._title,
            anchor=data.settings.anchor,
            house=data.settings.house,
            foul_sittings=data.settings.quota.foul_sittings,
            divisions=[one.table for one in self._divisions],
        )
        yield "league.json", indented_json(table) + b"\n"
        news = [one for one in self._news if one.kind != "rank"]
        live = (self._site / LIVE).is_dir()
        yield self._page(HOME, self._title, "front.html.j2", news=news, live=live, weeks=weeks)

    def _pairings(self, division: DivisionView) -> Iterator[File]:
        """Yield the pages of pairs."""
        met = division.meetings
        pairs = [(bot, rival) for bot in met for rival in met[bot] if bot < rival]
        for one, other in sorted(pairs):
            games = met[one][other]
            yield from self._unless_made(
                (self._title, division.table.title, len(games)),
                pairing_address(division.table.name, one, other),
                f"{one} – {other}",
                "pairing.html.j2",
                division=division,
                pair=(one, other),
                games=[game for game, _ in games[: -GAMES - 1 : -1]],
                left=max(0, len(games) - GAMES),
            )

    def _week_files(self, week: str) -> Iterator[File]:
        """Yield the page of a week, with its report once it is over."""
        data = self._data
        begun = [one for one in reversed(data.rounds) if one.week == week]
        rounds = [one for one in begun if one.is_over]
        is_over = week < self._week and rounds == begun
        blocks = cache(partial(week_blocks, data, week))
        yield from self._unless_made(
            (self._title, len(rounds), is_over),
            f"weeks/{week}.html",
            f"Week {week}",
            "week.html.j2",
            week=week,
            is_over=is_over,
            rounds=rounds,
            blocks=lambda: select(blocks(), Media.HTML) if is_over else [],
        )

    def _unless_made(self, of: object, address: str, *what: str, **more: Any) -> Iterator[File]:
        """Yield a page; without its content if this process wrote it `of` the same before."""
        if self._made.get(address) == of and (self._site / address).is_file():
            yield address, None
        else:
            yield self._page(address, *what, **more)
            self._made[address] = of  # It is written by now.

    def _page(self, address: str, title: str, template: str, **more: Any) -> File:
        root = "../" * address.count("/")
        html = self._pages.page(
            template,
            "league",
            title,
            root=root,
            links=[(root + HOME, self._title), (f"{root}{HOME}#enter", "How to enter")],
            divisions=self._divisions,
            settings=self._data.settings,
            numbers=self._emblems,
            bot_html=self._bot_html,
            files={"plan": PLAN, "closed": CLOSED},
            **TEMPLATE_FUNCTIONS,
            **more,
        )
        return address, html.encode()


TEMPLATE_FUNCTIONS = {
    one.__name__: one
    for one in (
        bot_address, explain_ruleset, pairing_address, round_address,
        printable_lines,
    )
}  # fmt: skip
"""The functions that our templates call."""


def _bot_html(pages: SitePages, numbers: Ranks, name: str) -> Markup:
    """Return a bot's emblem and name, as a report has them; a large site has a million of them."""
    return Markup(pages.render("bot_name.html.j2", numbers=numbers, name=name))


def _state(league: LeagueData, now: datetime) -> bytes:
    """Return what the site shows of a league, but for luck and reviews, in short."""
    rounds = {name: (len(one.rounds), len(one.over)) for name, one in league.divisions.items()}
    return repr((f"{now:%Y-%m-%d}", league.settings, len(league.register), rounds)).encode()


def _planned(league: LeagueData, now: datetime) -> RoundPlan | None:
    """Return the plan of the round that would begin now; None while one is played."""
    if all(one.is_over for one in league.rounds):
        with suppress(UserError):
            return found[0] if (found := next_round(league, now)) else None
    return None


# --- what is gone ---


def _remove_others(league: LeagueData, site: Path, written: set[Path]) -> None:
    """Remove the files in our folders that were not written, and rounds that are no more."""
    # Of a round that is not over the commitments are public.
    rounds = {site / round_address(one) for one in league.rounds}
    for path in (site / "rounds").glob("*/*"):
        if path.is_dir() and path not in rounds:
            rmtree(path)
    for own in OWN:
        for path in sorted((site / own).rglob("*"), reverse=True):
            if path.is_dir():
                with suppress(OSError):  # It is not empty.
                    path.rmdir()
            elif path not in written:
                path.unlink()
