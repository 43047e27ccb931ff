"""The crash that a bot's stderr names."""

import pytest

from arena.analysis.crash import crash_line, name_crash


@pytest.mark.parametrize(
    ("stderr", "named_crash"),
    [
        ("Traceback:\n  File x\nKeyError: 'tile'\n", "KeyError: 'tile'"),
        ("/bot.js:3\n\nTypeError: no\n    at Object.<anonymous>\n\nNode.js v20", "TypeError: no"),
        ("thread 'main' (7) panicked at src/main.rs:3:5:\nno", None),
        ("panic: runtime error: index out of range\n\ngoroutine 1", None),
        ('Exception in thread "main" java.lang.Error: x\n\tat Bot.main', None),
        ("thinking\nError: rate was 0.5? no\nall well", "Error: rate was 0.5? no"),
        ("no idea at bot.pl line 1, <STDIN> line 3.\n", None),
        ("no idea at bot.pl line 1.\n", None),
        ("lua5.4: bot.lua:3: attempt to index a nil value\nstack traceback:\n\t[C]: in ?", None),
        ("/usr/bin/env: 'python3\\r': No such file or directory\nuse -S", None),
        ("python3: can't open file '/x/nothere.py': [Errno 2] No such file\n", None),
        ("looking at line 3.", ""),
        ("all well", ""),
    ],
)
def test_a_crash_is_found_in_a_stderr(stderr: str, named_crash: str | None) -> None:
    assert crash_line(stderr) == (stderr.partition("\n")[0] if named_crash is None else named_crash)


@pytest.mark.parametrize(
    ("stderr", "crash"),
    [
        (
            'Traceback (most recent call last):\n  File "/bots/bot.py", line 9, in <module>\n'
            "    retrun = choose(message)\n"
            '  File "/usr/lib/python3.11/json/decoder.py", line 355, in raw_decode\n'
            "NameError: name 'choose' is not defined\n",
            "NameError: name 'choose' is not defined (bot.py, line 9)",
        ),
        (
            "file:///bots/bot.mjs:7\n    chose();\n    ^\n\nReferenceError: chose is not defined\n"
            "    at answer (file:///bots/bot.mjs:7:5)\n    at file:///bots/bot.mjs:20:1\n\n"
            "Node.js v20.20.2\n",
            "ReferenceError: chose is not defined (bot.mjs, line 7)",
        ),
        ("thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds\n", None),
        ("bot: out of luck\n", "bot: out of luck"),
        ("", ""),
    ],
)
def test_crash_is_named_with_its_place(stderr: str, crash: str | None) -> None:
    expected = crash_line(stderr) if crash is None else crash
    assert name_crash(stderr) == expected
    assert name_crash(stderr.replace("\n", "\\n")) == expected  # as a log has it
