"""The report as a document: its sections and their addresses."""

from collections.abc import Iterator

from arena.document.blocks import DocumentBlock, Media, Section, select, to_markdown
from arena.sandbox.command import Command
from tests.support.made_up import made_up, measured, report_data
from tests.support.planned_events import event
from tournaments.formats.base import Entrant
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
