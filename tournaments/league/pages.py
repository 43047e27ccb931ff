"""The site of a league: its pages, charts and news, written or brought up to date.

The site follows from the league's files. Nothing of a round that is not over is read, but its plan.
A file is written only if its bytes change, and the first page last. So a publication that was
killed leaves a site that can be read, and the next one mends it.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cache, cached_property, partial
from itertools import groupby, islice
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

from markupsafe import Markup
from msgspec import Struct

from arena.analysis.timeline import opponents
from arena.document.blocks import minus
from arena.files import has_content, write_atomic
from arena.logs.catalog import replay_address
from arena.rules.english import count_in_digits
from arena.rules.explain import explain_ruleset
from arena.ui.html import SitePages
from protocol.codec import indented_json, printable, printable_lines
from protocol.errors import UserError
from protocol.records import Result
from tournaments.event.folder import Folder, content
from tournaments.event.luck import LuckStore
from tournaments.formats.base import first_version
from tournaments.league.pairing import Outlook, describe_slow, next_round
from tournaments.league.ratings import (
    DivisionTable,
    LeagueTable,
    StandingRow,
    rate_division,
)
from tournaments.league.settings import CLOSED_FILE, PLAN, LeagueFolder
from tournaments.league.state import (
    FOUL_VERBS,
    Admitted,
    AnyEntry,
    DivisionData,
    LeagueData,
    PlayedRound,
    RoundPlan,
    describe_entry,
    one_line,
    shown_time,
)
from tournaments.rating.tables import own_fouls
from tournaments.report import page
from tournaments.report.charts import (
    EDGES,
    Axes,
    Axis,
    Bar,
    Chart,
    Dot,
    Forest,
    Label,
    Stroke,
    axis,
    forest_of,
    grid_across,
    open_ends,
)
from tournaments.report.review import read_summary
from tournaments.site.publish import SiteWriter, write_changed, write_event_site
from tournaments.study.losses import GameSums

# The league as its pages show it: finished rounds, games by pair of bots, addresses. Pure.
#
# A bot is all its versions; a page or a record of two bots joins the games of all their versions.


HOME_PAGE = "index.html"
"""The address of the first page, from the site's root."""
MOST_DRAWN = 100
"""Bots of a division up to which their intervals are drawn: a page stays below 100 kB."""


class News(NamedTuple):
    """Something that happened to a bot."""

    time: str
    bot: str
    kind: str
    """admitted, refused, withdrawn, benched or worse."""
    title: str
    """A sentence, without its stop."""
    words: str
    """More text, perhaps an author's, all printable; empty if there is none."""


class RoundFacts(Struct, frozen=True, kw_only=True):
    """Facts from the files of a round, as far as the league's pages show them."""

    round: PlayedRound
    luck: dict[str, tuple[float, ...]] = {}
    """Points that each seat owes to the tiles drawn, by game; only games whose luck is known."""
    mistakes: dict[str, tuple[int, float]] = {}
    """Decisions that were reviewed and points lost by them, by version."""


class BotGame(NamedTuple):
    """A game that is over, from the side of one of its bots."""

    facts: RoundFacts
    result: Result
    seat: int

    @property
    def replay(self) -> str:
        """The address of its replay, from the site's root."""
        return f"{round_address(self.facts.round)}{replay_address(self.result.game)}"


class DivisionView(Struct, frozen=True, kw_only=True, dict=True):
    """A division as the pages show it."""

    data: DivisionData
    table: DivisionTable
    """Its ratings, as league.json has them."""
    facts: Sequence[RoundFacts]
    """Those of its rounds that are over and published, in order."""
    next: RoundPlan | None
    """The plan of the round that is being played, or that would be chosen now."""
    pause: str
    """The reason why it has none, and until when; empty if it has one."""
    slow: Mapping[str, str]
    """Sentences about the time of slow versions."""

    @cached_property
    def rows(self) -> Mapping[str, StandingRow]:
        """The row of the present version of each bot, by bot."""
        return {row.bot: row for row in self.table.standings}

    @cached_property
    def forest(self) -> Forest | None:
        """The intervals of its standings; None if none is known or too many are."""
        rows = self.table.standings
        drawn = len(rows) <= MOST_DRAWN and any(row.elo is not None for row in rows)
        return forest_of([row.rating for row in rows], grid=False) if drawn else None

    @cached_property
    def games_of(self) -> Mapping[str, Sequence[BotGame]]:
        """The games of each bot, in order."""
        games = defaultdict[str, list[BotGame]](list)
        for facts in self.facts:
            for result in facts.round.results:
                for seat, name in enumerate(result.seats):
                    games[first_version(name)].append(BotGame(facts, result, seat))
        return games

    @cached_property
    def meetings(self) -> Mapping[str, Mapping[str, Sequence[tuple[BotGame, int]]]]:
        """The games of each bot with each other that it met, in order, and the other's seat."""
        meetings: defaultdict[str, defaultdict[str, list[tuple[BotGame, int]]]]
        meetings = defaultdict(lambda: defaultdict(list))
        seats = self.data.seats
        rivals = [opponents(self.data.rules, seats, seat) for seat in range(seats)]
        for bot, games in self.games_of.items():
            for game in games:
                for other in rivals[game.seat]:
                    if bot != (rival := first_version(game.result.seats[other])):
                        meetings[bot][rival].append((game, other))
        return meetings

    def record(self, bot: str, other: str) -> GameSums:
        """Return the sums of a bot's games against another."""
        sums = GameSums()
        for game, seat in self.meetings[bot][other]:
            sums.add(game.result, game.seat, (seat,))
        return sums

    def last_games(self) -> Iterator[BotGame]:
        """Yield a game of each table of the last round."""
        for last in self.facts[-1:]:
            for result in {frozenset(r.seats): r for r in last.round.results}.values():
                yield BotGame(last, result, 0)


def bot_address(bot: str) -> str:
    """Return the address of a bot's page, from the site's root."""
    return f"bots/{bot}.html"


def pairing_address(division: str, bot: str, other: str) -> str:
    """Return the address of the page of two bots."""
    first, second = sorted((bot, other))
    return f"pairings/{division}/{first}/{second}.html"


def round_address(round: PlayedRound) -> str:
    """Return the folder of a published round, with a slash."""
    return f"rounds/{round.plan.division}/{round.plan.number:04}/"


# The chart of a bot's rating over time. Pure.


DATES = 5
"""The largest number of dates along the bottom."""
ROOMY = 1 / 15
"""Share of the width that the number of a version needs."""


def history_chart(played: Mapping[str, StandingRow], bot: str) -> Chart | None:
    """Return a bot's versions, each over the days on which it played; None without a rating."""
    rated = [(day, row) for day, row in played.items() if row.elo is not None]
    if not rated:
        return None
    scale = axis(end for _, row in rated for end in (row.rating.low, row.rating.high))
    days = [date.fromisoformat(day).toordinal() for day, _ in rated]
    scale_x = Axis(days[0], days[-1] + 1)
    marks = [*grid_across(scale, scale_x.low, "end", dx=-8, dy=4)]
    dated = zip(days, (row for _, row in rated), strict=True)
    runs = [next(run) for _, run in groupby(dated, lambda pair: pair[1].name)]
    labelled = -1.0
    ends = [*(start for start, _ in runs[1:]), days[-1] + 1]
    for (start, row), end in zip(runs, ends, strict=True):
        middle, value = (start + end) / 2, row.elo or 0.0
        if end - start == 1:  # A line of a single day looks like a bar.
            marks.append(Stroke("step", (middle, middle), open_ends(row.rating)))
            marks += [] if row.bound else [Dot("step", middle, value)]
        else:
            marks.append(Bar("band", (start, end), open_ends(row.rating)))
            marks += [] if row.bound else [Stroke("step", (start, end), (value, value))]
        if start > days[0]:
            marks.append(Stroke("change", (start, start)))
        if labelled < 0 or scale_x.share(start) - labelled > ROOMY:
            labelled = scale_x.share(start)
            number = row.name.rpartition("@")[2] if "@" in row.name else "1"
            marks.append(Label(f"@{number}", start, EDGES[1], "start", dx=4, dy=11))
    step = max(1, -(-(days[-1] + 1 - days[0]) // DATES))
    feet = [
        (day + 0.5, date.fromordinal(day).strftime("%d %b").lstrip("0"), "middle")
        for day in range(days[0], days[-1] + 1, step)
    ]
    versions = f", {len(runs)} versions" if len(runs) > 1 else ""
    (first, old), (last, new) = rated[0], rated[-1]
    words = (
        f"Rating of {bot} from {first} to {last}{versions}: from {old.rating.cell().text} to "
        f"{new.rating.cell().text} Elo. The table of versions has the numbers."
    )
    return Chart("history", Axes(scale_x, scale), marks, minus(words), feet, 88)


# The news of a league, item by item, for its pages. Pure.


MAX_ITEM_LENGTH = 500
"""The largest length of an item's words, in characters."""


def league_news(league: LeagueData, divisions: Iterable[DivisionView]) -> list[News]:
    """Return all that happened, the latest first."""
    items = [item for entry in league.register for item in _entry_news(entry)]
    items += [item for division in divisions for item in _division_news(league, division)]
    return sorted(items, key=lambda item: (item.time, item.title), reverse=True)


def _entry_news(entry: AnyEntry) -> Iterator[News]:
    if isinstance(entry, Admitted) and entry.house:
        return
    kind, words = describe_entry(entry)
    # The bot's page has all lines of a reason.
    subject, _, why = one_line(words.split("\n")[0], MAX_ITEM_LENGTH).partition(": ")
    yield News(entry.time, entry.bot, kind, f"{subject} was {kind}", why.rstrip(":"))


def _division_news(league: LeagueData, division: DivisionView) -> Iterator[News]:
    """Yield the benches and regressions of a division."""
    table = division.table
    for row in table.all_versions:
        if bench := row.bench:
            title = f"{row.name} is benched in {table.name} until it changes"
            yield News(bench.time, row.bot, "benched", title, bench.why)
    for row in table.regressions:
        if admitted := league.versions.get(row.name):
            words = "" if row.gain.value is None else f"{row.gain.text()} Elo."
            title = f"{row.flag} in {table.title}"
            yield News(admitted.time, row.bot, "worse", title, words)


# The rounds of a league on its site, each an event's site, and what luck and mistakes did there.
#
# A round's plan is published last. So a round without it, or whose luck or review came later, is
# published again.


def publish_round(played: PlayedRound, site: Path, links: Sequence[tuple[str, str]]) -> None:
    """Publish a round that is over, unless that was done.

    `links`: addresses of the league's pages from the round's, and their labels. Raises
    DamagedFileError, UserError, OSError.
    """
    folder, copy, closed = played.folder, Folder(site), played.closed is not None
    plan = [content(folder.path / PLAN)]
    if (
        has_content(site / PLAN, plan)
        and _is_copied(folder.luck, copy.luck)
        and _is_copied(folder.review, copy.review)
    ):
        return
    write_event_site(folder.path, site, "", links, closed=closed)
    if closed:
        write_atomic(site / CLOSED_FILE, [content(folder.path / CLOSED_FILE)])
    write_atomic(site / PLAN, plan)


def _is_copied(path: Path, other: Path) -> bool:
    return has_content(other, [content(path)]) if path.exists() else not other.exists()


def round_facts(played: PlayedRound) -> RoundFacts:
    """Return what a round's files tell of luck and mistakes."""
    luck, review = LuckStore(played.folder, played.event), read_summary(played.folder)
    return RoundFacts(
        round=played,
        luck={r.game: record.points for r in played.results if (record := luck.known(r))},
        mistakes={
            row.entrant: (row.total.decisions, row.total.loss.mean * row.total.decisions)
            for row in (review.entrants if review else ())
        },
    )


# The page of a bot: its places, lost games, record, luck, fouls, checks, in words. Pure.


GAMES_SHOWN = 8
"""Lost games, and games with fouls, that the page shows."""
REFUSED_SHOWN = 5
"""Refused pushes that are shown."""


class BotPage:
    """The facts of the league about a bot."""

    def __init__(
        self,
        league: LeagueData,
        divisions: Iterable[DivisionView],
        bot: str,
        news: Sequence[News],
    ) -> None:
        """`news`: those about it, the latest first."""
        self.name, self.news = bot, news
        self._history = league.histories[bot]
        latest = self._history.admitted[-1:]
        self.about = "".join(printable(version.about, 200) for version in latest)
        self.author = "".join(printable(version.author, 80) for version in latest)
        self.push = next((item for item in news if item.kind != "worse"), None)
        self.divisions = [
            BotInDivision(division, bot)
            for division in divisions
            if bot in division.table.history or bot in division.rows
        ]

    @property
    def present(self) -> list["BotInDivision"]:
        """The divisions in which it plays."""
        return [division for division in self.divisions if division.row]

    @property
    def checks(self) -> list[AnyEntry]:
        """The last refused pushes, the latest first, and the last admission."""
        refused = [*self._history.refused.values()][: -REFUSED_SHOWN - 1 : -1]
        return [*refused, *[version for version in self._history.admitted if version.check][-1:]]


def _next(plan: RoundPlan, version: str) -> str:
    met = {name for table in plan.tables if version in table.entrants for name in table.entrants}
    if met:
        return f"Next: against {', '.join(sorted(met - {version}))} in round {plan.number}."
    return f"Not in round {plan.number}: {plan.held.get(version, 'other tables tell more')}."


class BotInDivision(NamedTuple):
    """The facts of a division about a bot."""

    division: DivisionView
    bot: str

    @property
    def row(self) -> StandingRow | None:
        """The row of its present version."""
        return self.division.rows.get(self.bot)

    def place(self) -> Iterator[str]:
        """Yield sentences about its place and its next opponents."""
        row, title = self.row, self.division.table.title
        if row is None:
            return
        if row.bench:
            yield f"**Benched** in {title} until it changes."
            return
        if row.rank is None and row.elo is None:
            yield f"**Not rated yet** in {title}."
        else:
            total = sum(row.rank is not None for row in self.division.table.standings)
            low, high = row.ranks
            rank = f"{low}–{high}" if low != high else f"{row.rank}"
            unranked = "House bot, without a place" if row.is_house else "No place yet"
            place = f"Place {rank} of {total}" if row.rank else unranked
            games = count_in_digits(row.games, "game")
            yield f"**{place}** in {title}: {row.rating.text()} Elo after {games}."
        if row.gain.value is not None:
            yield f"{row.gain.text()} Elo compared with {row.before}."
        if row.is_worse:
            yield f"**{row.flag}.**"
        if row.name in self.division.slow:
            yield self.division.slow[row.name]
        following = self.division.next
        yield _next(following, row.name) if following else self.division.pause

    @property
    def versions(self) -> list[StandingRow]:
        """Its versions, the latest first."""
        versions = [row for row in self.division.table.all_versions if row.bot == self.bot]
        return sorted(versions, key=lambda row: row.since, reverse=True)

    @property
    def met(self) -> list[str]:
        """The bots that it met, those of most games first."""
        met = self.division.meetings.get(self.bot, {})
        return sorted(met, key=lambda rival: (-len(met[rival]), rival))

    def history(self) -> Chart | None:
        """Return its rating over time."""
        rows = {row.name: row for row in self.versions}
        played = self.division.table.history.get(self.bot, {})
        return history_chart({day: rows[name] for day, name in played.items()}, self.bot)

    @property
    def _games(self) -> Sequence[BotGame]:
        return self.division.games_of.get(self.bot, ())

    def losses(self) -> list[BotGame]:
        """Return the last games that it did not win, the latest first."""
        losses = (game for game in reversed(self._games) if game.result.places[game.seat] > 1)
        return [*islice(losses, GAMES_SHOWN)]

    def fouls(self) -> list[BotGame]:
        """Return the last games in which it fouled, the latest first."""
        fouled = (game for game in reversed(self._games) if game.seat in own_fouls(game.result))
        return [*islice(fouled, GAMES_SHOWN)]

    def luck(self) -> Iterator[str]:
        """Yield what luck and mistakes cost it, in sentences."""
        luck = [
            points[game.seat]
            for game in self._games
            if (points := game.facts.luck.get(game.result.game))
        ]
        if luck:
            a_game = sum(luck) / len(luck)
            way, games = "gave it" if a_game >= 0 else "cost it", count_in_digits(len(luck), "game")
            yield f"The tiles drawn {way} {abs(a_game):.1f} points a game, over {games}."
        both = (item for facts in self.division.facts for item in facts.mistakes.items())
        if own_sums := [sums for name, sums in both if first_version(name) == self.bot]:
            count, loss = sum(count for count, _ in own_sums), sum(loss for _, loss in own_sums)
            yield (
                f"It lost {loss / max(count, 1):.2f} points a decision, over "
                f"{count_in_digits(count, 'reviewed decision')}. The reports of the rounds name "
                "the dearest ones."
            )


# Publication of a league: writes its site, or brings it up to date.


LEAGUE_TEMPLATES = Path(__file__).parent / "html"
LIVE = "live"
"""Folder of the site that shows the present round, some time late."""
PAUSE_FACTOR = 10
"""The shortest pause before the site is written again, in durations of its last pages."""
OUR_FOLDERS = ("bots", "pairings", "weeks")
"""The folders whose files are ours alone; others, such as `live`, are left alone."""
PAIRING_GAMES = 100
"""Games that the page of a pairing lists."""

File = tuple[str, bytes | None]
"""The address of a file from the site's root, and its content; None if it stays as it is."""


class LeagueSite:
    """The site of a league, and what this process has read for it."""

    def __init__(self, folder: LeagueFolder) -> None:
        self._site, self._published = folder.site, folder.published
        self._facts: dict[tuple[object, ...], RoundFacts] = {}
        self._made: dict[str, object] = {}
        self._at = self._took_s = 0.0
        self._begun: PlayedRound | None = None
        self._live: tuple[object, SiteWriter] | None = None

    def announce(self, round: PlayedRound) -> None:
        """Publish the commitments of a round, before its first game, and show it from now on.

        Raises OSError.
        """
        place = self._site / round_address(round)
        place.mkdir(parents=True, exist_ok=True)
        commitments = round.folder.commitments
        write_atomic(place / commitments.name, [content(commitments)])
        self._begun = round

    def show_live(self, data: LeagueData) -> None:
        """Write a public snapshot of the last round; if that fails, the next call tries again.

        After a restart that is the round of before, until the delay of the next has passed.
        """
        last = self._begun or max(data.last_rounds, key=lambda round: round.plan.time, default=None)
        if last:
            key = title, delay_s = data.settings.title, data.settings.delay_s
            if self._live is None or self._live[0] != key:
                self._live = (
                    key,
                    SiteWriter(self._site / LIVE, delay_s, ((f"../{HOME_PAGE}", title),)),
                )
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
        if (self._site / HOME_PAGE).exists() and content(self._published) == state:
            return None
        outlook = _outlook(data, now)
        divisions = [self._division(data, d, outlook) for d in data.divisions.values()]
        began_pages = time.monotonic()
        writer = _Writer(data, divisions, self._site, now, self._made)
        paths = set()
        for address, text in writer.files():
            path = self._site / address
            if text is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_changed(path, text)
            paths.add(path)
        _remove_others(data, self._site, paths)
        write_atomic(self._published, [state])
        self._at = time.monotonic()
        # A round is written once, however long that takes; the pages each time.
        self._took_s = self._at - began_pages
        return self._at - began

    def _division(self, data: LeagueData, division: DivisionData, outlook: Outlook) -> DivisionView:
        """Publish the rounds of a division, and put it together as the pages show it."""
        links = [("../../../" + HOME_PAGE, data.settings.title)]
        for round in division.over:
            publish_round(round, self._site / round_address(round), links)
        name, playing = division.settings.name, division.playing
        plan = playing.plan if playing else outlook.round and outlook.round[0]
        mine = plan if plan and plan.division == name else None
        return DivisionView(
            data=division,
            table=rate_division(division, data),
            facts=[self._facts_of(round) for round in division.over],
            next=mine,
            pause="" if mine else outlook.pauses.get(name, "Another division plays first."),
            slow=describe_slow(data, division),
        )

    def _facts_of(self, round: PlayedRound) -> RoundFacts:
        """Return the facts of a round, read again only if its luck or its review is new."""
        files = (round.folder.luck, round.folder.review)
        sizes = [file.stat().st_size if file.exists() else None for file in files]
        key = round.folder.path, *sizes
        if key not in self._facts:
            self._facts[key] = round_facts(round)
        return self._facts[key]


class _Writer:
    """The files of a site, one after the other."""

    def __init__(
        self,
        data: LeagueData,
        divisions: Sequence[DivisionView],
        site: Path,
        now: datetime,
        sources: dict[str, object],
    ) -> None:
        """Begin with `sources`: those of each page that changes less often than the site."""
        self._data, self._divisions = data, divisions
        self._site, self._now, self._made = site, now, sources
        self._pages = SitePages(
            (LEAGUE_TEMPLATES, page.REPORT_TEMPLATES), ("report.css", "league.css"), ("sort.js",)
        )
        self._news = league_news(data, divisions)
        self._bot_html = cache(partial(_bot_html, self._pages, data.emblems))
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
        weeks = sorted({round.week for round in data.rounds})
        for week in weeks:
            rounds = [round for round in reversed(data.rounds) if round.week == week]
            over = [round for round in rounds if round.is_over]
            words = f"weeks/{week}.html", f"Week {week}", "week.html.j2"
            yield from self._unless_made((self._title, len(over)), *words, rounds=over)
        # A look beside the round may have added lines that no page shows yet.
        lines = content(data.folder.register).splitlines(keepends=True)
        yield "register.jsonl", b"".join(lines[: len(data.register)])
        yield ".nojekyll", b""
        table = LeagueTable(
            title=self._title,
            anchor=data.settings.anchor,
            house=data.settings.house,
            foul_sittings=data.settings.quota.foul_sittings,
            divisions=[division.table for division in self._divisions],
        )
        yield "league.json", indented_json(table) + b"\n"
        live = (self._site / LIVE).is_dir()
        yield self._page(
            HOME_PAGE, self._title, "front.html.j2", news=self._news, live=live, weeks=weeks,
            closing=data.settings.closing, has_closed=data.settings.has_closed(self._now),
        )  # fmt: skip

    def _pairings(self, division: DivisionView) -> Iterator[File]:
        """Yield the pages of pairs."""
        met = division.meetings
        pairs = [(bot, rival) for bot in met for rival in met[bot] if bot < rival]
        for name, other in sorted(pairs):
            games = met[name][other]
            yield from self._unless_made(
                (self._title, division.table.title, len(games)),
                pairing_address(division.table.name, name, other),
                f"{name} – {other}",
                "pairing.html.j2",
                division=division,
                pair=(name, other),
                games=[game for game, _ in games[: -PAIRING_GAMES - 1 : -1]],
                left=max(0, len(games) - PAIRING_GAMES),
            )

    def _unless_made(self, key: object, address: str, *texts: str, **more: Any) -> Iterator[File]:
        """Yield a page; without its content if this process wrote it for the same `key` before."""
        if self._made.get(address) == key and (self._site / address).is_file():
            yield address, None
        else:
            yield self._page(address, *texts, **more)
            self._made[address] = key  # It is written by now.

    def _page(self, address: str, title: str, template: str, **more: Any) -> File:
        root = "../" * address.count("/")
        html = self._pages.page(
            template,
            "league",
            title,
            root=root,
            links=[(root + HOME_PAGE, self._title), (f"{root}{HOME_PAGE}#enter", "How to enter")],
            divisions=self._divisions,
            settings=self._data.settings,
            numbers=self._data.emblems,
            versions=self._data.versions,
            foul_words=FOUL_VERBS,
            bot_html=self._bot_html,
            files={"plan": PLAN, "closed": CLOSED_FILE},
            **TEMPLATE_FUNCTIONS,
            **more,
        )
        return address, html.encode()


TEMPLATE_FUNCTIONS = {
    function.__name__: function
    for function in (
        bot_address, explain_ruleset, pairing_address, round_address, shown_time,
        printable_lines,
    )
}  # fmt: skip
"""The functions that our templates call."""


def _bot_html(pages: SitePages, numbers: Mapping[str, int], name: str) -> Markup:
    """Return a bot's emblem and name, as a report has them; a large site has a million of them."""
    return Markup(pages.render("bot_name.html.j2", numbers=numbers, name=name))


def _state(league: LeagueData, now: datetime) -> bytes:
    """Return what the site shows of a league, but for luck and reviews, in short."""
    rounds = {name: (len(data.rounds), len(data.over)) for name, data in league.divisions.items()}
    day = f"{now:%Y-%m-%d}", league.settings.has_closed(now)
    return repr((day, league.settings, len(league.register), rounds)).encode()


def _outlook(league: LeagueData, now: datetime) -> Outlook:
    """Return what would be played now; nothing while a round is played."""
    playing = [round for round in league.last_rounds if not round.is_over]
    try:
        return Outlook(None, {}) if playing else next_round(league, now)
    except UserError as error:
        return Outlook(
            None, dict.fromkeys(league.divisions, league.folder.without_path(f"{error}"))
        )


# --- what is gone ---


def _remove_others(league: LeagueData, site: Path, paths: set[Path]) -> None:
    """Remove the files in our folders that were not written, and rounds that are no more."""
    # Of a round that is not over the commitments are public.
    rounds = {site / round_address(round) for round in league.rounds}
    for path in (site / "rounds").glob("*/*"):
        if path.is_dir() and path not in rounds:
            rmtree(path)
    for folder in OUR_FOLDERS:
        for path in sorted((site / folder).rglob("*"), reverse=True):
            if path.is_dir():
                with suppress(OSError):  # It is not empty.
                    path.rmdir()
            elif path not in paths:
                path.unlink()
