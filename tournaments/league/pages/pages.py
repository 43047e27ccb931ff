"""The smaller pages: pairing, all standings, rounds, weeks, rules, how to enter. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from arena.document.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Figure,
    Paragraph,
    Section,
    bullets,
    table,
)
from arena.rules.english import count_in_digits
from arena.rules.explain import explain_ruleset
from tournaments.league.folder import CLOSED, PLAN
from tournaments.league.pages.archive import Week
from tournaments.league.pages.bot_page import record_cells
from tournaments.league.pages.front import alerts, division_lead, game_line, standings_table
from tournaments.league.pages.view import (
    DivisionView,
    LeagueView,
    Meeting,
    Pair,
    bot_address,
    elo_text,
    round_address,
    tally,
)
from tournaments.league.settings import LeagueSettings

GAMES = 100
"""Games that the page of a pairing lists."""
MOST_DRAWN = 400
"""Versions up to which the page of all standings draws intervals."""
BOT_TOML = """\
run = ["{build}/mine"]                                 # the program and its arguments
build = ["cc", "-O2", "-o", "{build}/mine", "mine.c"]  # if it must be compiled
about = "Counts tiles, then solves endgames."
author = "Ada"
# divisions = ["draw"]                                 # without this line it plays in all
"""
COMMANDS = """boneyard new python mine     # a working bot, to begin with
boneyard check mine          # the same check that a push must pass
"""


def pairing_page(division: DivisionView, pair: Pair, meetings: Sequence[Meeting]) -> dict[str, Any]:
    """Return the values of the page of two bots."""
    turned = [meeting.turned() for meeting in meetings]
    lines = [game_line(meeting.game) for meeting in reversed(meetings[-GAMES:])]
    return {
        "heading": f"{pair[0]} against {pair[1]} in {division.title}",
        "rows": [
            (name, record_cells(tally(own)))
            for name, own in zip(pair, (meetings, turned), strict=True)
        ],
        "games": lines,
        "left": len(meetings) - len(lines),
    }


def standings_page(division: DivisionView) -> dict[str, Any]:
    """Return the values of the page of all versions of a division."""
    standings = division.standings
    drawn = len(standings.all_versions) <= MOST_DRAWN
    earlier = [row for row in standings.all_versions if not row.is_active]
    blocks: list[Block] = [
        Paragraph(division_lead(division)),
        *([bullets([*alerts(division)])] if standings.regressions else []),
        Paragraph(
            f"{count_in_digits(standings.comparisons, 'new version')} compared with "
            "the one before.",
            "faint",
        ),
        Figure(macro="standings", value=standings_table(division, standings.rows, drawn=drawn)),
    ]
    if earlier:
        figure = Figure(macro="standings", value=standings_table(division, earlier, drawn=drawn))
        blocks.append(Section("Versions that play no more", [figure], id="earlier"))
    return {"blocks": blocks, "heading": f"Standings of {division.title}"}


def rounds_page(division: DivisionView) -> dict[str, Any]:
    """Return the values of the list of a division's rounds."""
    root = "../../"
    # Whoever copies the site by its links needs these files to verify it; no other page has them.
    files = {"plan": PLAN, "event": "event.json", "ledger": "ledger.jsonl", "text": "report.md"}
    columns = [
        Column("round", "name"), Column("chosen", "word"), Column("tables"), Column("boards"),
        Column("games"), Column("fouls"), *(Column(head, "word") for head in files),
    ]  # fmt: skip
    rows: list[list[str | Cell]] = [
        [
            Cell(f"{one.plan.number}", href=f"{root}{round_address(one)}index.html"),
            one.plan.time[:16].replace("T", " "),
            f"{len(one.plan.tables)}",
            f"{one.plan.boards}",
            Cell(
                f"{len(one.results)}{' (closed early)' if one.closed else ''}",
                href=f"{root}{round_address(one)}{CLOSED}" if one.closed else "",
            ),
            f"{sum(len(result.fouls) for result in one.results)}",
            *(Cell(file, href=f"{root}{round_address(one)}{file}") for file in files.values()),
        ]
        for one in reversed(division.rounds)
    ]
    about = (
        "A round is an event of its own: report, replays, game logs, commitments to its deals and, "
        "since it is over, their seeds. `round.json` tells how its tables were chosen. "
        "`boneyard verify FOLDER` checks a copy of its folder, or of the whole site."
    )
    blocks: list[Block] = [Paragraph(about), table("Rounds", columns, rows)]
    return {"blocks": blocks, "heading": f"Rounds of {division.title}"}


def rules_page(division: DivisionView) -> dict[str, Any]:
    """Return the values of the page of a division's rules."""
    settings = division.data.settings
    seats = count_in_digits(division.data.seats, "seat")
    blocks: list[Block] = [
        Paragraph(
            f"{division.data.rules.name}, {seats} at a table. Each table of a round plays "
            f"{count_in_digits(settings.boards_a_table, 'board')}, each in every rotation of the "
            "seats, with tiles that no bot has seen before."
        ),
        Figure(macro="rules", value=explain_ruleset(division.data.rules)),
    ]
    return {"blocks": blocks, "heading": f"Rules of {division.title}"}


def enter_page(view: LeagueView) -> dict[str, Any]:
    """Return the values of the page for authors."""
    settings = view.data.settings
    divisions = [
        (f"rules/{one.name}.html", one.name, f": {one.title}, {one.data.seats} seats")
        for one in view.divisions
    ]
    blocks: list[Block] = [
        Paragraph(
            "A bot is a folder `bots/NAME` in the league's folder, with the file `bot.toml` and "
            "the files that it needs. NAME has up to 40 letters, digits, `-` and `_`. Push a "
            "change, and the league notices it: it checks the files, and the new version plays "
            "from the next round on. The versions before keep their ratings."
        ),
        Section("bot.toml", [
            Code(BOT_TOML),
            Paragraph("Only `run` is needed. `withdrawn = true`, or removing the folder, withdraws "
                      "the bot; pushed again, it is a new version."),
        ]),
        Section("Try it at home", [
            Code(COMMANDS),
            Paragraph("A bot reads a line of JSON and writes a line: `boneyard help authors`."),
        ]),
        Section("Divisions", [Figure(macro="links", value=divisions)]),
        Section("What is checked", [bullets(_checked(settings))]),
        Section("What it may use", [bullets(_limits(settings))]),
    ]  # fmt: skip
    return {"blocks": blocks, "heading": "How to enter"}


def _checked(settings: LeagueSettings) -> list[str]:
    quota = settings.quota
    return [
        f"Size: at most {quota.files:,} files and {quota.files_mib} MiB, no links that leave the "
        "folder.",
        f"Build: `build` runs in the sandbox, without a network, for at most {quota.build_s} s.",
        "Protocol: every step of `boneyard check`. The page of the bot shows the steps with their "
        "words, also of a push that was refused; the version before plays on.",
        f"Number: {quota.pushes_a_day} changes of a bot in 24 hours.",
        f"Conduct: a bot that fouls in {quota.foul_sittings} sittings in a row is benched until it "
        "changes.",
    ]


def _limits(settings: LeagueSettings) -> list[str]:
    clock, limits = settings.clock, settings.limits
    return [
        f"Time: {clock.start_ms / 1000:g} s to start, {clock.move_ms} ms for each question, and "
        f"{clock.bank_ms} ms in reserve for each game.",
        f"Memory: {limits.memory_mib} MiB; processes: {limits.processes}.",
        "Network and environment variables: none, unless the organiser gives them to a bot.",
        "Files: its own folder to read, and a scratch folder that is empty at each start.",
    ]


def weeks_page(weeks: Sequence[Week], reports: Collection[str]) -> dict[str, Any]:
    """Return the values of the archive's first page."""
    links = [
        (f"{one.week}.html", one.week, f": {count_in_digits(one.games, 'game')}, {_first(one)}")
        for one in reversed(weeks)
    ]
    known = {one.week for one in weeks}
    links += [(f"{week}.html", week, ": report") for week in sorted(reports) if week not in known]
    blocks: list[Block] = [
        Paragraph("Standings as they were at the end of each week, and the reports.")
        if links
        else Paragraph("The first week is not over yet."),
        Figure(macro="links", value=links),
    ]
    return {"blocks": blocks, "heading": "Archive"}


def _first(week: Week) -> str:
    firsts = [f"{rows[0].version} first in {name}" for name, rows in week.divisions.items() if rows]
    return ", ".join(firsts)


def week_page(
    week: Week | None,
    name: str,
    titles: Mapping[str, str],
    moved: Mapping[str, Mapping[str, int]],
    report: Any,
) -> dict[str, Any]:
    """Return the values of the page of a week; `report` is its report as HTML, or empty."""
    blocks: list[Block] = [
        Section(
            f"Standings of {titles.get(division, division)}",
            [_week_table(rows, moved.get(division, {}))],
        )
        for division, rows in (week.divisions if week else {}).items()
        if rows
    ]
    if report:
        blocks.append(Section("Report", [Figure(macro="html", value=report)]))
    return {"blocks": blocks, "heading": f"Week {name}"}


def _week_table(rows: Sequence[Any], moved: Mapping[str, int]) -> Block:
    columns = [
        Column("#", "rank"), Column("bot", "name"), Column("Elo", detail="±"),
        Column("ranks won"), Column("games"),
    ]  # fmt: skip
    lines = [
        (
            Cell(f"{row.rank or '–'}"),
            Cell(row.version, href=f"../{bot_address(row.bot)}"),
            Cell(*elo_text(row)),
            Cell(f"{moved[row.bot]:+d}" if moved.get(row.bot) else ""),
            Cell(f"{row.games}"),
        )
        for row in rows
    ]
    return table("Standings", columns, lines)
