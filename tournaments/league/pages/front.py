"""The first page of a league: standings, what is new, the rules, and how to enter. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.document.blocks import Block, Cell, Code, Figure, Paragraph, Section, bullets
from arena.rules.english import count_in_digits
from arena.rules.explain import explain_ruleset
from tournaments.league.pages.view import (
    DivisionView,
    LeagueView,
    Ranks,
    game_values,
    round_address,
)
from tournaments.league.ratings.standings import StandingRow, elo_text
from tournaments.league.settings import LeagueSettings
from tournaments.report.html.forest import place_estimates

MOST_DRAWN = 100
"""Bots of a division up to which their intervals are drawn: a page stays below 100 kB."""
FORM = 8
"""Games of a form."""
GAMES, TABLES = 8, 12
"""The largest numbers of last games and of next tables."""
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


def front_part(division: DivisionView) -> dict[str, Any]:
    """Return the values of the part of the first page about a division."""
    tables = division.next.tables if division.next else ()
    last = division.rounds[-1] if division.rounds else None
    # Of each table one game.
    games = {frozenset(one.seats): one for one in (last.results if last else ())}
    return {
        "name": division.name,
        "title": division.title,
        "lead": division_lead(division),
        "alerts": [f"{one.sentence}." for one in division.table.regressions],
        "compared": count_in_digits(division.table.comparisons, "new version"),
        "table": ladder(division),
        "next": division.next,
        "tables": tables[:TABLES],
        "more": max(0, len(tables) - TABLES),
        "last": last,
        "games": [game_values(last, one) for one in [*games.values()][:GAMES]] if last else (),
        "last_round": f"{round_address(last)}index.html" if last else "",
    }


def division_lead(division: DivisionView) -> str:
    """Return a sentence or two about the state of a division."""
    rows = division.table.standings
    games = sum(len(one.results) for one in division.rounds)
    if not games or not rows:
        return "No round is over yet: ratings come with the first."
    best = next((one for one in rows if not one.is_house), rows[0])
    elo, half = elo_text(best)
    rating = f"{elo}{f' ± {half}' if half else ''} Elo"
    place = f", place {best.rank} of {len(rows)}" if best.rank else ""
    lead = f"Best entrant: **{best.version}**{place} ({rating})."
    lead = f"**{best.version}** leads with {rating}." if best.rank == 1 else lead
    last = division.rounds[-1]
    return (
        f"{lead} {count_in_digits(len(rows), 'bot')}, {games:,} games; last round: "
        f"{last.plan.number}, on {last.plan.time[:10]}."
    )


def ladder(division: DivisionView) -> dict[str, Any]:
    """Return the values of the table of present versions."""
    rows = division.table.standings
    drawn = len(rows) <= MOST_DRAWN and any(row.elo is not None for row in rows)
    forest = place_estimates(rows) if drawn else None
    intervals = forest.rows if forest else [None] * len(rows)
    before: Ranks = division.past[-1][1] if division.past else {}
    moved = {row.bot: before.get(row.bot, row.rank) - row.rank for row in rows if row.rank}
    return {
        "caption": f"Standings of {division.title}",
        "forest": forest,
        "moves": any(moved.values()),
        "lines": [
            {
                "row": row,
                "rank": f"{row.rank or '–'}",
                "open": "–".join(map(str, dict.fromkeys(row.ranks or ()))) * _is_open(row),
                "elo": Cell(*elo_text(row)),
                "interval": interval if row.games else None,
                "form": row.form[-FORM:],
                "moved": moved.get(row.bot, 0),
                "win": "" if row.win_share is None else f"{100 * row.win_share:.1f}",
                "mark": _mark(row),
            }
            for row, interval in zip(rows, intervals, strict=True)
        ],
    }


def _is_open(row: StandingRow) -> bool:
    return bool(row.ranks) and len({*(row.ranks or ())}) > 1


def _mark(row: StandingRow) -> str:
    if row.is_benched:
        return "benched"
    if row.is_house:
        return "house"
    return "" if row.games else "new"


def about_sections(view: LeagueView, weeks: Sequence[str]) -> Iterator[Section]:
    """Yield what does not change from day to day: weeks, rules, how to enter."""
    links = [(f"weeks/{week}.html", week, "") for week in reversed(weeks)]
    known: Block = Figure(macro="links", value=links)
    yield Section("Weeks", [known if links else Paragraph("No round is over yet.")], id="weeks")
    for one in view.divisions:
        seats, boards = one.data.seats, one.data.settings.boards_a_table
        about = (
            f"{one.data.rules.name}, {count_in_digits(seats, 'seat')} at a table. Each table of a "
            f"round plays {count_in_digits(boards, 'board')}, each in every rotation of the seats, "
            "with tiles that no bot has seen before."
        )
        rules: list[Block] = [
            Paragraph(about),
            Figure(macro="rules", value=explain_ruleset(one.data.rules)),
        ]
        yield Section(f"Rules of {one.title}", rules, id=f"rules-{one.name}", folded=True)
    yield Section("How to enter", [*_enter(view.data.settings)], id="enter", folded=True)


def _enter(settings: LeagueSettings) -> Iterator[Block]:
    clock, limits, quota = settings.clock, settings.limits, settings.quota
    yield Paragraph(
        "A bot is a folder `bots/NAME` in the league's folder, with the file `bot.toml` and the "
        "files that it needs. NAME has up to 40 letters, digits, `-` and `_`. Push a change, and "
        "the league notices it: it checks the files, and the new version plays from the next round "
        "on. The versions before keep their ratings."
    )
    yield Code(BOT_TOML)
    yield Paragraph(
        "Only `run` is needed. `withdrawn = true`, or removing the folder, withdraws the bot; "
        "pushed again, it is a new version. A bot reads a line of JSON and writes a line: "
        "`boneyard help authors`. Try it at home:"
    )
    yield Code(COMMANDS)
    names = ", ".join(f"`{one.name}`" for one in settings.divisions)
    yield bullets([
        f"Divisions: {names}.",
        f"Size: at most {quota.files:,} files and {quota.files_mib} MiB, no links that leave the "
        "folder.",
        f"Build: `build` runs in the sandbox, without a network, for at most {quota.build_s} s.",
        "Protocol: every step of `boneyard check`. The page of the bot shows the steps with their "
        "words, also of a push that was refused; the version before plays on.",
        f"Number: {quota.pushes_a_day} changes of a bot in 24 hours.",
        f"Conduct: a bot that fouls in {quota.foul_sittings} sittings in a row is benched until it "
        "changes.",
        f"Time: {clock.start_ms / 1000:g} s to start, {clock.move_ms} ms for each question, and "
        f"{clock.bank_ms} ms in reserve for each game.",
        f"Memory: {limits.memory_mib} MiB; processes: {limits.processes}.",
        "Network and environment variables: none, unless the organiser gives them to a bot.",
        "Files: its own folder to read, and a scratch folder that is empty at each start.",
    ])  # fmt: skip
