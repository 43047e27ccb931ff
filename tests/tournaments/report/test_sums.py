"""Sums of a review: their arithmetic, their intervals, and their sentences."""

from math import sqrt
from random import Random

import pytest

from arena.valuation.terms import ChoiceKind, RoundPhase
from tournaments.event.luck import DecisionLoss, ReviewTerms, SeatLosses
from tournaments.report.review import (
    dearest,
    loss_sentences,
    ratio,
    review_blocks,
    summarize_review,
)

TERMS = ReviewTerms("cup", 64)


def decision(
    number: int,
    loss: float,
    error: float = 0.1,
    phase: RoundPhase = "early",
    kind: ChoiceKind = "play",
) -> DecisionLoss:
    return DecisionLoss(
        number=number,
        id=number,
        at=number,
        round=1,
        phase=phase,
        kind=kind,
        choice=0,
        best=1 if loss > 0 else 0,
        values=(0.0, loss),
        errors=(error, error),
        loss=loss,
        error=error,
        percent_loss=loss,
        percent_gap=loss,
        exact=False,
        chosen="pass",
        better="draw",
    )


def seat(bot: str, board: int, rounds: int, *decisions: DecisionLoss) -> SeatLosses:
    return SeatLosses(f"{board}.{bot}.other", board, 0, bot, rounds, decisions)


def test_losses_are_counted_by_decision_and_by_round() -> None:
    summary = summarize_review(
        TERMS,
        [
            seat("mine", 1, 4, decision(1, 2.0), decision(2, 0.0, phase="endgame")),
            seat("mine", 2, 6, decision(1, 4.0, kind="draw"), decision(2, 0.0)),
        ],
    )
    (mine,) = summary.entrants
    assert (mine.games, mine.boards, mine.rounds, mine.total.decisions) == (2, 2, 10, 4)
    assert (mine.total.loss.mean, mine.total.round_loss.mean, mine.total.best) == (1.5, 0.6, 0.5)
    assert mine.phases["early"].loss.mean == 2.0
    for parts in (mine.phases, mine.kinds):
        assert sum(part.round_loss.mean for part in parts.values()) == pytest.approx(0.6)
        assert sum(part.decisions for part in parts.values()) == 4


def test_an_interval_takes_boards_as_independent() -> None:
    """Two boards of 2 and 6 points in 4 and 6 rounds: mean 0.8, misfits -1.2 and 1.2."""
    error = sqrt(2 * (1.2**2 + 1.2**2)) / 10
    assert ratio([2.0, 6.0], [4, 6]).half_width == pytest.approx(12.706 * error, rel=1e-4)
    assert ratio([2.0], [4]).half_width is None
    assert ratio([], []).mean == 0


def test_intervals_hold_the_truth_in_95_of_100_events() -> None:
    """Decisions of a board share a part of their loss; their number differs."""
    rng, hits, events = Random(1), 0, 2000
    for _ in range(events):
        counts = [rng.randint(5, 15) for _ in range(40)]
        sums = [
            sum(rng.expovariate(1) for _ in range(count)) + count * rng.gauss(0, 0.5)
            for count in counts
        ]
        estimate = ratio(sums, counts)
        assert estimate.half_width is not None
        hits += abs(estimate.mean - 1) <= estimate.half_width
    assert 0.93 <= hits / events <= 0.97


def test_a_seat_without_decisions_counts_its_rounds() -> None:
    summary = summarize_review(TERMS, [seat("mine", 1, 5), seat("mine", 2, 5, decision(1, 3.0))])
    assert summary.entrants[0].total.round_loss.mean == 0.3
    nothing = summarize_review(TERMS, [seat("mine", 1, 0)])
    assert nothing.entrants[0].total.decisions == 0
    assert [*review_blocks(nothing, 1)]
    assert [*review_blocks(summarize_review(TERMS, []), 1)]


def test_the_dearest_are_those_that_chance_does_not_explain() -> None:
    noisy = [decision(number, 9 + number / 100, error=8.0) for number in range(1, 11)]
    summary = summarize_review(TERMS, [seat("mine", 1, 9, *noisy, decision(11, 6.0, error=0.5))])
    assert 11 in {loss.number for loss in summary.entrants[0].dearest}
    assert [loss.number for loss in dearest(summary)] == [10, 9, 8, 7, 6, 5, 4, 3, 2, 11]


def test_a_decision_taken_alike_in_two_games_of_a_board_is_named_once() -> None:
    def game(name: str, board: int) -> SeatLosses:
        return SeatLosses(f"{board}.{name}", board, 0, "mine", 1, (decision(1, 5.0),))

    summary = summarize_review(TERMS, [game("mine.b", 1), game("mine.a", 1), game("mine.a", 2)])
    assert [loss.game for loss in summary.entrants[0].dearest] == ["1.mine.a", "2.mine.a"]
    assert summary.entrants[0].total.decisions == 3


@pytest.mark.parametrize(
    ("boards", "first"),
    [
        ((1,), "best lost 0.00 points a decision by its choices; "),
        ((1, 2), "best lost 0.00 ± 0.00 points a decision by its choices, the least; "),
    ],
)
def test_sentences_name_a_certain_least_loss_first(boards: tuple[int, ...], first: str) -> None:
    summary = summarize_review(
        TERMS,
        [
            losses
            for board in boards
            for losses in (
                seat("greedy", board, 2, decision(1, 8.0, phase="endgame"), decision(2, 0.0)),
                seat("mine", board, 2, decision(1, 6.0), decision(2, 2.0, phase="draws")),
                seat("best", board, 2, decision(1, 0.0)),
            )
        ],
    )
    assert " ".join(loss_sentences(summary)) == (
        f"{first}100 % of its answers have the highest value "
        "(not all of a perfect player's would: values err). "
        "greedy lost 4.00 (most of it in the endgame) "
        "and mine lost 4.00 (most of it before the first draw)."
    )
