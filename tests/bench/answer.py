"""A bot for benchmarks: the first option, at many tables, by `json` or `msgspec`.

answer.py json|msgspec TABLES
"""

import os
import sys
from collections.abc import Callable
from typing import Any

loads: Callable[[bytes], Any]
encoded: Callable[[Any], bytes]
if sys.argv[1] == "json":
    import json

    loads = json.loads

    encoded = lambda message: json.dumps(message).encode()  # noqa: E731
else:
    import msgspec

    loads, encoded = msgspec.json.decode, msgspec.json.encode

HELLO = {"type": "hello", "name": "answer", "version": "1", "tables": int(sys.argv[2])}
rest = b""
while data := os.read(0, 1 << 16):
    *lines, rest = (rest + data).split(b"\n")
    answers = []
    for message in map(loads, lines):
        if message["type"] == "ask":
            answers.append(encoded({"type": "choose", "id": message["id"], "choice": 0}))
        elif message["type"] == "hello":
            answers.append(encoded(HELLO))
    if answers:
        os.write(1, b"\n".join(answers) + b"\n")
