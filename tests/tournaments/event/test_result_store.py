"""Stored results are those that were put in, whatever they are, and take little memory."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from protocol.records import MAX_COUNT, Result, SeatFoul, UsageSum
from tournaments.event.book import ResultStore

NAMES = ("ada", "bob", "cyd", "d", "a.b", "")
counts, scores = st.integers(0, MAX_COUNT), st.integers(-MAX_COUNT, MAX_COUNT)


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Return the results that a referee writes, and forged ones that can be read."""
    seats = tuple(draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4)))
    board = draw(st.one_of(st.integers(0, 3), counts))
    name = f"{board}.{'.'.join(seats)}"
    return Result(
        game=draw(st.sampled_from([name, name, name, f"0{name}", "1.ada.bob", "", "²", "."])),
        board=board, seats=seats,
        scores=tuple(draw(st.lists(scores, max_size=5))),
        places=tuple(draw(st.lists(st.integers(1, 8), max_size=5))),
        rounds=draw(counts), why=draw(st.sampled_from(["target", "foul"])),
        fouls=draw(st.sampled_from([(), (SeatFoul(0, "late"),), (SeatFoul(1, "gone"),) * 2])),
        usage=draw(st.just((UsageSum(cents=1.0),))) if draw(st.booleans()) else UNSET,
    )  # fmt: skip


@given(entries=st.lists(results(), max_size=12))
def test_a_store_equals_a_dictionary_of_the_first_results(entries: list[Result]) -> None:
    expected: dict[str, Result] = {}
    store = ResultStore()
    for result in entries:
        store.add(result)
        expected.setdefault(result.game, result)
        assert store[result.game] == expected[result.game]
    assert list(store) == list(expected)
    assert list(store.values()) == list(store.first()) == list(expected.values())
    assert len(store) == len(expected)
    assert dict(store) == expected
    for game in ("1.ada.bob", "01.ada.bob", "2.ada.bob", "1.ada", "", "99999999999.ada.bob"):
        assert (game in store) == (game in expected)
        assert store.get(game) == expected.get(game)


@given(entries=st.lists(results(), max_size=6), data=st.data())
def test_arranged_results_equal_a_new_store(entries: list[Result], data: st.DataObject) -> None:
    store = ResultStore(entries)
    order = data.draw(st.permutations(range(len(store))))
    rows = order[: data.draw(st.integers(0, len(order)))]
    chosen, everything = [store.at(row) for row in rows], dict(store)
    copy = store.arranged(rows, None)
    assert [*copy.items()] == [(result.game, result) for result in chosen]
    assert [*copy.first()] == chosen
    assert dict(store) == everything
    assert all(store.at(store.row_of(game)) == result for game, result in everything.items())
    if len(rows) == len(order):
        assert [*store] == [*copy]


def test_arranged_names_are_the_stored_objects() -> None:
    store = ResultStore([BIG])
    (name,), (copy,) = store, store.arranged([0], None)
    assert copy is name


BIG = Result(
    game="1.ada.bob", board=1, seats=("ada", "bob"), scores=(1, 2), places=(2, 1), rounds=1,
    why="target",
)  # fmt: skip
