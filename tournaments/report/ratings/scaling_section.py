"""The section about bots that play at several clocks. Pure."""

from collections.abc import Iterator, Sequence

from arena.document.blocks import Block, Cell, Column, Figure, Paragraph, Section, table
from arena.rules.english import count_in_digits, join_words
from tournaments.plan.event import Event
from tournaments.rating.estimate import Estimate, elo_of
from tournaments.rating.tables import Pool
from tournaments.report.html import link_to_games
from tournaments.report.html.charts import scaling_chart
from tournaments.report.scaling import Scaling, scalings


def scaling_sections(event: Event, pools: Sequence[Pool]) -> list[Section]:
    """Return the section about bots at several clocks, if there are any."""
    blocks: list[Block] = []
    for pool in pools:
        if found := scalings(event, pool):
            names = [one.entrant for one in found]
            blocks.append(Figure(macro="scaling", value=(scaling_chart(found, pool), names)))
            blocks += [block for one in found for block in _told(one)]
    return [Section("Elo against time", blocks, id="scaling")] if blocks else []


def _told(scaling: Scaling) -> Iterator[Block]:
    yield Paragraph(doubling_text(scaling))
    columns = [Column("bot", "name"), Column("a question")]
    columns += [Column("Elo", detail="±"), Column("gain", detail="±"), Column("fouls")]
    rows = [
        (
            Cell(one.name, href=link_to_games(one.name)),
            one.time,
            elo_of(one).cell(),
            Estimate(one.gain, one.gain_half_width).cell(),
            Cell(f"{one.fouls}", href="#fouls" if one.fouls else ""),
        )
        for one in scaling.points
    ]
    yield table(f"Elo of {scaling.entrant} against time", columns, rows)


def doubling_text(scaling: Scaling) -> str:
    """Return in a sentence or two what more time is worth to a bot."""
    late = [
        f"{one.name} {count_in_digits(one.fouls, 'game')}" for one in scaling.points if one.fouls
    ]
    fouled = f" Lost by fouls: {join_words(late)}." if late else ""
    if scaling.doubling is None or scaling.doubling_half_width is None:
        told = f"The results do not say what more time is worth to {scaling.entrant}."
        return told + fouled
    first, *_, last = (one for one in scaling.points if not one.bound)
    worth = f"{Estimate(scaling.doubling, scaling.doubling_half_width).text()} Elo"
    sure = abs(scaling.doubling) > scaling.doubling_half_width
    return (
        f"From {first.time} to {last.time} a doubling of the time is "
        f"worth {worth} to {scaling.entrant} on average (95 %)"
        f"{'' if sure else ', so it may be worth nothing'}.{fouled}"
    )
