"""Hostile lines as data: what is said instead of an answer or a hello, and the foul that it is.

That a line alone is no message is tested with the codec; here stand one line for each of its
reasons, and what only a referee or a log can mind.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from protocol.records import FoulClass
    from tests.bots.hostile.__main__ import Bot

MAX = 65_536
"""Bytes of the longest line, its newline included."""
ANSWER = b'{"type":"choose","id":@,"choice":0}'
HELLO = b'{"type":"hello","name":"x","version":"1"}'
FINE = None
DIGITS = 7
"""Of the numbers of the first game's questions, for which @ stands."""


def also(more: str) -> bytes:
    """Return a good answer with one more field."""
    return ANSWER[:-1] + b"," + more.encode() + b"}"


def choice(value: str) -> bytes:
    """Return an answer with another choice."""
    return b'{"type":"choose","id":@,"choice":%b}' % value.encode()


def number(value: str) -> bytes:
    """Return an answer with another number."""
    return b'{"type":"choose","id":%b,"choice":0}' % value.encode()


def named(name: str) -> bytes:
    """Return a hello with another name."""
    return b'{"type":"hello","name":"%b","version":"1"}' % name.encode()


def greets(more: str) -> bytes:
    """Return a hello with one more field."""
    return HELLO[:-1] + b"," + more.encode() + b"}"


LINES: "dict[str, tuple[bytes, FoulClass | None]]" = {
    # In a line @ is the number of the question and @@ the same in the next game.
    "truncated": (ANSWER[:-1], "malformed"),
    "banner": (b"thinking...\n" + ANSWER, "malformed"),
    "blank_line_behind": (ANSWER + b"\n", "malformed"),
    "not_utf8": (b"\xff" + ANSWER, "malformed"),
    "digits_60000": (choice("9" * 60_000), "malformed"),
    "choice_999": (choice("999"), "illegal"),
    "future_number": (number("@1"), "illegal"),
    "number_of_next_game": (number("@@"), "illegal"),
    "number_zero_first": (number("0") + b"\n" + ANSWER, FINE),
    "greets_again": (HELLO, "malformed"),
    "number_twice": (also('"id":@'), "malformed"),
    "deep_arrays": (b"[" * 60_000, "malformed"),
    "longest_line": (ANSWER + b" " * (MAX - DIGITS - len(ANSWER)), FINE),
    "one_byte_too_long": (ANSWER + b" " * (MAX - DIGITS + 1 - len(ANSWER)), "overlong"),
    "note_longest": (also('"note":"' + "🁣" * 1_024 + '"'), FINE),
    "note_terminal_codes": (also(r'"note":"\u001b[2J\u001b]0;owned\u0007"'), FINE),
    "note_like_a_record": (also(r'"note":"\n{\"type\":\"result\",\"places\":[2,1]}\n"'), FINE),
    "two_answers": (ANSWER + b"\n" + ANSWER, FINE),
    "second_thoughts": (ANSWER + b"\n" + choice("1"), FINE),
    # instead of a hello
    "hello_words": (b"hello there", "no_hello"),
    "hello_nothing": (b"", "no_hello"),
    "hello_protocol_2": (greets('"protocol":2'), "no_hello"),
    "hello_too_long": (b"x" * 70_000, "overlong"),
    "hello_path_name": (named("../../etc/passwd"), FINE),
    "hello_and_first_answer": (HELLO + b"\n" + number("1000001"), FINE),
    "hello_and_future_answer": (HELLO + b"\n" + number("1000002"), "illegal"),
}


def numbered(line: bytes, question: int) -> bytes:
    """Return a line with the numbers for which @ and @@ stand."""
    return line.replace(b"@@", b"%d" % (question + 1_000_000)).replace(b"@", b"%d" % question)


def said(bot: "Bot", name: str) -> None:
    """Say the line."""
    line, _ = LINES[name]
    bot.say((numbered(line, bot.id) if bot.ask else line) + b"\n")
    bot.answered = True
