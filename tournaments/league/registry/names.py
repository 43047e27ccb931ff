"""The names of bots: those of their folders in bots/, by any author."""

import hashlib
import re
from collections.abc import Iterable

from tournaments.league.registry.file_tree import shown_name
from tournaments.plan.bot_catalog import sample_bots

LONGEST = 40
"""Characters of a name."""
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_-]{{0,{LONGEST - 1}}}")


def name_fault(name: str, admitted: Iterable[str]) -> str:
    """Return why a folder's name cannot be a bot's, in a sentence; empty if it can.

    `admitted`: the authors' bots that have played already.
    """
    if not _NAME.fullmatch(name):
        return (
            f"bots/ has a folder called {shown_name(name)}. A bot's name has 1 to {LONGEST} "
            "letters, digits, _ and -, and no - in front: rename it."
        )
    known = set(admitted)
    if name in known:
        return ""
    if name.casefold() in sample_bots():
        return f"bots/{name} has the name of a sample bot. Give the folder another name."
    for other in sorted(known):
        if other.casefold() == name.casefold():
            return f"bots/{name} differs from the bot {other} in capitals only. Rename it."
    return ""


def name_in_register(name: str) -> str:
    """Return the name under which the register has a folder: a made-up one for an illegal name."""
    if _NAME.fullmatch(name):
        return name
    return f"illegal-{hashlib.sha256(name.encode(errors='surrogateescape')).hexdigest()[:8]}"
