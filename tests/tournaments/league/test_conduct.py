"""Tests of `tournaments.league.state`: benches for fouls."""

import pytest
from msgspec.structs import replace

from protocol.records import Result, SeatFoul
from tests.support.made_up import admitted, game, league_of, played_round
from tournaments.league.ratings import rate_division
from tournaments.league.state import LeagueData, PlayedRound, benched_versions, held_versions

PAIR = ("greedy", "mine")


def round_of(number: int, letters: str, foul: str = "late", *, over: bool = True) -> PlayedRound:
    """Return a round in which mine plays a sitting for each letter, and fouls where it is F."""
    results: list[Result] = []
    for place, letter in enumerate(letters):
        seats = PAIR if place % 2 == 0 else PAIR[::-1]
        fouls = (SeatFoul(seats.index("mine"), foul),) if letter == "F" else ()  # type: ignore[arg-type]
        results += [game(1, seats, (1, 0), fouls), game(2, seats, (0, 1))]
    return played_round(number, "2026-11-03", {PAIR: results}, over=over)


def league(*rounds: PlayedRound) -> LeagueData:
    return league_of(rounds, [admitted("greedy"), admitted("mine")])


@pytest.mark.parametrize(
    ("rounds", "is_benched"),
    [
        (["FF", "F."], True),
        (["F.", "FF"], False),
        (["FF", "..", "FF"], False),
        ([".F", "FF", ".."], True),
    ],
)
def test_three_sittings_in_a_row_bench_a_version(rounds: list[str], is_benched: bool) -> None:
    """Sittings are counted over rounds; a clean one in between starts anew, and one later does not
    bring a benched version back."""
    data = [round_of(number, letters) for number, letters in enumerate(rounds, 1)]
    assert ("mine" in benched_versions(data, 3, ())) == is_benched


def test_only_own_fouls_of_finished_rounds_count() -> None:
    """Forfeits for earlier fouls do not count, nor does a round that is still played."""
    forfeits = [round_of(number, "FF", "forfeit") for number in (1, 2)]
    assert benched_versions(forfeits, 3, ()) == {}
    assert benched_versions([round_of(1, "FF"), round_of(2, "FF", over=False)], 3, ()) == {}


def test_late_beside_a_late_house_bot_is_no_foul() -> None:
    """A machine that is too slow for the house bots excuses late answers, and nothing else."""
    slow = game(3, PAIR, (0, 1), (SeatFoul(0, "late"),))
    for foul, is_benched in (("late", False), ("illegal", True)):
        rounds = [round_of(number, "FF", foul) for number in (1, 2)]
        late = [replace(round, results=[*round.results, slow]) for round in rounds]
        assert ("mine" in benched_versions(late, 3, ("greedy",))) == is_benched


def test_bench_names_what_happened() -> None:
    """One class of foul is named in an author's words, several are fouls."""
    for first, last, words in (("gone", "gone", "crashed"), ("gone", "illegal", "fouled")):
        rounds = [round_of(1, "FF", first), round_of(2, "F", last)]
        assert benched_versions(rounds, 3, ())["mine"].why.startswith(f"{words} in 3 sittings")


def test_bench_is_held_and_costs_the_rank() -> None:
    """A benched version is held out with the reason, and a rating kept by fouls has no rank."""
    data = league(round_of(1, "FF"), round_of(2, "FF"))
    assert held_versions(data, data.divisions["draw"]) == {
        "mine": "was late in 3 sittings in a row, the last in round 2: benched until it changes"
    }
    rows = rate_division(data.divisions["draw"], data).standings
    assert [(row.name, row.rank, row.bench and row.bench.time) for row in rows] == [
        ("greedy", None, None),
        ("mine", None, "2026-11-03T12:00:00Z"),
    ]
    successor = league_of(data.divisions["draw"].rounds, [*data.register, admitted("mine@2")])
    assert held_versions(successor, successor.divisions["draw"]) == {}
