"""Events whose results are made up, and the report page of them: a page costs no games."""

import random
from pathlib import Path

from protocol.records import Result, SeatFoul
from tournaments.event.facts import FoulExample, LogFacts, Machine, SandboxSummary, Times, TimeStats
from tournaments.plan.event import Event
from tournaments.plan.schedule import count_all_games, stages
from tournaments.rating.ratings import fit_both
from tournaments.report.document import ReportData, lead_sentence, report_document
from tournaments.report.event_text import uneven
from tournaments.report.page import SharedText, report_page

NOTHING = LogFacts(
    times=Times(entrants=(), worst_lag_ms=0.0),
    evidence=(),
    sandboxes=(SandboxSummary("off", ("`boneyard doctor` says more.",), 3, 4),),
    rounds={},
    machines=(),
)
RATHER = 25
"""Points by which each entrant is better than the next."""


def made_up(event: Event, foul_every: int = 0, seed: int = 1) -> list[Result]:
    """Results of the whole event, the first entrants being the better ones."""
    rng, results = random.Random(seed), dict[str, Result]()
    for stage in stages(event, results):
        for plan in stage:
            for game in plan.games:
                fouled = foul_every and len(results) % foul_every == 0
                made = _result(event, plan.seats, game.name, game.board, rng, fouled)
                results[game.name] = made
    return [*results.values()]


def _result(
    event: Event, who: tuple[int, ...], name: str, board: int, rng: random.Random, fouled: object
) -> Result:
    scores = [round(100 - RATHER * one + rng.gauss(0, 60)) for one in who]
    fouls = (SeatFoul(0, "late"),) if fouled else ()
    if fouls:
        scores[0] = -1000
    if event.rules.deal.partners:
        scores = [scores[seat] + scores[(seat + 2) % 4] for seat in range(4)]
    ranked = sorted(scores, reverse=True)
    return Result(
        game=name, board=board, seats=tuple(event.entrants[one].name for one in who),
        scores=tuple(scores), places=tuple(1 + ranked.index(score) for score in scores),
        rounds=3, why="foul" if fouls else "target", fouls=fouls,
    )  # fmt: skip


def evidence(result: Result, seat: int = 0, **said: str) -> FoulExample:
    """Return a possible record of a foul."""
    words = {"detail": "A sentence.", "line": "", "stderr": "", **said}
    return FoulExample(
        board=result.board, game=result.game, seat=seat, entrant=result.seats[seat], foul="late",
        ms=12.5, **words,
    )  # fmt: skip


def measured(event: Event, *told: FoulExample) -> LogFacts:
    """Return possible log data of an event."""
    used = tuple(
        TimeStats(
            name=one.name,
            games=2,
            questions=30,
            mean_ms=1.25,
            worst_ms=20.5,
            given_back_ms=7.0,
            cpu_ms=None,
        )
        for one in event.entrants
    )
    return LogFacts(
        times=Times(entrants=used, worst_lag_ms=7.0),
        evidence=told,
        sandboxes=NOTHING.sandboxes,
        rounds={},
        machines=((Machine("Linux 6, a processor, 2 cores, CPython 3.11", "0.1"), 3),),
    )


def told(event: Event, results: list[Result], known: LogFacts = NOTHING) -> ReportData:
    by_game = {result.game: result for result in results}
    return ReportData(
        event=event,
        results=results,
        listing=results,
        planned=count_all_games(event, by_game),
        commitments="0123456789abcdef" * 4,
        notes=list(filter(None, [uneven(event, results, count_all_games(event, by_game))])),
        ratings=fit_both(results, partners=event.rules.deal.partners),
        measured=known,
    )


def written(folder: Path, event: Event, results: list[Result], known: LogFacts = NOTHING) -> Path:
    path = folder / "report.html"
    path.write_text(html(event, results, known))
    return path


def html(event: Event, results: list[Result], known: LogFacts = NOTHING) -> str:
    data = told(event, results, known)
    return report_page(
        report_document(data), SharedText(lead_sentence(data)), [one.name for one in event.entrants]
    )
