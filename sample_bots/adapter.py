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

and it writes a line that holds the number of an option. With --each its input ends there, and
the adapter takes the last such number in all that it writes. This suits a program that answers one
prompt on standard input, such as a language model's command line (`chat.py` uses a model's API).

A number that is not offered is reported on stderr and counted in `usage`, and the first option
taken instead. To adapt another protocol, change `told` (what the program reads) and `number` (what
it means). `text_player.py` is a program to try.
"""

import json
import re
import subprocess
import sys


def told(ask, name):
    """The question as lines of words."""
    yield f"game {name} seat {ask['seat']} of {len(ask['hands'])}"
    for key in ("hand", "line", "ends", "hands", "scores"):
        yield " ".join([key, *map(spelled, ask[key])])
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


def number(text, options):
    """The last number in the answer that is an option's; None if there is none."""
    offered = [int(one) for one in re.findall(r"\d+", text) if int(one) < len(options)]
    if not offered:
        print(f"no option in the answer {text!r}", file=sys.stderr)
    return offered[-1] if offered else None


def answered(command, process, question):
    """The program's answer: a line, or with a new process for each question all that it writes."""
    if process is None:
        return subprocess.run(command, input=question, stdout=subprocess.PIPE, text=True).stdout
    process.stdin.write(question)
    process.stdin.flush()
    return process.stdout.readline() or sys.exit(f"{command[0]} has ended")


if __name__ == "__main__":
    each, command = sys.argv[1] == "--each", sys.argv[1:]
    command, name, process = command[each:], "dominoes", None
    if not each:
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print('{"type": "hello", "name": "adapter", "version": "1"}', flush=True)
        elif message["type"] == "game":
            name = message["rules"]["name"]
        elif message["type"] == "ask":
            text = answered(command, process, "\n".join(told(message, name)) + "\n")
            choice = number(text, message["options"])
            usage = {"fallbacks" if choice is None else "model_choices": 1}
            answer = {"type": "choose", "id": message["id"], "choice": choice or 0, "usage": usage}
            print(json.dumps(answer), flush=True)
    if process:
        process.communicate()  # its input ends, and with that it should leave
