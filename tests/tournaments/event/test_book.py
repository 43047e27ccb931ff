"""Tests of `tournaments.event.book`: a ledger of games that nobody planned is refused."""

from pathlib import Path

import pytest

from arena.files import DamagedFileError
from arena.logs.checksummed import SealedLog
from protocol.codec import decode_result
from tests.support.planned_events import event, plan_of, result
from tournaments.event.book import Ledger
from tournaments.event.folder import Folder
from tournaments.event.grow import open_event
from tournaments.formats.tables import Matches


def test_a_ledger_of_a_table_that_is_not_planned_is_refused(tmp_path: Path) -> None:
    folder, form = Folder(tmp_path), Matches((("bot0", "bot1"), ("bot1", "bot2")))
    book, _ = open_event(folder, event(3, form=form), 1)
    (strange, *_) = (plan for plan in plan_of(event(3)) if plan.seats == (0, 2))
    ledger = SealedLog(folder.ledger, decode_result)
    ledger.append([result(event(3), strange, 0, (1, 2))])
    why = "line 1, byte 0: game 1.bot0.bot2, where the schedule has 1.bot0.bot1"
    with pytest.raises(DamagedFileError, match=why):
        Ledger(book)
