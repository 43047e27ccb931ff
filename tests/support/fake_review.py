"""A reviewer that values options by a hash: as fast as a replay, the same in every process."""

from collections.abc import Iterator
from hashlib import sha256

from arena.analysis.decisions import decisions
from arena.logs.gamelog import LoggedGame
from arena.valuation.decision_loss import Kind, OptionWorth, Phase, ReviewedDecision
from protocol.records import ChoiceRecord

PHASES: tuple[Phase, ...] = ("lead", "early", "draws", "endgame")
KINDS: tuple[Kind, ...] = ("play", "draw", "pass")


def fake_review(
    logged: LoggedGame, seat: int, worlds: int = 0, by: object = None
) -> Iterator[ReviewedDecision]:
    """Yield decisions in the core's form; nothing in them is true."""
    del worlds, by
    for one in decisions(logged, seat):
        if len(one.question.options) < 2 or not isinstance(one.record, ChoiceRecord):
            continue
        name = f"{logged.game.game} {seat} {one.number}".encode()
        leads = [byte / 16 for byte in sha256(name).digest()[: len(one.question.options)]]
        best = max(range(len(leads)), key=lambda at: leads[at])
        yield ReviewedDecision(
            number=one.number,
            id=one.record.id,
            record=0,
            round=one.round,
            phase=PHASES[one.number % 4],
            kind=KINDS[one.number % 3],
            choice=one.record.choice,
            best=best,
            options=tuple(OptionWorth(lead, 0.5) for lead in leads),
            loss=leads[best] - leads[one.record.choice],
            error=0.5,
            exact=False,
        )
