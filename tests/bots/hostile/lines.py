"""Hostile lines as data: what is said instead of an answer or a hello, and the foul that it is."""

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
    # --- no JSON, or not an object ---
    "words": (b"I play the double six!", "malformed"),
    "nothing": (b"", "malformed"),
    "blanks": (b" \t ", "malformed"),
    "carriage_return_only": (b"\r", "malformed"),
    "form_feed": (b"\f" + ANSWER, "malformed"),
    "no_break_space": (b"\xc2\xa0" + ANSWER, "malformed"),
    "null": (b"null", "malformed"),
    "number_only": (b"0", "malformed"),
    "string_only": (b'"choose"', "malformed"),
    "empty_object": (b"{}", "malformed"),
    "array_around": (b"[" + ANSWER + b"]", "malformed"),
    "two_objects": (ANSWER + ANSWER, "malformed"),
    "truncated": (ANSWER[:-1], "malformed"),
    "trailing_comma": (ANSWER[:-1] + b",}", "malformed"),
    "single_quotes": (ANSWER.replace(b'"', b"'"), "malformed"),
    "comment": (b"/* hm */" + ANSWER, "malformed"),
    "page": (b"<script>alert(1)</script>", "malformed"),
    "terminal_codes": (b"\x1b[2J\x1b]0;owned\x07" + ANSWER, "malformed"),
    "banner": (b"thinking...\n" + ANSWER, "malformed"),
    "blank_line_behind": (ANSWER + b"\n", "malformed"),
    # --- bytes ---
    "byte_order_mark": (b"\xef\xbb\xbf" + ANSWER, "malformed"),
    "not_utf8": (b"\xff" + ANSWER, "malformed"),
    "not_utf8_in_note": (ANSWER[:-1] + b',"note":"\xc3("}', "malformed"),
    "overlong_utf8": (ANSWER[:-1] + b',"note":"\xc0\xaf"}', "malformed"),
    "encoded_surrogate": (ANSWER[:-1] + b',"note":"\xed\xa0\x80"}', "malformed"),
    "utf16": (b"{\0}\0", "malformed"),
    "nul_before": (b"\0" + ANSWER, "malformed"),
    "nul_behind": (ANSWER + b"\0", "malformed"),
    "nuls": (b"\0" * 5_000, "malformed"),
    # --- numbers ---
    "nan": (choice("NaN"), "malformed"),
    "nan_number": (number("NaN"), "malformed"),
    "infinity": (choice("Infinity"), "malformed"),
    "below_infinity": (number("-Infinity"), "malformed"),
    "huge_exponent": (number("1e400"), "malformed"),
    "digits_4300": (number("9" * 4_301), "malformed"),
    "digits_60000": (choice("9" * 60_000), "malformed"),
    "fraction_60000": (choice("0." + "9" * 60_000), "malformed"),
    "float_choice": (choice("0.0"), "malformed"),
    "bool_choice": (choice("false"), "malformed"),
    "string_choice": (choice('"0"'), "malformed"),
    "null_choice": (choice("null"), "malformed"),
    "list_choice": (choice("[0]"), "malformed"),
    "choice_below_zero": (choice("-1"), "malformed"),
    "minus_zero": (choice("-0"), FINE),
    "choice_too_large": (choice("65536"), "malformed"),
    "choice_65535": (choice("65535"), "illegal"),
    "choice_999": (choice("999"), "illegal"),
    "hexadecimal": (number("0x10"), "malformed"),
    "leading_zero": (number("0@"), "malformed"),
    "arabic_digits": (choice("٠"), "malformed"),
    "number_below_zero": (number("-1"), "malformed"),
    "number_beyond_2_53": (number(str(2**53 + 1)), "malformed"),
    "number_2_53": (number(str(2**53)), "illegal"),
    "future_number": (number("@1"), "illegal"),
    "number_of_next_game": (number("@@"), "illegal"),
    "number_zero_first": (number("0") + b"\n" + ANSWER, FINE),
    # --- fields ---
    "no_type": (b'{"id":@,"choice":0}', "malformed"),
    "no_number": (b'{"type":"choose","choice":0}', "malformed"),
    "no_choice": (b'{"type":"choose","id":@}', "malformed"),
    "capital_type": (ANSWER.replace(b"choose", b"Choose"), "malformed"),
    "type_of_referee": (b'{"type":"end","game":1,"why":"target"}', "malformed"),
    "type_list": (ANSWER.replace(b'"choose"', b'["choose"]'), "malformed"),
    "greets_again": (HELLO, "malformed"),
    "unknown_field": (also('"love":true'), "malformed"),
    "field_of_python": (also('"__class__":"Referee"'), "malformed"),
    "field_of_terminal": (also('"\\u001b[31m\\u202e":1'), "malformed"),
    "field_60000": (also('"' + "a" * 60_000 + '":1'), "malformed"),
    "number_twice": (also('"id":@'), "malformed"),
    "choice_twice": (also('"choice":1'), "malformed"),
    "choice_twice_escaped": (also(r'"\u0063hoice":1'), "malformed"),
    "keys_6000": (b'{"a":1' + b',"a":1' * 6_000 + b"}", "malformed"),
    # --- depth ---
    "deep_arrays": (b"[" * 60_000, "malformed"),
    "deep_objects": (b'{"a":' * 10_000, "malformed"),
    "deep_field": (also('"x":' + "[" * 3_000 + "]" * 3_000), "malformed"),
    "flat_and_wide": (also('"x":[' + "[]," * 20_000 + "[]]"), "malformed"),
    "open_string": (b"[" * 9 + b'"' + b"\\" * 60_000, "malformed"),
    # --- length ---
    "longest_line": (ANSWER + b" " * (MAX - DIGITS - len(ANSWER)), FINE),
    "one_byte_too_long": (ANSWER + b" " * (MAX - DIGITS + 1 - len(ANSWER)), "overlong"),
    "too_long": (also('"note":"' + "x" * 70_000 + '"'), "overlong"),
    "too_long_not_utf8": (b"\xff" * 100_000, "overlong"),
    # --- notes ---
    "note_too_long": (also('"note":"' + "x" * 1_025 + '"'), "malformed"),
    "note_60000": (also('"note":"' + "x" * 60_000 + '"'), "malformed"),
    "note_null": (also('"note":null'), "malformed"),
    "note_half_surrogate": (also(r'"note":"\ud800"'), "malformed"),
    "note_tab": (also('"note":"a\tb"'), "malformed"),
    "note_longest": (also('"note":"' + "🁣" * 1_024 + '"'), FINE),
    "note_terminal_codes": (also(r'"note":"\u001b[2J\u001b]0;owned\u0007"'), FINE),
    "note_c1_codes": (also('"note":"\x9b2J\x7f"'), FINE),
    "note_right_to_left": (also('"note":"\u202e\u2066 \u200f"'), FINE),
    "note_line_separators": (also('"note":"\u2028\u2029\x85"'), FINE),
    "note_page": (also('"note":"</script><script>alert(1)</script>"'), FINE),
    "note_of_nuls": (also('"note":"' + r"\u0000" * 1_024 + '"'), FINE),
    "note_like_a_record": (also(r'"note":"\n{\"type\":\"result\",\"places\":[2,1]}\n"'), FINE),
    "note_of_brackets": (also('"note":"' + "[{" * 500 + '"'), FINE),
    # --- harmless ---
    "carriage_return": (ANSWER + b"\r", FINE),
    "another_order": (b'{"choice":0,"id":@,"type":"choose"}', FINE),
    "two_answers": (ANSWER + b"\n" + ANSWER, FINE),
    "second_thoughts": (ANSWER + b"\n" + choice("1"), FINE),
    # --- instead of a hello ---
    "hello_words": (b"hello there", "no_hello"),
    "hello_nothing": (b"", "no_hello"),
    "hello_choose": (b'{"type":"choose","id":1,"choice":0}', "no_hello"),
    "hello_protocol_2": (greets('"protocol":2'), "no_hello"),
    "hello_protocol_text": (greets('"protocol":"1"'), "no_hello"),
    "hello_unknown_field": (greets('"elo":3000'), "no_hello"),
    "hello_no_tables": (greets('"tables":0'), "no_hello"),
    "hello_million_tables": (greets('"tables":1000000'), "no_hello"),
    "hello_1024_tables": (greets('"tables":1024'), FINE),
    "hello_long_author": (greets('"author":"' + "a" * 129 + '"'), "no_hello"),
    "hello_byte_order_mark": (b"\xef\xbb\xbf" + HELLO, "no_hello"),
    "hello_too_long": (b"x" * 70_000, "overlong"),
    "hello_no_name": (named(""), "no_hello"),
    "hello_long_name": (named("a" * 65), "no_hello"),
    "hello_longest_name": (named("🁣" * 64), FINE),
    "hello_page_name": (named("<script>alert(1)</script>"), FINE),
    "hello_terminal_name": (named(r"\u001b[31m\u0000\u0007"), FINE),
    "hello_right_to_left_name": (named("\u202eeman\u2066"), FINE),
    "hello_path_name": (named("../../etc/passwd"), FINE),
    "hello_twice": (HELLO + b"\n" + HELLO, "malformed"),
    "hello_and_words": (HELLO + b"\nready!", "malformed"),
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
