"""The list of channels is true, and as it is made now."""

import pytest

from tests.support.channels import CHANNELS, FILE, SECRECY, Channel, blocked, leak, missing, table
from tests.support.leaky_referees import LEAKS
from tests.support.probes import BLOCKED


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda one: one.name)
def test_a_closed_channel_names_tests_that_exist(channel: Channel) -> None:
    assert channel.measure
    assert channel.tests or channel.state == "open"
    assert not (channel.tests and channel.state == "open")
    assert [missing(test) for test in channel.tests] == [None] * len(channel.tests)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("tests/no_such_file.py::test_x", "does not exist"),
        (f"{SECRECY}::test_that_nobody_wrote", "has no test_that_nobody_wrote"),
    ],
)
def test_a_test_that_does_not_exist_is_noticed(test: str, why: str) -> None:
    assert why in (missing(test) or "")


def test_every_probe_that_is_named_is_made() -> None:
    named = {test for one in CHANNELS for test in one.tests if "test_blocked[" in test}
    assert named <= {blocked(probe) for probe in BLOCKED}


def test_every_leak_that_is_named_is_tried_and_every_one_is_named() -> None:
    assert {test for one in CHANNELS for test in one.tests if "is_caught[" in test} == {
        leak(what) for what in LEAKS
    }


def test_every_channel_stands_once() -> None:
    names = [one.name for one in CHANNELS]
    assert len(set(names)) == len(names)


def test_the_page_is_as_it_is_made_now() -> None:
    assert FILE.read_text() == table(), "python -m tests.support.channels writes it again"
