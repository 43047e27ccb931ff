"""The report as a document: its sections in each medium, its addresses, its first sentence."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from arena.document.blocks import Block, Media, Section, Table, select
from tests.support.made_up_events import evidence, made_up, measured, told
from tests.support.planned_events import event, teams
from tournaments.plan.event import Event
from tournaments.report.document import ReportData, report_document

PARTNERS = replace(teams(boards=6), teams=())
RATED = ["Standings", "Crosstable", "Who is better"]
PLAYED = ["How it was played", "Deals", "Bots", "Files for other programs"]
"""Sections that every report has."""


def sections(blocks: list[Block], medium: Media) -> Iterator[Section]:
    """Yield every section that a medium shows with its title, in order."""
    for block in select(blocks, medium):
        if isinstance(block, Section):
            if medium in block.titled:
                yield block
            yield from sections([*block.blocks], medium)


def built(plan: Event, foul_every: int = 0) -> ReportData:
    results = made_up(plan, foul_every=foul_every)
    fouls = [evidence(one) for one in results if one.fouls]
    return told(plan, results, measured(plan, *fouls))


@pytest.mark.parametrize(
    ("plan", "medium", "titles"),
    [
        (event(3, boards=2), Media.MARKDOWN, [*RATED, "Fouls", *PLAYED]),
        (event(3, boards=2), Media.TERMINAL, []),
        (PARTNERS, Media.MARKDOWN, [*RATED, "Partners", "Fouls", *PLAYED]),
        (
            PARTNERS,
            Media.HTML,
            [
                *("Standings", "Pairings", "Partners", "Bots"),
                *("Fouls", "Evidence", "Games", "Time", *PLAYED),
            ],
        ),
    ],
)
def test_each_medium_shows_its_sections(plan: Event, medium: Media, titles: list[str]) -> None:
    document = report_document(built(plan, foul_every=5))
    assert [one.title for one in sections([*document.blocks], medium)] == titles


def tables(blocks: list[Block]) -> Iterator[Table]:
    for block in blocks:
        if isinstance(block, Section):
            yield from tables([*block.blocks])
        elif isinstance(block, Table):
            yield block


def test_pools_share_no_address_and_no_title() -> None:
    plan = event(4, boards=4)
    results = [one for one in made_up(plan) if {*one.seats} in ({"bot0", "bot1"}, {"bot2", "bot3"})]
    document = report_document(told(plan, results, measured(plan)))
    found = list(sections([*document.blocks], Media.HTML))
    titles = [f"{one.title}{one.scope}" for one in found]
    assert titles[:4:3] == ["Standings of pool 1", "Standings of pool 2"]
    for names in (titles, [one.id for one in found if one.id]):
        assert len(set(names)) == len(names)
