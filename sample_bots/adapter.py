"""Any program as a bot: it reads plain text and writes a number.

    python3 adapter.py PROGRAM ARGUMENT...           one process, asked again and again
    python3 adapter.py --each PROGRAM ARGUMENT...    a new one for each question

For each question the program reads a few lines of words, as short as a person would write them:

    game dutch seat 0 of 2
    hand 6-5 3-3
    line 2-4 4-3
    ends 2 3
    hands 2 4
    scores 12 0
    event 1 draw
    option 0 play 3-3 right
    option 1 draw
    choose

and it writes a line that holds the number of an option. With --each its input ends there, and all
that it writes is searched for the last such number: that fits what answers a prompt on its standard
input, such as a language model's command line. (In the sandbox there is no network but what the
event opens: `chat.py` asks a model by its API. And think of the clock: `move_ms`.)

A number that is not offered is not passed on: the adapter says so on stderr, which a foul's record
shows, takes the first option, and counts that in its `usage`, so that the report shows the share of
choices that were the program's. The clock runs on; a program that is too slow is late.

To adapt another protocol, change `told` (what the program reads) and `number` (what it means).
`text_player.py` is a small program to try it with.
"""

import json
import re
import subprocess
import sys


def told(ask, name):
    """The question as lines of words."""
    yield f"game {name} seat {ask['seat']} of {len(ask['hands'])}"
    yield f"hand {tiles(ask['hand'])}"
    yield f"line {tiles(ask['line'])}"
    yield f"ends {numbers(ask['ends'])}"
    yield f"hands {numbers(ask['hands'])}"
    yield f"scores {numbers(ask['scores'])}"
    for event in ask["events"]:
        yield f"event {words(event)}"
    for index, option in enumerate(ask["options"]):
        yield f"option {index} {words(option)}"
    yield "choose"


def words(entry):
    """Everything that an option or an event says: its seat, what it does, and then the rest."""
    rest = [spelled(value) for key, value in entry.items() if key not in ("do", "seat")]
    return " ".join([*([str(entry["seat"])] if "seat" in entry else []), entry["do"], *rest])


def spelled(value):
    """A tile as 6-5, anything else as it is."""
    return "-".join(map(str, value)) if isinstance(value, list) else str(value)


def tiles(many):
    return " ".join(map(spelled, many))


def numbers(many):
    return " ".join(map(str, many))


def number(text, options):
    """The last number in the answer that is an option's; None if there is none."""
    offered = [int(one) for one in re.findall(r"\d+", text) if int(one) < len(options)]
    if not offered:
        print(f"no option in the answer {text!r}", file=sys.stderr)
    return offered[-1] if offered else None


class Program:
    """The program behind the adapter."""

    def __init__(self, command, *, each):
        self.command = command
        self.process = None if each else self.started()

    def started(self):
        pipe = subprocess.PIPE
        return subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def answer(self, question):
        """What it writes: a line, or with a new process for each question everything."""
        if self.process is None:
            return self.started().communicate(question)[0]
        self.process.stdin.write(question)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.command[0]} has ended")  # gone: the referee must see it
        return answer

    def close(self):
        """Its input ends, and with that it should leave."""
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def main():
    each, command = sys.argv[1] == "--each", sys.argv[1:]
    program = Program(command[each:], each=each)
    name = "dominoes"
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            answer = {"type": "hello", "name": "adapter", "version": "1"}
        elif kind == "game":
            name = message["rules"]["name"]
            continue
        elif kind == "ask":
            said = program.answer("\n".join(told(message, name)) + "\n")
            choice = number(said, message["options"])
            usage = {"fallbacks" if choice is None else "model_choices": 1}
            answer = {"type": "choose", "id": message["id"], "choice": choice or 0, "usage": usage}
        elif kind == "bye":
            break
        else:
            continue
        print(json.dumps(answer), flush=True)
    program.close()


if __name__ == "__main__":
    main()
