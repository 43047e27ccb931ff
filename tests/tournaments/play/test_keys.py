"""A key that an event gives to a bot is nowhere in the event, though the bot writes it."""

from pathlib import Path

import pytest

from tests.support.clusters import Cluster
from tests.support.events import boneyard, logs

KEY = "sk-0123456789abcdefghij"
TELLTALE = """
import json, os, sys
key, asked = os.environ["API_KEY"], 0
for line in sys.stdin:
    said = json.loads(line)
    print(key, file=sys.stderr, flush=True)
    if said["type"] == "hello":
        print('{"type":"hello","name":"%s","version":"1"}' % key, flush=True)
    elif said["type"] == "ask":
        asked += 1
        answer = {"type": "choose", "id": said["id"], "choice": 0, "note": key}
        print(json.dumps(answer) if asked < 20 else key, flush=True)
"""
EVENT = """
boards = 1
sandbox = "require"

[[bots]]
name = "telltale"
run = ["{python}", "telltale.py"]
environment = ["API_KEY"]

[[bots]]
name = "first"
"""


# Slow: whole events, for the test of one log in tests/arena/sandbox/test_network.py.
@pytest.mark.slow
@pytest.mark.parametrize("on_cluster", [False, True])
def test_no_file_of_an_event_has_the_key(
    on_cluster: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("API_KEY", KEY)
    words: tuple[str, ...] = ()
    if on_cluster:
        cluster: Cluster = request.getfixturevalue("cluster")
        cluster.add("w", "auto")
        words = cluster.words()
    (tmp_path / "telltale.py").write_text(TELLTALE)
    cup = tmp_path / "event.toml"
    cup.write_text(EVENT)
    out = tmp_path / "out"
    output = boneyard("run", str(cup), "--out", str(out), "--keep-stderr", *words)
    output += boneyard("replay", str(out), "--html") + boneyard("report", str(out), "--json")
    files = [path.read_bytes() for path in out.rglob("*") if path.is_file()]
    assert any(b"[API_KEY]" in log for log in logs(out))
    assert not any(KEY.encode() in text for text in (*files, *logs(out), output.encode()))
