"""Results in columns are those that were put in, whatever they are, and take little memory."""

import tracemalloc
from collections.abc import Iterator
from itertools import islice, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from protocol.records import Result, SeatFoul, UsageSum
from tournaments.storage.result_store import ResultStore

NAMES = ("ada", "bob", "cyd", "d")
numbers = st.one_of(st.integers(-3, 200), st.integers(-(2**63), 2**64 - 1))


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Return the results that a referee writes, and forged ones."""
    seats = draw(st.lists(st.sampled_from([*NAMES, "a.b", ""]), max_size=4))
    count = st.just(len(seats)) if draw(st.booleans()) else st.integers(0, 5)
    some = st.lists(numbers, min_size=draw(count), max_size=5)
    board = draw(numbers)
    own = f"{board}.{'.'.join(seats)}"
    game = draw(st.sampled_from([own, own, own, f"0{own}", "1.ada.bob", "", "²", "."]))
    fouls = draw(st.sampled_from([(), (SeatFoul(0, "late"),), (SeatFoul(1, "gone"),) * 2]))
    return Result(
        game=game, board=board, seats=tuple(seats), scores=tuple(draw(some)),
        places=tuple(draw(some)), rounds=abs(draw(numbers)),
        why=draw(st.sampled_from(["target", "foul"])), fouls=fouls,
        usage=draw(st.just((UsageSum(cents=1.0),))) if draw(st.booleans()) else UNSET,
    )  # fmt: skip


@given(told=st.lists(results(), max_size=12))
def test_columns_hold_what_a_dictionary_would(told: list[Result]) -> None:
    known: dict[str, Result] = {}
    columns = ResultStore()
    for result in told:
        columns.add(result)
        known.setdefault(result.game, result)
        assert columns[result.game] == known[result.game]
    assert list(columns) == list(known)
    assert list(columns.values()) == list(columns.first()) == list(known.values())
    assert len(columns) == len(known)
    assert dict(columns) == known
    for game in ("1.ada.bob", "01.ada.bob", "2.ada.bob", "1.ada", "", "99999999999.ada.bob"):
        assert (game in columns) == (game in known)
        assert columns.get(game) == known.get(game)


def regular(count: int) -> Iterator[Result]:
    """Games of four entrants, board by board."""
    one = Result(
        game="", board=0, seats=(), scores=(100, -7), places=(1, 2), rounds=3, why="target"
    )
    games = (
        replace(one, game=f"{board}.{a}.{b}", board=board, seats=(a, b))
        for board in range(1, count)
        for a, b in permutations(NAMES, 2)
    )
    return islice(games, count)


# Slow: a figure of size.
@pytest.mark.slow
def test_a_result_takes_little_memory() -> None:
    tracemalloc.start()
    try:
        columns = ResultStore(regular(20_000))
        assert tracemalloc.get_traced_memory()[0] / len(columns) < 80
    finally:
        tracemalloc.stop()


def test_the_first_results_are_a_sequence_of_their_own() -> None:
    told = list(regular(30))
    columns = ResultStore(told)
    few = columns.first(7)
    assert list(few) == told[:7]
    assert list(few[2:5]) == told[2:5]
    assert few[-1] == told[6]
    assert list(columns.beginning(4).values()) == told[:4]
    assert columns.beginning(30) is columns
    seen = iter(columns.values())
    assert next(seen) == told[0]
    later = list(regular(31))[30]
    columns.add(later)
    assert len(few) == 7
    assert columns[later.game] == later
    assert "1.ada.bob" in columns
    assert "01.ada.bob" not in columns
    with pytest.raises(KeyError):
        columns["no.such.game"]
