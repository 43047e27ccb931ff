"""A bot that plays the first option until it breaks the protocol in the way its argument names."""

import json
import os
import subprocess
import sys
import time

HOW = sys.argv[1]
AFTER = 3
"""Questions that are answered well before it happens."""


def say(line: str) -> None:
    print(line, flush=True)


def misbehave(ask: dict[str, object]) -> None:
    answer = {"type": "choose", "id": ask["id"], "choice": 0}
    if HOW == "late":
        time.sleep(60)
    elif HOW == "patient":
        time.sleep(12)
        say(json.dumps(answer))
    elif HOW == "dribbling":
        for byte in json.dumps(answer):
            print(byte, end="", flush=True)
            time.sleep(0.05)
        time.sleep(60)
    elif HOW == "illegal":
        say(json.dumps({**answer, "choice": 999}))
    elif HOW == "malformed":
        say("I play the double six!")
    elif HOW == "unknown-field":
        say(json.dumps({**answer, "love": True}))
    elif HOW == "overlong":
        say(json.dumps({**answer, "note": "x" * 70_000}))
    elif HOW == "endless":
        while True:
            sys.stdout.write("x" * 1000)
    elif HOW == "gone":
        sys.stderr.write("\x1b[31mmy last words\n")
        sys.exit(3)
    elif HOW == "crash":
        raise RuntimeError("a bug of mine")
    elif HOW == "closed":
        os.close(1)
        time.sleep(60)
    elif HOW == "heir":
        # Something that it started holds its stdout open after it has left.
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", *sys.argv])
        os._exit(0)
    elif HOW == "signal":
        os.kill(os.getpid(), 40)
    elif HOW == "stalling":
        # Answers to closed questions must not buy time for the open one.
        while True:
            time.sleep(0.2)
            say(json.dumps({**answer, "id": 1}))
    elif HOW == "flooding":
        for number in range(100_000):
            say(json.dumps({**answer, "id": number % 5}))
    elif HOW == "memory":
        hoard = []
        while True:
            hoard.append(b"x" * 1_000_000)
            time.sleep(0.001)
    elif HOW == "deaf":
        # Ignores every polite word, its closed stdin included.
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        sys.stdin.close()
        time.sleep(60)


def main() -> None:
    if HOW == "silent":
        time.sleep(60)
    if HOW == "wrong-version":
        say('{"type": "hello", "name": "x", "version": "1", "protocol": 2}')
        time.sleep(60)
    if HOW == "no-hello":
        say("hello there")
    asked = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            say('{"type": "hello", "name": "misbehaving", "version": "1"}')
        elif message["type"] == "ask":
            asked += 1
            if asked > AFTER:
                misbehave(message)
            say(json.dumps({"type": "choose", "id": message["id"], "choice": 0}))


main()
