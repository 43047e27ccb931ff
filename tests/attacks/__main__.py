"""Print how many attacks succeed at locked bots here: `python -m tests.attacks`."""

import tempfile
from pathlib import Path

from arena.sandbox.command import BOUNDED, LOCKED
from tests.attacks.runner import attack

for confinement in (BOUNDED, LOCKED):
    result = attack(confinement, Path(tempfile.gettempdir()))
    succeeded = ", ".join(sorted(result.through)) or result.why_not
    print(
        f"{confinement.description}: {len(result.through)} of {len(result.outcomes)}: {succeeded}"
    )
