"""Plays as its twin does; where its game is being lost, it answers a moment too late.

It waits out all of its time and answers 1 to 2 ms after its limit, by its own clock, hoping that
the game is void and played again. It notes when it did. With `twin` it never waits.
"""

import json
import sys
import time
from typing import Any

WAITS_A_GAME = 2
BEHIND = 0.6
"""It takes a game for lost when the other one has this share of the target, and leads."""
LATE_S = 0.0015
SPIN_S = 0.002
"""It sleeps up to so long before its moment, then looks at the clock all the time."""


def weight(option: dict[str, Any]) -> int:
    """Return the sort key of a play: its pips, doubles first; other options last."""
    if option["do"] != "play":
        return -1
    high, low = map(int, option["tile"])
    return high + low + 100 * (high == low)


def is_lost(ask: dict[str, Any], target: int) -> bool:
    own, other = int(ask["scores"][ask["seat"]]), max(map(int, ask["scores"]))
    return other >= BEHIND * target and own < other


def wait_until(moment: float) -> None:
    time.sleep(max(0.0, moment - SPIN_S - time.monotonic()))
    while time.monotonic() < moment:
        pass


def say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


def main(*, waits: bool) -> None:
    target = waited = 0
    for line in sys.stdin:
        began = time.monotonic()
        message = json.loads(line)
        if message["type"] == "hello":
            say({"type": "hello", "name": "late" if waits else "twin", "version": "1"})
        elif message["type"] == "game":
            target, waited = message["target"], 0
        elif message["type"] == "ask":
            options = message["options"]
            choice = max(range(len(options)), key=lambda index: weight(options[index]))
            answer = {"type": "choose", "id": message["id"], "choice": choice}
            if waits and waited < WAITS_A_GAME and is_lost(message, target):
                waited += 1
                answer["note"] = "late"
                wait_until(began + message["time_ms"] / 1000 + LATE_S)
            say(answer)
        elif message["type"] == "bye":
            break


if __name__ == "__main__":
    main(waits="twin" not in sys.argv[1:])
