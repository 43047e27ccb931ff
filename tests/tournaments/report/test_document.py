"""The report as a document: its sections, their addresses, and the list of its games."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.document.blocks import DocumentBlock, Media, Section, select, to_markdown
from arena.sandbox.command import Command
from protocol.records import Result
from tests.support.made_up import made_up, measured, report_data
from tests.support.planned_events import event
from tournaments.event.facts import RoundScores
from tournaments.formats.base import Entrant
from tournaments.report import page
from tournaments.report.document import command_text, report_document


def sections(blocks: list[DocumentBlock], medium: Media) -> Iterator[Section]:
    """Yield every section that a medium shows with its title, in order."""
    for block in select(blocks, medium):
        if isinstance(block, Section):
            if medium in block.titled:
                yield block
            yield from sections([*block.blocks], medium)


def test_pools_share_no_address_and_no_title() -> None:
    plan = event(4, boards=4)
    pairs = ({"bot0", "bot1"}, {"bot2", "bot3"})
    results = [result for result in made_up(plan) if {*result.seats} in pairs]
    document = report_document(report_data(plan, results, measured(plan)))
    document_sections = list(sections([*document.blocks], Media.HTML))
    titles = [f"{section.title}{section.scope}" for section in document_sections]
    standings = [title for title in titles if title.startswith("Standings")]
    assert standings == ["Standings in pool 1", "Standings in pool 2"]
    for names in (titles, [section.id for section in document_sections if section.id]):
        assert len(set(names)) == len(names)
    assert "## Crosstable in pool 2" in to_markdown(document).splitlines()


def test_a_command_is_shown_without_folders_and_with_whole_addresses() -> None:
    words = ("/home/ann/bin/python3", "/home/ann/chat.py", "--url", "http://127.0.0.1:11434/v1")
    entrant = Entrant("chat", Command(words, "/home/ann"), "0" * 64)
    assert command_text(entrant) == "python3 chat.py --url http://127.0.0.1:11434/v1"


@given(st.integers(0, 8), st.integers(0, 3), st.booleans())
def test_the_rounds_of_every_listed_game_are_read(rounds: int, board: int, is_foul: bool) -> None:
    """However short its numbers are."""
    plan = event(2)
    first, second = (bot.name for bot in plan.entrants)
    course = (RoundScores("blocked", (0, 0)),) * rounds
    results = [
        Result(
            game=f"{n}", board=board, seats=(first, second), scores=(0, 0), places=(1, 1),
            rounds=rounds + is_foul, why="foul" if is_foul else "target",
        )
        for n in range(200)
    ]  # fmt: skip
    courses = dict.fromkeys((result.game for result in results), course)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "BYTES", 2000)
        listed = page.build_game_list(plan, results, courses).games
        assert len(listed) <= len([*page.listable(results)]) < len(results)
