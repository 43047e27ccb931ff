"""What travels between a run and its workers, and where a run may look for them."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from arena.sandbox.command import LOCKED, OFF, Confinement, SandboxMode
from arena.sealed.module import wasmtime_version
from protocol.errors import UserError
from tests.support.events import boneyard
from tournaments.plan.schedule import PlannedGame, PlannedSitting
from tournaments.play.cluster import orders
from tournaments.play.cluster.orders import (
    ClusterAddress,
    Order,
    OrderPart,
    content_name,
    decoded,
    encoded,
    offered_resources,
    parse_cluster_option,
    resource,
)

TLS = Path("tls")
GAME = PlannedGame("3.a.b", 1, 3)
PLAN = PlannedSitting("from-3.a.b", (0, 1), (3,), "a.b")
ORDER = Order("run", 0, (OrderPart(PLAN, (GAME,), (7,)),), {3: b"seed"})


def test_the_same_order_is_the_same_task_and_another_attempt_is_not() -> None:
    copy = decoded(encoded(ORDER), Order)
    assert content_name(encoded(copy)) == content_name(encoded(ORDER))
    other = Order("run", 1, ORDER.parts, ORDER.seeds)
    assert content_name(encoded(other)) != content_name(encoded(ORDER))


@pytest.mark.parametrize(
    ("mode", "confinement", "wishes"),
    [
        ("auto", LOCKED, {"off", "auto", "require"}),
        ("auto", OFF, {"off", "auto"}),
        ("off", OFF, {"off"}),
    ],
)
def test_a_worker_offers_what_its_machine_proved(
    mode: SandboxMode, confinement: Confinement, wishes: set[SandboxMode]
) -> None:
    versions = {"", wasmtime_version()}
    offered = {resource(wish, version): 3 for wish in wishes for version in versions}
    assert offered_resources(mode, confinement, 3) == offered


def give_certificates(folder: Path) -> None:
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (folder / name).touch(0o600)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:8786", ClusterAddress("tls://127.0.0.1:8786", TLS)),
        ("tls://[::1]:1", ClusterAddress("tls://[::1]:1", TLS)),
        ("tls://head:8786", ClusterAddress("tls://head:8786", TLS)),
    ],
)
def test_a_schedulers_address_is_parsed(
    text: str, expected: ClusterAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    TLS.mkdir(mode=0o700)
    give_certificates(TLS)
    assert parse_cluster_option(text, TLS) == expected


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("head", "not a scheduler's address"),
        ("http://head:80", "not a scheduler's address"),
        ("head:99999", "not a scheduler's address"),
        ("head:²", "not a scheduler's address"),
        ("head:8786", "--tls FOLDER"),
        ("tcp://127.0.0.1:8786", "has no TLS"),
    ],
)
def test_an_address_that_is_wrong_or_has_no_tls_is_refused(text: str, part: str) -> None:
    with pytest.raises(UserError, match=part):
        parse_cluster_option(text, None)


def test_certificates_must_be_there_and_the_key_be_nobody_elses(tmp_path: Path) -> None:
    for name in ("ca.pem", "cert.pem"):
        (tmp_path / name).touch()
    with pytest.raises(UserError, match=r"key\.pem"):
        parse_cluster_option("tls://head:8786", tmp_path)
    (tmp_path / "key.pem").touch(0o640)
    with pytest.raises(UserError, match="other users may read it"):
        parse_cluster_option("tls://head:8786", tmp_path)


@pytest.mark.parametrize(
    "words", [("run", "first", "greedy", "--cluster", "tls://head:1"), ("worker", "127.0.0.1:8786")]
)
def test_without_the_engine_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], tmp_path: Path
) -> None:
    def nothing(name: str) -> object:
        return None if name == "distributed" else find_spec(name)

    monkeypatch.setattr(orders, "find_spec", nothing)
    monkeypatch.chdir(tmp_path)
    output = boneyard(*words, code=2)
    assert ".[cluster]" in output
    assert len(output.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
