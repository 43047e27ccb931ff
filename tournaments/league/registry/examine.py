"""The check of a new version, in words for its author: the steps of `boneyard check`."""

import time
from collections.abc import Iterator, Mapping, Sequence

from arena.conformance.cases.games import limit_to_one_round
from arena.conformance.model import Budget, EventGame, StepResult
from arena.conformance.report import Report, make_report, remarks, violation_parts
from arena.conformance.runner import run_steps, select_steps
from arena.conformance.session import Session
from arena.sandbox.command import Command
from arena.sandbox.sandbox import Sandbox
from protocol.codec import printable_lines
from protocol.messages import Clock
from tournaments.league.records import CheckedStep, CheckSummary

VERDICTS = {"pass": "passed", "fail": "failed", "skip": "skipped", "missed": "skipped"}
EXPLAINED = 5
"""Failed steps that are explained in full; the first ones cause the others."""
LONGEST = 1_000
"""Characters of each part of an explanation."""


def examine_version(
    command: Command,
    sandbox: Sandbox,
    clock: Clock,
    games: Sequence[tuple[str, EventGame]],
    seconds: float,
) -> CheckSummary:
    """Run the check's steps with a bot, in the games of the divisions that it enters.

    `games`: the game of each division, by its name. Other steps are made once. `seconds`: time
    after which no further step begins. Raises CannotStartError if the machine keeps it from
    starting.
    """
    began = time.monotonic()
    reports: dict[str, Report] = {}
    for division, game in games:
        # The first division's check has every step, those of the others only their own game.
        steps = select_steps(("event",) if reports else (), of_event=True)
        left = max(1.0, seconds - (time.monotonic() - began))
        short = game._replace(rules=limit_to_one_round(game.rules))
        session = Session(command, sandbox, clock, Budget(total_s=left, whole=False), None, short)
        reports[division] = make_report("", session, run_steps(session, steps), 0.0)
        if reports[division].verdict == "failed":
            break
    verdicts = {report.verdict for report in reports.values()}
    return CheckSummary(
        verdict=next((one for one in ("failed", "not finished") if one in verdicts), "passed"),
        steps=tuple(_steps(reports)),
        sandbox=sandbox.state,
        seconds=round(time.monotonic() - began, 1),
    )


def _steps(reports: Mapping[str, Report]) -> Iterator[CheckedStep]:
    explained = 0
    for division, report in reports.items():
        for outcome in report.outcomes:
            name = f"{outcome.name} ({division})" if outcome.name == "event" else outcome.name
            explained += outcome.state == "fail"
            words = _words(outcome, in_full=explained <= EXPLAINED)
            yield CheckedStep(name, VERDICTS[outcome.state], words)
        for sentence in remarks(report):
            if sentence.startswith("Warning"):
                yield CheckedStep("remark", "warned", sentence)


def _words(outcome: StepResult, *, in_full: bool) -> str:
    if outcome.finding is None:
        return "" if outcome.state == "pass" else _cut(outcome.note, LONGEST)
    if not in_full:
        return _cut(f"fault: {outcome.finding.fault}", 200)
    parts = violation_parts(outcome.finding)
    return "\n".join(f"{name}: {_cut(printable_lines(text), LONGEST)}" for name, text in parts)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def failure_words(check: CheckSummary) -> str:
    """Return the reason why a version that failed its check does not play, for its author."""
    failed = [step for step in check.steps if step.verdict == "failed"]
    made = [step for step in check.steps if step.verdict != "warned"]
    return (
        f"It fails {len(failed)} of the {len(made)} steps of `boneyard check`. Begin with "
        f"{failed[0].name}:\n{failed[0].words}"
    )
