"""The crash that a bot's stderr names."""

import pytest

from arena.logs.gamelog import crash_line, name_crash


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
