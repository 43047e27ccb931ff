"""The program's own streams: closed ones, and those whose encoding lacks a character."""

import codecs
import io
import os
import sys
import unicodedata

PLAIN = {
    **{"±": "+-", "−": "-", "–": "-", "—": "-", "×": "x", "·": ".", "…": "...", "•": "*"},
    **{"→": "->", "←": "<-", "≤": "<=", "≥": ">=", "½": "1/2", "“": '"', "”": '"', "’": "'"},
    **{"│": "|", "┃": "|", "─": "-", "━": "-", "✓": "v", "✗": "x", "µ": "u", "¼": "1/4"},
}
"""Characters of ours, as an encoding without them writes them."""
PLAINLY = "boneyard-plain"
"""Our handler of characters that an encoding lacks, by the name that streams know it by."""


def open_streams() -> None:
    """Open those of stdin, stdout and stderr that are closed, and make none fail on a character.

    To be called before any file is opened: the system would give a file the number of a closed
    stream, and a bot's program would write its stderr into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _open_nothing(number, name)
    codecs.register_error(PLAINLY, _write_plainly)
    for stream in (sys.stdout, sys.stderr):
        # UTF-8 lacks nothing, and keeps the bytes of a file's name that are no text.
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.startswith("utf"):
            stream.reconfigure(errors=PLAINLY)


def drop_unwritten() -> None:
    """Drop what stderr did not take, such as on a full disk: at its end Python would fail by it."""
    try:
        sys.stderr.flush()
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stderr.fileno())
        os.close(nothing)


def _open_nothing(number: int, name: str) -> None:
    """Open a stream from which nothing comes, and into which all goes."""
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, os.O_RDWR)  # The lowest free number: this very one.
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        os.set_inheritable(number, True)
    setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115 - it stays open


def _write_plainly(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for characters that an encoding lacks, and the place behind them."""
    assert isinstance(error, UnicodeEncodeError)
    words = "".join(map(_plain, error.object[error.start : error.end]))
    return words, error.end


def _plain(character: str) -> str:
    """Return a character in ASCII: ours by the table, letters without accents, `?` for others."""
    if character in PLAIN:
        return PLAIN[character]
    bare = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    drawn = {0x25: "-", 0x258: "#", 0x259: "#"}  # Boxes, and blocks of bars.
    return bare or drawn.get(ord(character) >> 4) or drawn.get(ord(character) >> 8, "?")
