"""A bot that asks a language model, by any API that speaks of chat completions.

    python3 chat.py --url https://api.example.com/v1 --model small --key API_KEY

It puts each question into words, takes the last number in the answer that is an option's, and
states what the answer cost. With `--options none` it lists no options: the model must name a legal
move by itself. A request that fails is made again while the clock allows it; an answer without an
option is asked for again once, with the error. If the model still has named no option, the bot
chooses at random, or fouls with `--fallback foul`, and says so in `usage`. If the service does not
answer at the start, the bot says that it is unavailable. Without --url it never asks anybody and
always chooses at random.

The event must open the address to it (`network`) and give it the key (`environment`), and allow it
time (`move_ms`): see README.md. To change what the model reads, change `told` and the texts below.
"""

import argparse
import json
import os
import random
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import Future

RULES = (
    "You play dominoes ({rules}) at a table of {seats}. Get rid of your tiles before the others "
    "do; the pips that are still held at a round's end cost points. "
)
ORDERS = {  # what the system's message ends with, by --options
    "list": "Reply with the number of one option and nothing else.",
    "none": (
        "Reply with one legal move and nothing else, written as: play 6-5 left, play 6-5 right, "
        "play 6-5 lead (the first tile), play_two 6-5 2-1 (left and right), draw, pass; where the "
        "rules have it: keep, refuse, call, go_on, guess odd, guess even, bid 3, bid 0 (check)."
    ),
}
AGAIN = {  # what follows an answer without an option
    "list": "That names no option. Reply with one number from 0 to {last} and nothing else.",
    "none": "That is no legal move now. Reply with one legal move and nothing else.",
}
THOUGHTS = re.compile(r"<think>.*?(</think>|$)", re.DOTALL)
VERBS = {"play", "play_two", "draw", "pass", "keep", "refuse", "call", "go_on", "guess", "bid"}
RESERVE_S = 0.5  # seconds of each question that are kept for our own work
START_S = 5.0  # that the service has to answer at the start
PAUSE_S = 0.5  # before a request is made again; each further pause is twice as long
LEAST_S = 0.2  # with less time than this no request is made
TRANSIENT_ERRORS = {408, 409, 425, 429, 500, 502, 503, 504, 529}
MOST_READ = 1_000_000  # bytes of an answer
MOST_TOKENS = 10_000_000  # that a bot may state


def told(ask, listed):
    """Return a question in words, with its options if they are `listed`."""
    hands = [f"{count} tiles" for count in ask["hands"]]
    hands[ask["seat"]] += " (you)"
    yield f"Hands by seat: {', '.join(hands)}. Scores: {ask['scores']}. Pot: {ask['pot']}."
    yield f"Your hand: {spelled(ask['hand'])}."
    yield f"The line: {spelled(ask['line']) or 'empty'}. Its ends: {ask['ends']}."
    yield f"Boneyard: {ask['boneyard']['drawable']} tiles may still be drawn."
    if ask["events"]:
        yield f"This round so far: {'; '.join(map(words, ask['events']))}."
    if listed:
        yield "Options:"
        yield from (f"{index}: {words(option)}" for index, option in enumerate(ask["options"]))


def words(entry):
    """Return an option or an event in words: its seat, what it does, and then the rest."""
    who = f"seat {entry['seat']} " if entry.get("seat") is not None else ""
    rest = [spelled(value) for key, value in entry.items() if key not in ("do", "seat")]
    return who + " ".join([entry["do"], *rest])


def spelled(value):
    """Return a tile as 6-5, and a list of tiles with spaces between them."""
    joint = " " if value and isinstance(value, list) and isinstance(value[0], list) else "-"
    return joint.join(map(spelled, value)) if isinstance(value, list) else str(value)


def number(text, options):
    """Return the last number in an answer that is an option's; None if there is none."""
    numbers = map(int, re.findall(r"(?<![\w.-])\d{1,4}(?![\w-]|\.\d)", THOUGHTS.sub("", text)))
    offered = [number for number in numbers if number < len(options)]
    return offered[-1] if offered else None


def move(text, options):
    """Return the option that the last line with a move names; None if it is not legal.

    The line must name the move and nothing else: what is not understood is not guessed. A tile may
    be written either way, and its end left out where only one fits.
    """
    lines = [plain_words(line) for line in THOUGHTS.sub("", text).split("\n")]
    named = next((line for line in reversed(lines) if line and line[0] in VERBS), None)
    if not named:
        return None
    legal = [plain_words(words(option)) for option in options]
    if named in legal:
        return legal.index(named)
    ends = [index for index, move in enumerate(legal) if named[0] == "play" and move[:-1] == named]
    return ends[0] if len(ends) == 1 else None


def plain_words(text):
    """Return the words of a move, without signs, a tile's higher number first."""
    text = re.sub(r"(\d)\s*[-–|:]\s*(\d)", r"\1-\2", text.lower()).replace("go on", "go_on")
    text = re.sub(r"\bcheck\b", "bid 0", re.sub(r"[^\w-]", " ", text))
    text = re.sub(r"\b(?:(?:on|at|to)(?: the)?|and|end|side)\b", " ", text)
    tiles = [sorted(word.split("-"), key=lambda half: half.zfill(2)) for word in text.split()]
    return ["-".join(reversed(tile)) for tile in tiles]


def fallback(kind, line, options):
    """Return a choice in place of the model's: a foul, or a random one seeded by the question."""
    return len(options) if kind == "foul" else random.Random(line).randrange(len(options))


class Model:
    """The service behind the bot."""

    def __init__(self, args):
        self.args = args
        self.key = os.environ.get(args.key, "")
        self.system = ""

    def call(self, path, body, seconds):
        """Return the JSON that the service answers; raise what went wrong.

        In a thread, because a timeout of urllib is for each read, and a server may trickle.
        """
        headers = {"Content-Type": "application/json", "User-Agent": "boneyard-chat/1"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.args.url.rstrip("/") + path, data, headers)
        found = Future()

        def work():
            try:
                with urllib.request.urlopen(request, timeout=seconds) as answer:
                    found.set_result(answer.read(MOST_READ))
            except Exception as error:
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
                found.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return json.loads(found.result(seconds))

    def missing(self):
        """Return why the service does not answer; empty if it does, even if only with an error.

        If the service refuses the key, the bot exits: that is the user's mistake.
        """
        try:
            self.call("/models", None, START_S)
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                sys.exit(f"status {error.code}: the service refuses the key in {self.args.key}")
            return f"status {error.code}" if error.code in TRANSIENT_ERRORS else ""
        except Exception as error:  # what is no JSON is an answer, too
            return "" if isinstance(error, ValueError) else reason(error)
        return ""

    def choose(self, ask):
        """Return the model's choice or None, and what it cost."""
        deadline = time.monotonic() + ask["time_ms"] / 1000 - RESERVE_S
        usage = {"tokens_in": 0, "tokens_out": 0, "cents": 0.0, "retries": 0, "failures": 0}
        messages = [{"role": "system", "content": self.system}]
        way, listed = self.args.options, self.args.options == "list"
        messages += [{"role": "user", "content": "\n".join(told(ask, listed))}]
        body = {"model": self.args.model, "max_tokens": self.args.max_tokens, "messages": messages}
        choice, pause, requests = None, PAUSE_S, 0
        while choice is None and len(messages) <= 4:
            if (left := deadline - time.monotonic()) < LEAST_S:
                break
            usage["retries"], requests = requests, requests + 1
            try:
                answer = self.call("/chat/completions", body, left)
                text = str(answer["choices"][0]["message"]["content"] or "")
                self.count(usage, answer)
            except Exception as error:  # no connection, no time, no JSON, or not of the usual form
                print(reason(error), file=sys.stderr)
                usage["failures"] += 1
                asked = getattr(error, "headers", {}).get("Retry-After", "")
                pause = max(pause, float(asked)) if asked.isdecimal() else pause
                may_pass = getattr(error, "code", 503) in TRANSIENT_ERRORS
                if not may_pass or deadline - time.monotonic() - pause < LEAST_S:
                    break
                time.sleep(pause)
                pause *= 2
                continue
            choice = (number if listed else move)(text, ask["options"])
            if choice is None:
                print(f"no option in the answer {text!r:.200}", file=sys.stderr)
                again = AGAIN[way].format(last=len(ask["options"]) - 1)
                messages += [{"role": "assistant", "content": text}]
                messages += [{"role": "user", "content": again}]
        usage["fallbacks" if choice is None else "model_choices"] = 1
        return choice, usage

    def count(self, usage, answer):
        """Add the cost of an answer, as its service states it; nonsense counts as nothing."""
        stated = answer["usage"] if isinstance(answer.get("usage"), dict) else {}
        for name, key in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
            tokens = stated.get(key)
            if type(tokens) is int and 0 <= tokens <= MOST_TOKENS:
                usage[name] = min(usage[name] + tokens, MOST_TOKENS)
        millionths = usage["tokens_in"] * self.args.cents_in
        millionths += usage["tokens_out"] * self.args.cents_out
        usage["cents"] = round(min(millionths / 1e6, 10_000), 6)


def reason(error):
    """Return an error in words, never with what was sent."""
    return f"{type(error).__name__}: {getattr(error, 'reason', '')}"[:200]


def options_of_the_command():
    parser = argparse.ArgumentParser(description="A bot that asks a language model.")
    parser.add_argument("--url", default="", help="the API, up to its /chat/completions")
    parser.add_argument("--model", default="default", help="the model's name")
    parser.add_argument("--key", default="API_KEY", help="the variable that has the key, if any")
    parser.add_argument("--max-tokens", type=int, default=64, help="the longest answer")
    parser.add_argument("--options", choices=("list", "none"), default="list")
    parser.add_argument("--fallback", choices=("random", "foul"), default="random")
    parser.add_argument("--cents-in", type=float, default=0.0, help="cents for 10^6 tokens read")
    parser.add_argument("--cents-out", type=float, default=0.0, help="cents for 10^6 written")
    return parser.parse_args()


if __name__ == "__main__":
    args = options_of_the_command()
    model = Model(args)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            if args.url and (why := model.missing()):
                print(json.dumps({"type": "unavailable", "why": why}), flush=True)
                break
            answer = {"type": "hello", "name": f"chat {args.model}"[:64], "version": "1"}
            print(json.dumps(answer), flush=True)
        elif message["type"] == "game":
            model.system = RULES.format(rules=message["rules"]["name"], seats=message["seats"])
            model.system += ORDERS[args.options]
        elif message["type"] == "ask":
            options, answer = message["options"], {"type": "choose", "id": message["id"]}
            choice, by = None, "random"
            if args.url and len(options) > 1:
                choice, answer["usage"] = model.choose(message)
                by = args.fallback
            answer["choice"] = fallback(by, line, options) if choice is None else choice
            print(json.dumps(answer), flush=True)
