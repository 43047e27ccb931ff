"""Publication of a league: writes its site, or brings it up to date.

The files of the league are the truth, and the site follows from them; only `ranks.json` keeps what
was true on earlier days. Nothing of a round that is not over is read, but its plan. A file is
written only if its bytes change, and the first page last. So a publication that was killed leaves a
site that can be read, and the next one mends it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from arena.document.blocks import Media, select
from arena.files import read_file
from arena.ui.html import SitePages, generator
from protocol.codec import DamagedRecordError, decode_json, encode_json, printable_lines
from protocol.errors import UserError
from tournaments.league.pages import archive, pages
from tournaments.league.pages.archive import Ranks
from tournaments.league.pages.bot_page import bot_page
from tournaments.league.pages.feeds import atom_feed
from tournaments.league.pages.front import division_lead, front_parts
from tournaments.league.pages.news import News, league_news
from tournaments.league.pages.rounds import publish_round
from tournaments.league.pages.view import (
    ARCHIVE,
    ENTER,
    FEED,
    HOME,
    DivisionView,
    LeagueView,
    badge_address,
    bot_address,
    bot_feed_address,
    elo_text,
    round_address,
)
from tournaments.league.pairing.next_round import next_round
from tournaments.league.ratings.league_table import league_json
from tournaments.league.ratings.standings import division_standings
from tournaments.league.read import DivisionData, LeagueData, week_of
from tournaments.league.records import Admitted, Benched, RoundPlan
from tournaments.report.html.page import HERE as REPORT
from tournaments.site.publish import write_changed
from tournaments.storage.folder import content

HERE = Path(__file__).parent
OWN = ("bots", "pairings", "badges", "rules", "standings", "weeks", "rounds")
"""The folders whose files are ours alone; others, such as `live`, are left alone."""
NEWS = 15
"""Items of news on the first page."""
HEADING = re.compile(r"<(/?)h[12]>")
"""Headings of a report, which stand below that of its page."""
ALIGNED = re.compile(r' style="text-align:\w+"')
"""Styles in attributes, which the policy of our pages forbids."""
KEPT = ".json"
"""The ending of the files that the archive keeps."""
LETTER, PAD = 6.6, 12
"""The width of a letter of a badge, and of the space around a text, in pixels."""

File = tuple[str, bytes | None]
"""The address of a file from the site's root, and its content; None if it stays as it is."""


def publish_league(data: LeagueData, site: Path, now: datetime) -> None:
    """Write the site of a league, or bring it up to date.

    Raises DamagedFileError and UserError if a round's files are damaged, OSError.
    """
    ranks = archive.read_ranks(site, f"{now:%Y-%m-%d}")
    planned = _next_plan(data, now)
    divisions = [_division(data, one, site, ranks, planned) for one in data.divisions.values()]
    view = LeagueView(data=data, divisions=divisions)
    weeks = list(archive.past_weeks(data, site, week_of(now)))
    written = set()
    for address, text in _Writer(view, site, ranks, weeks).files():
        path = site / address
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_changed(path, text)
        written.add(path)
    _remove_others(view, site, written)


def _next_plan(data: LeagueData, now: datetime) -> RoundPlan | None:
    """Return the plan of the round that the league would begin now; None if there is none."""
    if any(not one.is_over for division in data.divisions.values() for one in division.rounds):
        return None
    with suppress(UserError):
        found = next_round(data, now)
        return found.plan if found else None
    return None


def _division(
    data: LeagueData, division: DivisionData, site: Path, ranks: Ranks, planned: RoundPlan | None
) -> DivisionView:
    """Publish the rounds of a division, and put it together as the pages show it."""
    links = [("../../../" + HOME, data.settings.title)]
    rounds = [one for one in division.rounds if one.is_over]
    facts = [publish_round(one, site / round_address(one), links) for one in rounds]
    name, standings = division.settings.name, division_standings(division, data)
    present = {row.bot: row.rank for row in standings.rows if row.rank}
    if rounds:
        ranks.setdefault(rounds[-1].day, {})[name] = present
    begun = next((one.plan for one in division.rounds if not one.is_over), None)
    return DivisionView(
        data=division,
        standings=standings,
        rounds=rounds,
        facts=facts,
        next=begun or (planned if planned and planned.division == name else None),
        moved=archive.ranks_moved(ranks, name, present),
        benched=_benched(data, name),
    )


def _benched(data: LeagueData, division: str) -> dict[str, Benched]:
    """Return the benches that hold: a new version of its bot ends one."""
    found: dict[str, Benched] = {}
    for entry in data.register:
        if isinstance(entry, Benched) and entry.division == division:
            found[entry.version] = entry
        elif isinstance(entry, Admitted):
            found.pop(entry.version, None)
    return found


class _Writer:
    """The files of a site, one after the other."""

    def __init__(
        self, view: LeagueView, site: Path, ranks: Ranks, weeks: Sequence[archive.Week]
    ) -> None:
        self._view = view
        self._site = site
        self._ranks = ranks
        self._weeks = weeks
        self._pages = SitePages((HERE, REPORT), ("report.css", "league.css"), ("sort.js",))
        self._news = league_news(view, ranks)
        self._bot_html = cache(partial(_bot_html, self._pages, view.emblems))
        self._look = _look(view)

    def files(self) -> Iterator[File]:
        """Yield all files but those of the rounds; the first page is the last."""
        view, folder = self._view, self._view.data.folder
        yield from ((name, text.encode()) for name, text in self._pages.files.items())
        for division in view.divisions:
            yield from self._division(division)
        yield from self._bots()
        yield from self._archive()
        yield self._page(ENTER, "How to enter", pages.enter_page(view))
        yield "register.jsonl", content(folder.register)
        yield archive.RANKS, archive.ranks_json(self._ranks)
        yield ".nojekyll", b""
        standings = {one.name: one.standings for one in view.divisions}
        yield "league.json", league_json(view.data, standings)
        yield self._feed(FEED, HOME, view.title, [one for one in self._news if one.kind != "rank"])
        values = {
            "parts": front_parts(view),
            "news": [one for one in self._news if one.kind != "rank"][:NEWS],
            "anchor": view.data.settings.anchor.name,
            "live": (self._site / "live").is_dir(),
            "summary": " ".join(map(self._lead, view.divisions)),
        }
        yield self._page(HOME, view.title, values, template="front.html.j2")

    def _lead(self, division: DivisionView) -> str:
        where = f"{division.title}: " if len(self._view.divisions) > 1 else ""
        return where + division_lead(division)

    def _division(self, division: DivisionView) -> Iterator[File]:
        yield self._page(
            f"standings/{division.name}.html",
            f"Standings of {division.title}",
            pages.standings_page(division),
        )
        yield self._page(
            division.rules_address, f"Rules of {division.title}", pages.rules_page(division)
        )
        yield self._page(
            division.rounds_address, f"Rounds of {division.title}", pages.rounds_page(division)
        )
        yield from self._pairings(division)
        for row in division.standings.rows:
            yield badge_address(division.name, row.bot), self._badge(row.bot, elo_text(row))

    def _pairings(self, division: DivisionView) -> Iterator[File]:
        """Yield the pages of pairs; without their content where nobody has played since."""
        record = f"pairings/{division.name}.json"
        before = _read_made(self._site / record)
        now = {
            division.pairing_address(*pair): f"{self._look} {division.title} {len(meetings)}"
            for pair, meetings in division.meetings.items()
        }
        pairs = zip(now.items(), division.meetings.items(), strict=True)
        for (address, made), (pair, meetings) in pairs:
            if before.get(address) == made and (self._site / address).is_file():
                yield address, None
            else:
                values = pages.pairing_page(division, pair, meetings)
                title = f"{pair[0]} – {pair[1]}"
                yield self._page(address, title, values, template="pairing.html.j2")
        yield record, encode_json(now)

    def _bots(self) -> Iterator[File]:
        by_bot: dict[str, list[News]] = {bot: [] for bot in self._view.entries}
        for one in self._news:
            by_bot[one.bot].append(one)
        for bot, news in by_bot.items():
            values = bot_page(self._view, bot, news)
            feed = bot_feed_address(bot)
            yield self._page(
                bot_address(bot), bot, values, template="bot.html.j2", feeds=[(feed, bot)]
            )
            yield self._feed(feed, bot_address(bot), f"{bot} in {self._view.title}", news)

    def _archive(self) -> Iterator[File]:
        folder = self._view.data.folder
        reports = {path.stem: path for path in sorted(folder.reports.glob("*.md"))}
        yield self._page(ARCHIVE, "Archive", pages.weeks_page(self._weeks, {*reports}))
        titles = {one.name: one.title for one in self._view.divisions}
        by_name = {one.week: (one, moved) for one, moved in archive.week_changes(self._weeks)}
        for name in sorted({*by_name, *reports}):
            week, moved = by_name.get(name, (None, {}))
            text = read_file(reports[name]).decode(errors="replace") if name in reports else ""
            values = pages.week_page(week, name, titles, moved, _report_html(text))
            yield self._page(f"weeks/{name}.html", f"Week {name}", values)
            if text:
                yield f"weeks/{name}.md", text.encode()

    def _page(
        self,
        address: str,
        title: str,
        values: Mapping[str, Any],
        *,
        template: str = "league.html.j2",
        feeds: Sequence[tuple[str, str]] = (),
    ) -> File:
        root = "../" * address.count("/")
        blocks = select(values.get("blocks", ()), Media.HTML)
        html = self._pages.page(
            template,
            "league",
            title,
            root=root,
            links=self._view.navigation(root),
            numbers=self._view.emblems,
            bot_html=self._bot_html,
            feeds=[*feeds, (FEED, self._view.title)],
            **{"summary": title, "heading": "", **values, "blocks": blocks},
        )
        return address, html.encode()

    def _feed(self, address: str, page: str, title: str, news: Sequence[News]) -> File:
        web = self._view.data.settings.url
        root = "../" * address.count("/")
        base = f"{web.rstrip('/')}/" if web else ""
        return address, atom_feed(title, news, address=base, own=address, page=page, root=root)

    def _badge(self, bot: str, elo: tuple[str, str]) -> bytes:
        text = f"{bot} {elo[0]} ± {elo[1]}" if elo[1] else f"{bot} {elo[0]}"
        left, right = (round(len(one) * LETTER) + PAD for one in ("boneyard", text))
        return self._pages.render("badge.svg.j2", text=text, left=left, right=right).encode()


def _bot_html(pages: SitePages, numbers: Mapping[str, int], name: str) -> Markup:
    """Return a bot's emblem and name, as a report has them; a large site has a million of them."""
    return Markup(pages.render("bot_name.html.j2", numbers=numbers, name=name))


def _read_made(path: Path) -> dict[str, str]:
    """Return what the pages of pairs were made of before; nothing if that is not known."""
    try:
        return decode_json(read_file(path), dict[str, str])
    except (OSError, DamagedRecordError):
        return {}


def _look(view: LeagueView) -> str:
    """Return a digest of all that a page of a pair shows besides its games."""
    files = sorted(one for one in (*HERE.iterdir(), *REPORT.iterdir()) if one.is_file())
    look = hashlib.sha256(f"{generator()} {view.navigation('')}".encode())
    for one in files:
        look.update(one.read_bytes())
    return look.hexdigest()[:12]


def _report_html(text: str) -> Markup:
    """Return a report in Markdown as HTML: no element of its own, and no links."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.disable(["link", "image", "autolink", "reference"])
    html = reader.render(printable_lines(text))
    html = html.replace(' style="text-align:right"', ' class="n"').replace(
        "<th>", '<th scope="col">'
    )
    return Markup(ALIGNED.sub("", HEADING.sub(r"<\1h3>", html)))


# --- what is gone ---


def _remove_others(view: LeagueView, site: Path, written: set[Path]) -> None:
    """Remove the files in our folders that were not written, and rounds that are no more."""
    # Of a round that is not over the commitments are public.
    rounds = {
        site / round_address(one)
        for division in view.data.divisions.values()
        for one in division.rounds
    }
    for path in (site / "rounds").glob("*/*"):
        if path.is_dir() and path not in rounds:
            rmtree(path)
    for own in OWN:
        for path in sorted(_tree(site / own), reverse=True):
            if path.is_dir():
                with suppress(OSError):  # It is not empty.
                    path.rmdir()
            elif path not in written and path.suffix != KEPT:
                path.unlink()


def _tree(folder: Path) -> Iterator[Path]:
    """Yield what is in a folder, but not what is in published rounds."""
    return folder.glob("*") if folder.name == "rounds" else folder.rglob("*")
