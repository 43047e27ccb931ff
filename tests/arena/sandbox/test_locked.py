"""Locked bots: what gets through, and the parts that lock them in."""

import functools
import os
import tempfile
from pathlib import Path

import pytest
from msgspec.json import decode, encode

from arena.sandbox import process
from arena.sandbox.command import BOUNDED, LOCKED, Confinement, Limits
from arena.sandbox.process import Sandbox
from arena.sandbox.select import TRANSIENT_ERRORS, examine
from tests.attacks.runner import Attacks, attack
from tests.support.events import compute_once
from tests.support.probes import BLOCKED, TRACES

ROOT = os.geteuid() == 0


@functools.cache
def attacks(confinement: Confinement) -> Attacks:
    """Return what comes of every attack; skip the test where bots cannot be confined so."""
    folder = Path(tempfile.gettempdir())
    key = f"attacks-{confinement.state}-{confinement.is_bounded}"
    attacks = decode(compute_once(key, lambda: encode(attack(confinement, folder))), type=Attacks)
    if not attacks.outcomes:
        pytest.skip(attacks.why_not)
    return attacks


@pytest.mark.parametrize("confinement", [BOUNDED, LOCKED], ids=["bounded", "unbounded"])
def test_only_traces_of_the_kernel_get_through(confinement: Confinement) -> None:
    through = attacks(confinement).through - TRACES
    assert {name: attacks(confinement).outcomes[name].detail for name in through} == {}
    assert attacks(confinement).is_proven


@pytest.mark.parametrize("confinement", [BOUNDED, LOCKED], ids=["bounded", "unbounded"])
def test_the_canary_misses_no_guarantee_that_an_attack_breaks(confinement: Confinement) -> None:
    trial = examine(confinement, Path(tempfile.gettempdir()))
    assert {promise.name for promise in trial.broken} == attacks(confinement).broken


@pytest.mark.parametrize("probe", BLOCKED)
def test_blocked(probe: str) -> None:
    """Each attempt has a test."""
    outcome = attacks(LOCKED).outcomes[probe]
    assert not outcome.got, outcome.detail


# The parts.


@pytest.mark.skipif(not ROOT, reason="only root gives each bot a user of its own")
def test_two_bots_never_have_the_same_user() -> None:
    users = [process.User() for _ in range(20)]
    assert len({user.number for user in users}) == 20
    first = users[0].number
    for user in users:
        user.release()
    next_user = process.User()
    assert next_user.number == first
    next_user.release()


@pytest.mark.skipif(not ROOT, reason="only root gives each bot a user of its own")
def test_claims_are_not_made_where_others_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "CLAIMS", tmp_path / "claims")
    process.User().release()
    (tmp_path / "claims").chmod(0o711)
    with pytest.raises(PermissionError, match="Others can enter this folder"):
        process.User()


@pytest.mark.skipif(not ROOT, reason="only root gives each bot a user of its own")
def test_a_lack_of_free_users_is_the_machines_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Numbers of their own: other tests, and other runs on this machine, take those of bots.
    monkeypatch.setattr(process, "FIRST_USER", process.USERS_END + 100)
    monkeypatch.setattr(process, "USERS_END", process.FIRST_USER + 1)
    user = process.User()
    with pytest.raises(process.NoUserLeftError) as shortage:
        process.User()
    assert shortage.value.errno in TRANSIENT_ERRORS
    user.release()


def test_two_sandboxes_of_one_process_have_places_at_once() -> None:
    """A worker has a sandbox for each order, and plays several orders side by side."""
    try:
        places = [Sandbox(BOUNDED, Limits()).new_slot() for _ in range(2)]
    except OSError as error:
        if isinstance(error.__cause__, FileExistsError):
            raise
        pytest.skip("no cgroup here")
    for place in places:
        place.close()
