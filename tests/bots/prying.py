"""A bot that pries during its games: python prying.py FOLDER PORT.

It tries to read what lies in a league's folder, to write there, to leave itself a note, and to
reach PORT of this machine. What succeeds it shouts to stderr, and ends: that is a foul, which
everybody sees.
"""

import json
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LEAGUE, PORT = Path(sys.argv[1]), int(sys.argv[2])
HERE = Path.cwd()
NOTE = Path("/tmp/pried")


def deeds() -> Iterator[str]:
    """Yield what it could do that it must not."""
    for name in ("bots", "rounds", "site", "register.jsonl", "league.toml"):
        if (LEAGUE / name).exists():
            yield f"saw {LEAGUE / name}"
    for path in LEAGUE.rglob("*"):
        if path.is_file() and HERE not in path.parents:
            yield f"saw {path}"
    for folder in (LEAGUE, HERE, HERE.parent):
        try:
            (folder / "pried").write_text("pried")
            yield f"wrote into {folder}"
        except OSError:
            pass
    if NOTE.exists():
        yield "left itself a note"
    with suppress(OSError):
        NOTE.write_text("pried")
    try:
        socket.create_connection(("127.0.0.1", PORT), 1).close()
        yield "reached the network"
    except OSError:
        pass


questions = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "hello", "name": "prying", "version": "1"}), flush=True)
    elif message["type"] == "ask":
        questions += 1
        if questions == 2:
            for deed in deeds():
                sys.exit(f"PRIED: {deed}")
        print(json.dumps({"type": "choose", "id": message["id"], "choice": 0}), flush=True)
    elif message["type"] == "bye":
        break
