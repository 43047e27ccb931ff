"""A reviewer that values options by a hash: as fast as a replay, the same in every process."""

from collections.abc import Iterator
from hashlib import sha256

from arena.analysis.timeline import Timeline
from arena.valuation.terms import Kind, ReviewedDecision, RoundPhase
from protocol.records import ChoiceRecord

PHASES: tuple[RoundPhase, ...] = ("lead", "early", "draws", "endgame")
KINDS: tuple[Kind, ...] = ("play", "draw", "pass")


def fake_review(timeline: Timeline, seat: int, *_: object) -> Iterator[ReviewedDecision]:
    """Yield decisions in the core's form; nothing in them is true."""
    for one in timeline.questions(seat):
        if len(one.question.options) < 2 or not isinstance(one.answer, ChoiceRecord):
            continue
        name = f"{timeline.logged.game.game} {seat} {one.number}".encode()
        leads = [byte / 8 for byte in sha256(name).digest()[: len(one.question.options)]]
        best = max(range(len(leads)), key=lambda at: leads[at])
        yield ReviewedDecision(
            number=one.number,
            round=one.round,
            phase=PHASES[one.number % 4],
            kind=KINDS[one.number % 3],
            choice=one.answer.choice,
            best=best,
            values=tuple(leads),
            errors=(0.5,) * len(leads),
            loss=leads[best] - leads[one.answer.choice],
            error=0.5,
            percent_loss=1.0,
            percent_gap=1.0,
            exact=False,
        )
