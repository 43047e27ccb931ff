"""The Swiss: byes, rematches, standings and winners."""

from collections import Counter
from itertools import combinations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from arena.document.blocks import Document, Table, to_markdown
from tests.support.fast_run import examples
from tests.support.planned_events import event, next_stage, played_through, result
from tournaments.formats import swiss
from tournaments.formats.swiss import Swiss
from tournaments.plan.schedule import sittings


@given(st.integers(2, 30), st.integers(2, 4), st.integers(1, 6), st.integers(0, 999))
@examples(40)
def test_a_swiss_lets_nobody_rest_twice_and_meets_again_only_when_it_must(
    entrants: int, seats: int, rounds: int, luck: int
) -> None:
    cup = event(max(entrants, seats), seats, 1, form=Swiss(rounds))
    results = played_through(cup, Random(luck))
    byes, met = Counter[int](), Counter[frozenset[int]]()
    for number in range(1, rounds + 1):
        tables = {
            frozenset(plan.seats)
            for plan in sittings(cup, results)
            if swiss.round_of(cup, plan.games[0].board) == number
        }
        present = [entrant for table in tables for entrant in table]
        assert len(present) == len(set(present)) == len(cup.entrants) // seats * seats
        byes.update(set(range(len(cup.entrants))) - set(present))
        met.update(frozenset(pair) for table in tables for pair in combinations(table, 2))
    counts = [byes[entrant] for entrant in range(len(cup.entrants))]
    assert max(counts) - min(counts) <= 1
    if seats == 2 and rounds <= entrants // 2:
        assert max(met.values()) == 1


def test_the_swiss_table_equals_one_by_hand() -> None:
    """Three bots, two rounds: a bye counts as a win, a tie as a half; Buchholz breaks the tie."""
    cup = event(3, 2, 1, form=Swiss(2))
    first = next_stage(cup, [])
    assert {plan.seats for plan in first} == {(0, 1), (1, 0)}
    results = [result(cup, first[0], 0, (1, 2)), result(cup, first[1], 0, (1, 2))]
    table = swiss.standings(cup, results)
    lines = [(line.unit, line.points, line.buchholz, line.halves) for line in table]
    # Each won its game in seat 0, and bot2 had the bye.
    assert lines == [((2,), 2, 0, 0), ((0,), 1, 1, 2), ((1,), 1, 1, 2)]
    second = next_stage(cup, results)
    assert {frozenset(plan.seats) for plan in second} == {frozenset((0, 2))}
    assert {plan.games[0].board for plan in second} == {2}


def test_the_report_has_the_table_and_counts_rematches() -> None:
    cup = event(3, 2, 1, form=Swiss(4))
    results = list(played_through(cup, Random(0), upset=0).values())
    (section,) = cup.format.report(cup, results, lambda *names: "/".join(names))
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    head, rows = table.plain()
    assert head == ("#", "bot", "points", "Buchholz", "game points", "1", "2", "3", "4")
    assert [row[1] for row in rows] == ["bot0", "bot1", "bot2"]
    assert sum("bye" in cell for row in rows for cell in row) == 4
    met = [cell for row in table.groups[0].rows for cell in row[5:]]
    assert {cell.href for cell in met if "bye" in cell.text} == {""}
    assert all(len(cell.href.split("/")) == 2 for cell in met if "bye" not in cell.text)
    rematch = "1 rematch, each in a round that could not avoid it."
    assert rematch in to_markdown(Document("cup", [section]))
