"""The page of a bot: rating over time, lost games, records, versions, fouls, checks. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.document.blocks import (
    UNKNOWN,
    Block,
    Cell,
    Code,
    Column,
    Figure,
    Paragraph,
    Section,
    table,
)
from arena.rules.english import count_in_digits
from protocol.codec import printable, printable_lines
from tournaments.league.pages.front import game_line
from tournaments.league.pages.history_chart import history_chart
from tournaments.league.pages.news import News, check_words
from tournaments.league.pages.view import (
    DivisionView,
    LeagueView,
    Loss,
    Tally,
    badge_address,
    bot_feed_address,
    elo_text,
    round_address,
    tally,
)
from tournaments.league.ratings.standings import StandingRow
from tournaments.league.records import Admitted, CheckSummary, Refused, Withdrawn
from tournaments.report.document import DIGITS, foul_evidence
from tournaments.report.html.replay_links import SITE_PAGE

ROOT = "../"
"""The way from the page to the site's root."""
NEWS = 20
"""The largest number of items of its news."""
REFUSED = 5
"""Refused pushes that are shown."""
VERDICTS = {"failed": 0, "warned": 1, "skipped": 2, "passed": 3}
"""The order in which the steps of a check are shown."""


class Steps(NamedTuple):
    """Steps of a check that ended alike."""

    verdict: str
    words: str
    """The same words for all."""
    names: Sequence[str]


class Place(NamedTuple):
    """The state of a bot in a division, in words."""

    words: str


def bot_page(view: LeagueView, bot: str, news: Sequence[News]) -> dict[str, Any]:
    """Return the values of a bot's page; `news` are those about it, the latest first."""
    entries = view.entries[bot]
    admitted = [one for one in entries if isinstance(one, Admitted)]
    present = admitted[-1] if admitted else None
    pushed = next((one for one in news if one.kind in ("admitted", "refused", "benched")), None)
    places = view.rows_of(bot)
    sections: list[Block] = []
    for division in view.divisions:
        if division.standings.timeline.get(bot) or bot in division.rows:
            sections += _division_sections(view, division, bot)
    sections += [*_checks(entries), *_news(news), _share(view, bot)]
    return {
        "name": places[0][1].version if places else bot,
        "about": printable(present.about, 200) if present else "",
        "author": printable(present.author, 80) if present else "",
        "presence": _presence(entries),
        "places": [Place(_place_words(*one)) for one in places],
        "push": pushed,
        "plays_on": places[0][1].version if places and pushed and pushed.kind == "refused" else "",
        "blocks": sections,
    }


def _presence(entries: Sequence[Any]) -> str:
    state = [one for one in entries if isinstance(one, Admitted | Withdrawn)]
    if not state:
        return "No push of it was admitted yet."
    if isinstance(state[-1], Withdrawn):
        return f"Withdrawn on {state[-1].time[:10]}."
    if isinstance(state[-1], Admitted) and state[-1].house:
        return "A house bot: it always plays, so that ratings mean the same next year."
    return f"In the league since {state[0].time[:10]}."


def _place_words(division: DivisionView, row: StandingRow) -> str:
    """Return where the bot stands, and whom it plays next."""
    where = division.title
    bench = division.benched.get(row.version)
    if bench:
        return f"**Benched** in {where} until it changes."
    if row.rank is None and row.elo is None:
        words = f"**Not rated yet** in {where}."
    else:
        elo, half = elo_text(row)
        interval = f" ± {half}" if half else ""
        place = f"Place {row.rank} of {len(division.standings.rows)}"
        words = (
            f"**{place if row.rank else 'No place yet'}** in {where}: {elo}{interval} "
            f"Elo after {count_in_digits(row.games, 'game')}.{_change(division, row)}"
        )
    return f"{words} {_next(division, row.version)}"


def _next(division: DivisionView, version: str) -> str:
    plan = division.next
    if plan is None:
        return ""
    tables = [one for one in plan.tables if version in one.entrants]
    if tables:
        names = dict.fromkeys(name for one in tables for name in one.entrants if name != version)
        return f"Next: against {', '.join(names)} in round {plan.number}."
    if version in plan.held:
        return f"Not in round {plan.number}: {plan.held[version]}."
    return f"Not in round {plan.number}: other tables tell more."


def _change(division: DivisionView, row: StandingRow) -> str:
    """Return how the version compares with the one before; empty without one."""
    if row.change is None:
        return ""
    half = "" if row.change_half_width is None else f" ± {row.change_half_width:.0f}"
    worse = [one for one in division.standings.regressions if one.newer == row.version]
    flagged = f" **{worse[0].sentence}.**" if worse else ""
    return f" {row.change:+.0f}{half} Elo against {row.before}.{flagged}"


# --- a division ---


def _division_sections(view: LeagueView, division: DivisionView, bot: str) -> Iterator[Section]:
    """Yield what a division knows of a bot."""
    several = len(view.divisions) > 1
    scope = f" in {division.title}" if several else ""
    key = f"-{division.name}" if several else ""

    def section(title: str, name: str, blocks: Sequence[Block], *, folded: bool = False) -> Section:
        return Section(title + scope, blocks, id=name + key, folded=folded)

    facts = division.facts_of.get(bot)
    if facts and facts.losses:
        lines = [_loss(one) for one in facts.losses]
        yield section("Last games it did not win", "losses", [Figure(macro="games", value=lines)])
    chart = history_chart(division.standings.timeline.get(bot, ()), bot)
    history: list[Block] = [Figure(macro="history", value=chart)] if chart else []
    yield section("Rating", "rating", [*history, _versions(view, division, bot)])
    if rivals := division.rivals.get(bot):
        yield section("Record", "record", [_record(division, bot, rivals)])
    if facts and (facts.luck_games or facts.reviewed):
        yield section("Luck and mistakes", "luck", [*_luck(facts)])
    if facts and facts.fouls:
        yield section("Fouls", "fouls", [*_fouls(division, bot)])


def _loss(one: Loss) -> Any:
    result, cost = one.game.result, one.cost
    foul = next((f.foul for f in result.fouls if f.seat == one.seat), "")
    notes = [f"its foul: {foul}"] if foul else []
    if cost and cost.round:
        blocked = ", blocked" if cost.blocked else ""
        notes.append(f"round {cost.round} cost it {cost.points} points{blocked}")
    if one.luck:
        luck = one.luck[one.seat]
        notes.append(f"{'gained' if luck > 0 else 'lost'} {abs(luck):.0f} by luck")
    return game_line(one.game)._replace(note="; ".join(notes))


def _versions(view: LeagueView, division: DivisionView, bot: str) -> Block:
    columns = [
        Column("version", "name"), Column("since", "word"), Column("Elo", detail="±"),
        Column("change", detail="±"), Column("games"), Column("win %"), Column("fouls"),
        Column("fingerprint", "digest"),
    ]  # fmt: skip
    rows = [
        (
            Cell(row.version),
            Cell(row.since),
            Cell(*elo_text(row)),
            Cell(UNKNOWN)
            if row.change is None
            else Cell(f"{row.change:+.0f}", f"{row.change_half_width or 0:.0f}"),
            Cell(f"{row.games}"),
            Cell(UNKNOWN if row.win_share is None else f"{100 * row.win_share:.1f}"),
            Cell(f"{row.fouls}"),
            Cell(
                view.data.versions[row.version].fingerprint[:DIGITS]
                if row.version in view.data.versions
                else UNKNOWN
            ),
        )
        for row in sorted(
            (one for one in division.standings.all_versions if one.bot == bot),
            key=lambda one: one.since,
            reverse=True,
        )
    ]
    return table("Versions", columns, rows)


def _record(division: DivisionView, bot: str, rivals: Sequence[str]) -> Block:
    columns = [
        Column("against", "name"), Column("games"), Column("won–drawn–lost", "word"),
        Column("win %"), Column("points a game", "word"),
    ]  # fmt: skip
    sums = [(other, tally(division.between(bot, other))) for other in rivals]
    sums.sort(key=lambda one: (-one[1].games, one[0]))
    rows = [(_rival(division, bot, other), *record_cells(one)) for other, one in sums]
    return table("Record against each bot", columns, rows)


def _rival(division: DivisionView, bot: str, other: str) -> Cell:
    return Cell(other, href=ROOT + division.pairing_address(bot, other))


def record_cells(one: Tally) -> tuple[Cell, ...]:
    """Return the cells of a record: games, won and lost, win %, points."""
    points = f"{one.points / one.games:.1f} – {one.against / one.games:.1f}"
    return (
        Cell(f"{one.games}"), Cell(one.record), Cell(f"{100 * one.share:.1f}"), Cell(points),
    )  # fmt: skip


def _luck(facts: Any) -> Iterator[Block]:
    if facts.luck_games:
        a_game = facts.luck / facts.luck_games
        way = "gave it" if a_game >= 0 else "cost it"
        games = count_in_digits(facts.luck_games, "game")
        yield Paragraph(f"The tiles drawn {way} {abs(a_game):.1f} points a game, over {games}.")
    if facts.reviewed:
        rounds = count_in_digits(facts.reviewed, "reviewed round")
        yield Paragraph(
            f"Its decisions cost it {facts.mistakes / facts.reviewed:.2f} points a round, over "
            f"{rounds}. The reports of the rounds name the dearest ones."
        )


def _fouls(division: DivisionView, bot: str) -> Iterator[Block]:
    facts = division.facts_of[bot]
    rows = [one for one in division.standings.all_versions if one.bot == bot]
    total = sum(one.fouls for one in rows)
    yield Paragraph(
        f"{count_in_digits(total, 'foul')} in all. The latest examples; run the commands in a copy "
        "of the round's folder, which is linked with the replay.",
        "faint",
    )
    shown = [
        foul_evidence(one, f"{ROOT}{round_address(played)}{SITE_PAGE}#game={one.game}")
        for played, one in facts.fouls
    ]
    yield Figure(macro="evidence", value=shown)


# --- pushes ---


def _checks(entries: Sequence[Any]) -> Iterator[Section]:
    """Yield the checks of the present version and of the last refused pushes."""
    blocks: list[Block] = []
    admitted = [one for one in entries if isinstance(one, Admitted) and one.check]
    refused = [one for one in entries if isinstance(one, Refused)]
    for entry in [*reversed(refused)][:REFUSED]:
        # With a check its steps say the same, and more.
        words = "" if entry.check else printable_lines(entry.why)
        inner: list[Block] = [Figure(macro="words", value=words)] if words else []
        inner += _steps(entry.check)
        title = f"Refused on {entry.time[:10]} at {entry.time[11:16]} UTC"
        blocks.append(Section(title, inner, folded=entry is not refused[-1]))
    if admitted:
        last = admitted[-1]
        inner = _steps(last.check)
        blocks.append(Section(f"{last.version}: admitted on {last.time[:10]}", inner, folded=True))
    if blocks:
        yield Section("Checks", blocks, id="checks")


def _steps(check: CheckSummary | None) -> list[Block]:
    if check is None:
        return []
    alike: dict[tuple[str, str], list[str]] = {}
    for one in check.steps:
        key = printable(one.verdict, 20), printable_lines(one.words)
        alike.setdefault(key, []).append(printable(one.name, 200))
    steps = [Steps(*key, names) for key, names in alike.items()]
    steps.sort(key=lambda one: VERDICTS.get(one.verdict, -1))
    return [Paragraph(check_words(check)), Figure(macro="check", value=steps)]


def _news(news: Sequence[News]) -> Iterator[Section]:
    if news:
        yield Section("News", [Figure(macro="news", value=news[:NEWS])], id="news")


def _share(view: LeagueView, bot: str) -> Section:
    """Return the section about the bot's feed and badges."""
    base = f"{view.data.settings.url.rstrip('/')}/" if view.data.settings.url else "ADDRESS/"
    badges: list[Block] = []
    for division, _ in view.rows_of(bot):
        address = badge_address(division.name, bot)
        picture = f"[![{bot}]({base}{address})]({base}bots/{bot}.html)"
        badges += [Figure(macro="badge", value=(ROOT + address, bot)), Code(picture)]
    if badges and not view.data.settings.url:
        badges.append(Paragraph("For `ADDRESS` write the address of this site.", "faint"))
    feed = [(f"{ROOT}{bot_feed_address(bot)}", "Feed", ": its pushes, its ranks, its regressions")]
    return Section("Feed and badge", [Figure(macro="links", value=feed), *badges], id="share")
