"""The sentences of an event beside its tables: its winner, and the rotations that are uneven."""

import pytest
from msgspec.structs import replace

from protocol.records import FoulClass, Result, SeatFoul
from tests.support.made_up import book_of, made_up
from tests.support.planned_events import event
from tournaments.formats.tables import RoundRobin
from tournaments.formats.versus import Versus
from tournaments.plan.event import Event, Format
from tournaments.report.event_text import foul_warning, main_result, uneven

IN_ORDER = "bot0, bot1 and bot2, in this order,"
GO_ON = ": continue the run before you rely on these results."
PLANNED_GAMES = 10_000
"""Games of a plan that is not over."""


def first_of(plan: Event, *games: int) -> list[Result]:
    """Return so many games of each rotation of the first pairing."""
    by_seats: dict[tuple[str, ...], list[Result]] = {}
    for result in made_up(plan):
        by_seats.setdefault(result.seats, []).append(result)
    rotations = zip(games, by_seats.values(), strict=False)
    return [result for count, results in rotations for result in results[:count]]


@pytest.mark.parametrize(
    ("seats", "games", "sentence"),
    [
        (2, (25,), "25 games of bot0 and bot1 were played in one rotation only"),
        (2, (0, 1), "1 game of bot0 and bot1 was played in one rotation only"),
        (2, (20, 15), "bot0 and bot1 played 20 and 15 games in their 2 rotations"),
        (3, (9, 9, 2), f"{IN_ORDER} played 9, 9 and 2 games in their 3 rotations"),
        (3, (9, 0, 9), f"{IN_ORDER} played 9, 9 and 0 games in their 3 rotations"),
    ],
)
def test_uneven_rotations_are_reported(seats: int, games: tuple[int, ...], sentence: str) -> None:
    plan = event(seats, seats, boards=80)
    assert uneven(book_of(plan, first_of(plan, *games))) == sentence + GO_ON


@pytest.mark.parametrize(
    ("boards", "defeats", "sentence"),
    [
        (2, 0, "Undecided between bot0 and bot1 (bot0 won 4 of 4 games, 95 %)."),
        (3, 0, "**bot0** is better than bot1 (bot0 won 6 of 6 games, 95 %)."),
        (40, 1, "**bot0** is better than bot1 (40 boards, 95 %)."),
    ],
)
def test_the_result_of_a_sweep_states_its_games(boards: int, defeats: int, sentence: str) -> None:
    plan = event(2, boards=boards)
    results = []
    for index, result in enumerate(made_up(plan)):
        loser = "bot0" if index < defeats else "bot1"
        places = tuple(1 + (name == loser) for name in result.seats)
        results.append(replace(result, places=places))
    assert main_result(book_of(plan, results)) == sentence


def lead(plan: Event, results: list[Result]) -> str:
    book = book_of(plan, results)
    book.planned = PLANNED_GAMES
    return main_result(book)


def test_the_result_names_bots_with_which_no_games_compare_it() -> None:
    plan = event(4, boards=20)
    pairs = ({"bot0", "bot1"}, {"bot2", "bot3"})
    results = [result for result in made_up(plan) if {*result.seats} in pairs]
    sentence = lead(plan, results)
    assert "bot0 and bot1" in sentence or "bot2 and bot3" in sentence
    others = "bot2 and bot3" if "bot0 and bot1" in sentence.partition("(")[0] else "bot0 and bot1"
    assert sentence.endswith(f" {others} met none of these bots.")
    assert "met none" not in lead(plan, made_up(plan))


def test_bots_that_are_surely_weaker_than_the_level_ones_are_named() -> None:
    plan = event(4, boards=40)
    results = []
    for result in made_up(plan):
        names = sorted(result.seats)
        # bot0 and bot1 win as often as each other, and all other games.
        best = names[result.board % 2] if names == ["bot0", "bot1"] else names[0]
        results.append(replace(result, places=tuple(1 + (name != best) for name in result.seats)))
    assert lead(plan, results).endswith(
        "bot0 and bot1 cannot be told apart yet (95 % for each pair); bot2 and bot3 are weaker."
    )


def add_fouls(plan: Event, name: str, *classes: FoulClass) -> list[Result]:
    """Return the plan's games, of which a bot lost the first by fouls of these classes."""
    results, waiting = [], list(classes)
    for result in made_up(plan):
        fouls = (SeatFoul(result.seats.index(name), waiting.pop(0)),) if waiting else ()
        results.append(replace(result, fouls=fouls, why="foul") if fouls else result)
    return results


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (
            ("late",) * 5,
            "5 of its 40 games by lateness (it has 1000 ms and 5000 ms in the bank): the clock "
            "decided, not play.",
        ),
        (("gone",) * 4, "4 of its 40 games by crashes: fouls decided, not play."),
        (("memory",) * 4, "4 of its 40 games by fouls (`memory`): fouls decided, not play."),
        (
            ("late", "late", "gone", "forfeit"),
            "4 of its 40 games by fouls (2 `late`, 1 `gone` and 1 `forfeit`): fouls decided",
        ),
    ],
)
@pytest.mark.parametrize("form", [RoundRobin(), Versus()])
def test_verdict_says_first_that_fouls_decided(
    form: Format, classes: tuple[FoulClass, ...], words: str
) -> None:
    plan = event(2, boards=20, form=form)
    assert lead(plan, add_fouls(plan, "bot1", *classes)).startswith(f"**bot1** lost {words}")


def test_few_fouls_do_not_decide() -> None:
    plan = event(2, boards=20)
    assert not foul_warning(book_of(plan, add_fouls(plan, "bot1", "late", "late", "late")))


def test_worst_fouler_comes_first_and_the_last_ones_are_counted() -> None:
    plan = event(5, boards=1)
    results = [
        replace(result, fouls=(SeatFoul(0, "late"),), why="foul")
        for result in made_up(plan)
        if result.seats[1] != "bot4"
    ]
    sentences = foul_warning(book_of(plan, results))
    assert sentences.startswith("**bot4** lost 4 of its 4 games")
    assert sentences.endswith("So it was for 2 other bots.")
