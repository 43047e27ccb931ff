"""Changes to the referee's lines: of a later version, with strange names, very long. Pure."""

import json
from collections.abc import Callable
from typing import Any

from protocol.messages import MAX_LINE

STRANGE = 'Łódź 🁣 "дом\u00edno" \\ \u202eeman\u2066 \u2028'
"""An unusual name that a ruleset may have."""
Sent = Callable[[bytes], bytes]
"""A change to a line of the referee before it is sent."""
WEATHER = b'{"type":"weather","id":5,"game":1,"sky":["rain",{"do":"rain"}],"choice":0}\n'
"""A message of a type that does not exist."""
NEWER = 7
"""The value of fields that do not exist."""


def with_extra_fields(line: bytes) -> bytes:
    """Return the line with unknown fields in every object, none before `id` or after `options`."""
    return _encode(_widen(json.loads(line)))


def with_extra_options(line: bytes) -> bytes:
    """Return the question with all its options replaced by ones of an unknown kind."""
    value = json.loads(line)
    if value["type"] == "ask":
        value["options"] = [{"do": "swap", "with": n} for n, _ in enumerate(value["options"])]
    return _encode(value)


def with_extra_events(line: bytes) -> bytes:
    """Return the line with an event of an unknown kind before all others."""
    value = json.loads(line)
    if "events" in value:
        value["events"].insert(0, {"do": "swap", "seat": 0, "with": 1})
    return _encode(value)


def with_strange_name(line: bytes) -> bytes:
    """Return the line of a game with an unusual name of its ruleset."""
    value = json.loads(line)
    if value["type"] == "game":
        value["rules"]["name"] = STRANGE
    return _encode(value)


def at_full_length(line: bytes) -> bytes:
    """Return the question with an unknown field, as long as a line may be."""
    head, options, tail = line.rpartition(b',"options":')
    if not line.startswith(b'{"type":"ask"'):
        return line
    frame = b',"remarks":""'
    filling = b"x" * (MAX_LINE - len(line) - len(frame))
    return b"".join((head, frame[:-1], filling, b'"', options, tail))


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _widen(value: Any) -> Any:
    """Return the value with one more field in each object."""
    if isinstance(value, list):
        return [_widen(one) for one in value]
    if not isinstance(value, dict):
        return value
    wide = {name: _widen(one) for name, one in value.items()}
    options = {"options": wide.pop("options")} if "options" in wide else {}
    return {**wide, "newer": NEWER, "newest": {"x": [NEWER, None, True]}, **options}
