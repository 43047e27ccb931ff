"""Publication of a league: writes its site, or brings it up to date.

The site follows from the league's files. Nothing of a round that is not over is read, but its plan.
A file is written only if its bytes change, and the first page last. So a publication that was
killed leaves a site that can be read, and the next one mends it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from markupsafe import Markup

from arena.document.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Media,
    Paragraph,
    Section,
    select,
    table,
)
from arena.files import open_file
from arena.ui.html import SitePages, generator
from protocol.codec import indented_json
from tournaments.league.folder import CLOSED, PLAN
from tournaments.league.pages.bot_page import bot_page
from tournaments.league.pages.front import about_sections, division_lead, front_part
from tournaments.league.pages.news import News, atom_feed, league_news
from tournaments.league.pages.rounds import RoundFacts, publish_round, round_facts
from tournaments.league.pages.view import (
    FEED,
    HOME,
    DivisionView,
    LeagueView,
    Ranks,
    badge_address,
    bot_address,
    game_values,
    pairing_address,
    record_cells,
    round_address,
)
from tournaments.league.ratings.standings import LeagueTable, elo_text, rate_division
from tournaments.league.read import DivisionData, LeagueData, PlayedRound
from tournaments.league.records import RoundPlan
from tournaments.league.weekly_report import league_at_end, week_before, week_blocks
from tournaments.report.html.page import HERE as REPORT
from tournaments.site.publish import write_changed
from tournaments.storage.folder import content

HERE = Path(__file__).parent
OWN = ("bots", "pairings", "badges", "weeks", "rounds")
"""The folders whose files are ours alone; others, such as `live`, are left alone."""
NEWS = 15
"""Items of news on the first page."""
GAMES = 100
"""Games that the page of a pairing lists."""
LETTER, PAD = 6.6, 12
"""The width of a letter of a badge, and of the space around a text, in pixels."""
READ_LOGS = 50
"""The last rounds of a division whose logs tell the pages about lost games and fouls."""
MARK = 4096
"""The first bytes of a page, within which it says from what it was made."""

File = tuple[str, bytes | None]
"""The address of a file from the site's root, and its content; None if it stays as it is."""


class LeagueSite:
    """The site of a league, and what this process has read for it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._facts: dict[tuple[Path, bool], tuple[object, RoundFacts]] = {}
        self._ranks: dict[tuple[str, str], tuple[int, Ranks]] = {}

    def publish(self, data: LeagueData, week: str, planned: RoundPlan | None) -> None:
        """Write the site, or bring it up to date; `planned`: the round that would begin now.

        `week`: the present one. Raises DamagedFileError and UserError if a round's files are
        damaged, OSError.
        """
        divisions = [
            self._division(
                data, one, week, planned if planned and planned.division == name else None
            )
            for name, one in data.divisions.items()
        ]
        view = LeagueView(data=data, divisions=divisions)
        written = set()
        for address, text in _Writer(view, self._folder, week).files():
            path = self._folder / address
            if text is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_changed(path, text)
            written.add(path)
        _remove_others(view, self._folder, written)

    def _division(
        self, data: LeagueData, division: DivisionData, week: str, planned: RoundPlan | None
    ) -> DivisionView:
        """Publish the rounds of a division, and put it together as the pages show it."""
        links = [("../../../" + HOME, data.settings.title)]
        rounds = [one for one in division.rounds if one.is_over]
        for one in rounds:
            publish_round(one, self._folder / round_address(one), links)
        past = week_before(week_before(week)), week_before(week)
        return DivisionView(
            data=division,
            table=rate_division(division, data),
            rounds=rounds,
            facts=[
                self._facts_of(one, with_logs=len(rounds) - place <= READ_LOGS)
                for place, one in enumerate(rounds)
            ],
            next=next((one.plan for one in division.rounds if not one.is_over), planned),
            past=[(one, self._ranks_at(data, division, one)) for one in past],
        )

    def _facts_of(self, one: PlayedRound, *, with_logs: bool) -> RoundFacts:
        """Return the facts of a round, read again only if its luck or its review is new."""
        files = (one.folder.luck, one.folder.review)
        sizes = [file.stat().st_size if file.exists() else None for file in files]
        known = self._facts.get((one.folder.path, with_logs))
        if known is None or known[0] != sizes:
            known = sizes, round_facts(one, with_logs=with_logs)
            self._facts[one.folder.path, with_logs] = known
        return known[1]

    def _ranks_at(self, data: LeagueData, division: DivisionData, week: str) -> Ranks:
        """Return the ranks in a division at the end of a week; empty before its first round."""
        name = division.settings.name
        rounds = sum(one.week <= week and one.is_over for one in division.rounds)
        known = self._ranks.get((name, week))
        if known is None or known[0] != rounds:
            then = league_at_end(data, week)
            rows = rate_division(then.divisions[name], then).standings if rounds else ()
            known = rounds, {row.bot: row.rank for row in rows if row.rank}
            self._ranks[name, week] = known
        return known[1]


class _Writer:
    """The files of a site, one after the other."""

    def __init__(self, view: LeagueView, site: Path, week: str) -> None:
        self._view = view
        self._site = site
        self._week = week
        self._pages = SitePages((HERE, REPORT), ("report.css", "league.css"), ("sort.js",))
        self._news = league_news(view)
        self._bot_html = cache(partial(_bot_html, self._pages, view.emblems))
        self._title = view.data.settings.title

    @cached_property
    def _look(self) -> str:
        """A digest of all that a page shows besides its games."""
        look = hashlib.sha256(f"{generator()} {self._title}".encode())
        for one in sorted(file for file in (*HERE.iterdir(), *REPORT.iterdir()) if file.is_file()):
            look.update(one.read_bytes())
        return look.hexdigest()[:12]

    def files(self) -> Iterator[File]:
        """Yield all files but those of the rounds; the first page is the last."""
        view, data = self._view, self._view.data
        yield from ((name, text.encode()) for name, text in self._pages.files.items())
        for division in view.divisions:
            yield from self._pairings(division)
            for row in division.table.standings:
                yield badge_address(division.name, row.bot), self._badge(row.bot, elo_text(row))
        yield from self._bots()
        weeks = sorted({one.week for division in view.divisions for one in division.data.rounds})
        for week in weeks:
            yield from self._week_files(week)
        yield "register.jsonl", content(data.folder.register)
        yield ".nojekyll", b""
        table = LeagueTable(
            title=self._title,
            anchor=data.settings.anchor,
            house=data.settings.house,
            foul_sittings=data.settings.quota.foul_sittings,
            divisions=[one.table for one in view.divisions],
        )
        yield "league.json", indented_json(table) + b"\n"
        news = [one for one in self._news if one.kind != "rank"]
        yield self._feed(FEED, HOME, self._title, news)
        several = len(view.divisions) > 1
        leads = (
            (f"{one.title}: " if several else "") + division_lead(one) for one in view.divisions
        )
        values = {
            "parts": [front_part(one) for one in view.divisions],
            "news": news[:NEWS],
            "anchor": data.settings.anchor.name,
            "live": (self._site / "live").is_dir(),
            "summary": " ".join(leads),
            "blocks": [*about_sections(view, weeks)],
        }
        yield self._page(HOME, self._title, "front.html.j2", values)

    def _pairings(self, division: DivisionView) -> Iterator[File]:
        """Yield the pages of pairs; without their content where nobody has played since."""
        met = division.meetings
        pairs = [(bot, rival) for bot in met for rival in met[bot] if bot < rival]
        for one, other in sorted(pairs):
            meetings = met[one][other]
            address = pairing_address(division.name, one, other)
            made = f"{self._look} {division.title} {len(meetings)}"
            if self._is_made(address, made):
                yield address, None
            else:
                values = _pairing(division, one, other)
                yield self._page(address, f"{one} – {other}", "pairing.html.j2", values, made=made)

    def _is_made(self, address: str, made: str) -> bool:
        """Tell whether a page was made from this."""
        path = self._site / address
        if not path.is_file():
            return False
        with open_file(path) as file:
            return f'"{made}"'.encode() in file.read(MARK)

    def _bots(self) -> Iterator[File]:
        by_bot: dict[str, list[News]] = {bot: [] for bot in self._view.entries}
        for one in self._news:
            by_bot[one.bot].append(one)
        for bot, news in by_bot.items():
            values, feed = bot_page(self._view, bot, news), f"bots/{bot}.xml"
            yield self._page(bot_address(bot), bot, "bot.html.j2", values, feed=feed)
            yield self._feed(feed, bot_address(bot), f"{bot} in {self._title}", news)

    def _week_files(self, week: str) -> Iterator[File]:
        """Yield the page of a week, and its report; one that is over is written once."""
        rounds = [
            one
            for division in self._view.divisions
            for one in reversed(division.rounds)
            if one.week == week
        ]
        address, text = f"weeks/{week}.html", content(self._view.data.folder.reports / f"{week}.md")
        is_over = week < self._week
        made = f"{self._look} {len(rounds)} {len(text)} {is_over}"
        if self._is_made(address, made):
            yield address, None
        else:
            blocks = week_blocks(self._view.data, week) if is_over else []
            if text:
                blocks.append(
                    Figure(macro="links", value=[(f"{week}.md", "The same for mails", "")])
                )
            blocks.append(Section("Rounds", _rounds(rounds)))
            values = {"blocks": blocks, "heading": f"Week {week}"}
            yield self._page(address, f"Week {week}", "league.html.j2", values, made=made)
        if text:
            yield f"weeks/{week}.md", text

    def _page(
        self,
        address: str,
        title: str,
        template: str,
        values: Mapping[str, Any],
        *,
        feed: str = "",
        made: str = "",
    ) -> File:
        root = "../" * address.count("/")
        blocks = select(values.get("blocks", ()), Media.HTML)
        html = self._pages.page(
            template,
            "league",
            title,
            root=root,
            links=[(root + HOME, self._title), (f"{root}{HOME}#enter", "How to enter")],
            numbers=self._view.emblems,
            bot_html=self._bot_html,
            feeds=[*([(feed, title)] if feed else []), (FEED, self._title)],
            made=made,
            **{"summary": title, **values, "blocks": blocks},
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


def _pairing(division: DivisionView, one: str, other: str) -> dict[str, Any]:
    meetings, turned = division.meetings[one][other], division.meetings[other][one]
    return {
        "heading": f"{one} against {other} in {division.title}",
        "rows": [(one, record_cells(meetings)), (other, record_cells(turned))],
        "games": [game_values(met.round, met.result) for met in reversed(meetings[-GAMES:])],
        "left": max(0, len(meetings) - GAMES),
    }


def _rounds(rounds: Sequence[PlayedRound]) -> list[Block]:
    # Whoever copies the site by its links needs these files to verify it; no other page has them.
    files = {"plan": PLAN, "event": "event.json", "ledger": "ledger.jsonl", "text": "report.md"}
    columns = [
        Column("round", "name"), Column("chosen", "word"), Column("tables"), Column("boards"),
        Column("games"), Column("fouls"), *(Column(head, "word") for head in files),
    ]  # fmt: skip
    rows: list[tuple[str | Cell, ...]] = []
    for one in rounds:
        there = f"../{round_address(one)}"
        early, closed = (" (closed early)", there + CLOSED) if one.closed else ("", "")
        rows.append((
            Cell(f"{one.plan.division} {one.plan.number}", href=f"{there}index.html"),
            one.plan.time[:16].replace("T", " "),
            f"{len(one.plan.tables)}",
            f"{one.plan.boards}",
            Cell(f"{len(one.results)}{early}", href=closed),
            f"{sum(len(result.fouls) for result in one.results)}",
            *(Cell(file, href=there + file) for file in files.values()),
        ))  # fmt: skip
    about = (
        "A round is an event of its own: report, replays, game logs, commitments to its deals and, "
        "since it is over, their seeds. `round.json` tells how its tables were chosen. "
        "`boneyard verify FOLDER` checks a copy of its folder, or of the whole site."
    )
    return [Paragraph(about), table("Rounds", columns, rows)]


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
        below = (site / own).glob("*") if own == "rounds" else (site / own).rglob("*")
        for path in sorted(below, reverse=True):
            if path.is_dir():
                with suppress(OSError):  # It is not empty.
                    path.rmdir()
            elif path not in written:
                path.unlink()
