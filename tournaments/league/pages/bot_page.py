"""The page of a bot: rating over time, lost games, records, versions, fouls, checks. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

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
from tournaments.formats.base import first_version
from tournaments.league.pages.history_chart import history_chart
from tournaments.league.pages.news import News
from tournaments.league.pages.view import (
    DivisionView,
    LeagueView,
    Meeting,
    badge_address,
    bot_address,
    game_values,
    pairing_address,
    record_cells,
    replay_address,
)
from tournaments.league.ratings.standings import StandingRow, elo_text
from tournaments.league.records import Admitted, AnyEntry, CheckSummary, Refused, Withdrawn
from tournaments.report.document import DIGITS, foul_evidence

ROOT = "../"
"""The way from the page to the site's root."""
SHOWN = 8
"""Lost games, and fouls, that the page shows."""
NEWS = 20
"""The largest number of items of its news."""
REFUSED = 5
"""Refused pushes that are shown."""
VERDICTS = {"failed": 0, "warned": 1, "skipped": 2, "passed": 3}
"""The order in which the steps of a check are shown."""


def bot_page(view: LeagueView, bot: str, news: Sequence[News]) -> dict[str, Any]:
    """Return the values of a bot's page; `news` are those about it, the latest first."""
    entries = view.entries[bot]
    admitted = [one for one in entries if isinstance(one, Admitted)]
    present = admitted[-1] if admitted else None
    pushed = next((one for one in news if one.kind in ("admitted", "refused", "benched")), None)
    places = view.rows_of(bot)
    blocks: list[Block] = []
    for division in view.divisions:
        if division.table.timeline.get(bot) or bot in division.rows:
            scope = f" in {division.title}" if len(view.divisions) > 1 else ""
            for title, key, inner in _division(view, division, bot):
                blocks.append(Section(title + scope, inner, id=f"{key}-{division.name}"))
    blocks += _checks(entries)
    if news:
        blocks.append(Section("News", [Figure(macro="news", value=news[:NEWS])], id="news"))
    return {
        "name": places[0][1].version if places else bot,
        "about": printable(present.about, 200) if present else "",
        "author": printable(present.author, 80) if present else "",
        "presence": _presence(entries),
        "places": [_place(*one) for one in places],
        "push": pushed,
        "plays_on": places[0][1].version if places and pushed and pushed.kind == "refused" else "",
        "blocks": [*blocks, _share(view, bot)],
    }


def _presence(entries: Sequence[AnyEntry]) -> str:
    state = [one for one in entries if isinstance(one, Admitted | Withdrawn)]
    if not state:
        return "No push of it was admitted yet."
    if isinstance(state[-1], Withdrawn):
        return f"Withdrawn on {state[-1].time[:10]}."
    if state[-1].house:
        return "A house bot: it always plays, so that ratings mean the same next year."
    return f"In the league since {state[0].time[:10]}."


def _place(division: DivisionView, row: StandingRow) -> str:
    where = division.title
    if row.is_benched:
        return f"**Benched** in {where} until it changes."
    if row.rank is None and row.elo is None:
        words = f"**Not rated yet** in {where}."
    else:
        elo, half = elo_text(row)
        interval = f" ± {half}" if half else ""
        place = f"Place {row.rank} of {len(division.table.standings)}"
        words = (
            f"**{place if row.rank else 'No place yet'}** in {where}: {elo}{interval} "
            f"Elo after {count_in_digits(row.games, 'game')}."
        )
    if row.change is not None:
        half = "" if row.change_half_width is None else f" ± {row.change_half_width:.0f}"
        words += f" {row.change:+.0f}{half} Elo against {row.before}."
    flagged = [one for one in division.table.regressions if one.newer == row.version]
    return " ".join((words, *(f"**{one.sentence}.**" for one in flagged), _next(division, row)))


def _next(division: DivisionView, row: StandingRow) -> str:
    plan, version = division.next, row.version
    if plan is None:
        return ""
    if met := [name for one in plan.tables if version in one.entrants for name in one.entrants]:
        names = [name for name in dict.fromkeys(met) if name != version]
        return f"Next: against {', '.join(names)} in round {plan.number}."
    return f"Not in round {plan.number}: {plan.held.get(version, 'other tables tell more')}."


# --- a division ---


def _division(
    view: LeagueView, division: DivisionView, bot: str
) -> Iterator[tuple[str, str, list[Block]]]:
    """Yield what a division knows of a bot: title, key and blocks of each section."""
    if losses := [*_losses(division, bot)]:
        figure = Figure(macro="games", value=losses)
        yield "Last games it did not win", "losses", [figure]
    chart = history_chart(division.table.timeline.get(bot, ()), bot)
    history: list[Block] = [Figure(macro="history", value=chart)] if chart else []
    versions = [one for one in division.table.all_versions if one.bot == bot]
    yield "Rating", "rating", [*history, _versions(view, versions)]
    if met := division.meetings.get(bot):
        yield "Record", "record", [_record(division, bot, met)]
    if luck := [*_luck(division, bot)]:
        yield "Luck and mistakes", "luck", luck
    if shown := [*_fouls(division, bot)][:SHOWN]:
        total = count_in_digits(sum(one.fouls for one in versions), "foul")
        words = (
            f"{total} in all. The latest examples; run the commands in a copy of the round's "
            "folder, which is linked with the replay."
        )
        yield "Fouls", "fouls", [Paragraph(words, "faint"), Figure(macro="evidence", value=shown)]


def _losses(division: DivisionView, bot: str) -> Iterator[dict[str, object]]:
    """Yield the last games that a bot did not win, the latest first."""
    games = reversed(division.games_of.get(bot, ()))
    lost = ((*one, division.facts[one[0]]) for one in games if one[1].places[one[2]] > 1)
    for place, result, seat, facts in islice(lost, SHOWN):
        notes = [f"its foul: {foul.foul}" for foul in result.fouls if foul.seat == seat]
        if (cost := facts.costliest.get(result.game)) and cost[seat].round:
            where = f"round {cost[seat].round} cost it {cost[seat].points} points"
            notes.append(f"{where}{', blocked' * cost[seat].blocked}")
        if luck := facts.luck.get(result.game):
            way = "gained" if luck[seat] > 0 else "lost"
            notes.append(f"{way} {abs(luck[seat]):.0f} by luck")
        yield game_values(division.rounds[place], result, "; ".join(notes))


def _versions(view: LeagueView, versions: Sequence[StandingRow]) -> Block:
    columns = [
        Column("version", "name"), Column("since", "word"), Column("Elo", detail="±"),
        Column("change", detail="±"), Column("games"), Column("win %"), Column("fouls"),
        Column("fingerprint", "digest"),
    ]  # fmt: skip
    known = view.data.versions
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
            Cell(known[row.version].fingerprint[:DIGITS] if row.version in known else UNKNOWN),
        )
        for row in sorted(versions, key=lambda one: one.since, reverse=True)
    ]
    return table("Versions", columns, rows)


def _record(division: DivisionView, bot: str, met: Mapping[str, Sequence[Meeting]]) -> Block:
    columns = [
        Column("against", "name"), Column("games"), Column("won–drawn–lost", "word"),
        Column("win %"), Column("points a game", "word"),
    ]  # fmt: skip
    rows = [
        (
            Cell(other, href=ROOT + pairing_address(division.name, bot, other)),
            *record_cells(meetings),
        )
        for other, meetings in sorted(met.items(), key=lambda one: (-len(one[1]), one[0]))
    ]
    return table("Record against each bot", columns, rows)


def _luck(division: DivisionView, bot: str) -> Iterator[Block]:
    luck = [
        points[seat]
        for place, result, seat in division.games_of.get(bot, ())
        if (points := division.facts[place].luck.get(result.game))
    ]
    if luck:
        a_game = sum(luck) / len(luck)
        way, games = "gave it" if a_game >= 0 else "cost it", count_in_digits(len(luck), "game")
        yield Paragraph(f"The tiles drawn {way} {abs(a_game):.1f} points a game, over {games}.")
    if bot in division.mistakes:
        rounds, loss = division.mistakes[bot]
        yield Paragraph(
            f"Its decisions cost it {loss / rounds:.2f} points a round, "
            f"over {count_in_digits(rounds, 'reviewed round')}. The reports of the rounds name the "
            "dearest ones."
        )


def _fouls(division: DivisionView, bot: str) -> Iterator[Any]:
    for played, facts in zip(reversed(division.rounds), reversed(division.facts), strict=True):
        for one in facts.evidence:
            if first_version(one.entrant) == bot:
                yield foul_evidence(one, ROOT + replay_address(played, one.game))


# --- pushes ---


def _checks(entries: Sequence[AnyEntry]) -> Iterator[Section]:
    blocks: list[Block] = []
    refused = [one for one in entries if isinstance(one, Refused)]
    for entry in [*reversed(refused)][:REFUSED]:
        # With a check its steps say the same, and more.
        words = "" if entry.check else printable_lines(entry.why)
        inner: list[Block] = [Figure(macro="words", value=words)] if words else []
        title = f"Refused on {entry.time[:10]} at {entry.time[11:16]} UTC"
        folded = entry is not refused[-1]
        blocks.append(Section(title, [*inner, *_steps(entry.check)], folded=folded))
    for last in [one for one in entries if isinstance(one, Admitted) and one.check][-1:]:
        title = f"{last.version}: admitted on {last.time[:10]}"
        blocks.append(Section(title, [*_steps(last.check)], folded=True))
    if blocks:
        yield Section("Checks", blocks, id="checks")


def _steps(check: CheckSummary | None) -> Iterator[Block]:
    """Yield the result of a check, and its steps; those that ended alike together."""
    if check is None:
        return
    passed = sum(step.verdict == "passed" for step in check.steps)
    yield Paragraph(
        f"Check: {printable(check.verdict, 200)}, {passed} of "
        f"{count_in_digits(len(check.steps), 'step')} passed in {check.seconds:.0f} s at sandbox "
        f"level {printable(check.sandbox, 20)}."
    )
    alike: dict[tuple[str, str], list[str]] = {}
    for one in check.steps:
        key = printable(one.verdict, 20), printable_lines(one.words)
        alike.setdefault(key, []).append(printable(one.name, 200))
    steps = [
        {"verdict": verdict, "words": words, "names": names}
        for (verdict, words), names in sorted(
            alike.items(), key=lambda one: VERDICTS.get(one[0][0], -1)
        )
    ]
    yield Figure(macro="check", value=steps)


def _share(view: LeagueView, bot: str) -> Section:
    base = f"{view.data.settings.url.rstrip('/')}/" if view.data.settings.url else "ADDRESS/"
    badges: list[Block] = []
    for division, _ in view.rows_of(bot):
        address = badge_address(division.name, bot)
        picture = f"[![{bot}]({base}{address})]({base}{bot_address(bot)})"
        badges += [Figure(macro="badge", value=(ROOT + address, bot)), Code(picture)]
    if badges and not view.data.settings.url:
        badges.append(Paragraph("For `ADDRESS` write the address of this site.", "faint"))
    feed = [(f"{bot}.xml", "Feed", ": its pushes, its ranks, its regressions")]
    return Section("Feed and badge", [Figure(macro="links", value=feed), *badges], id="share")
