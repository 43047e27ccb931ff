"""The picture that stands for a site where its address is shared: the result and the ratings. Pure.

It has the size that such previews ask for. Letters come from `letters.png`, drawn beforehand
(`tests/tools/letters.py`), and nothing but numpy and zlib is needed.
"""

import struct
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tournaments.rating.tables import Pool
from tournaments.report.html.forest import Interval, place_intervals
from tournaments.report.ratings.standings import write_elo

SIZE = (1200, 630)
"""Width and height, in pixels."""
EDGE = 64
"""Pixels that stay free on either side."""
LETTERS = Path(__file__).with_name("letters.png")
ALPHABET = "".join(map(chr, range(32, 127))) + "–±−…½"
"""The letters of the two lines of `letters.png`; in their place others are question marks."""
LINE, TITLE = 44, 76
"""Heights of a line of text and of a title."""
ROWS = 8
"""The largest number of lines: one for each bot, the last perhaps for all others."""
NAME, FIGURE = 330, 700
"""Widths of the names and of the figure."""
PAPER, INK, FAINT, RULE = (0xFAF8F3, 0x1D2227, 0x59616C, 0xDCD7CB)
COLOURS = (0x0072B2, 0xC44900, 0x00805F, 0xA0488A, 0x856800, 0x4A4F57, 0x3A47B8, 0x8C2F39)
"""The colours of the emblems on light pages; see base.css."""
SIGNATURE = b"\x89PNG\r\n\x1a\n"

Pixels = NDArray[np.uint8]


class Letters(NamedTuple):
    """The letters of one size, side by side."""

    pixels: Pixels
    """From 0, empty, to 255."""
    starts: list[int]
    """The column at which each letter begins, and the end of the last."""


def standings_picture(
    title: str, summary: str, pools: Sequence[Pool], numbers: Sequence[str]
) -> bytes:
    """Return a PNG with the title, the result in a sentence, and the ratings of the best bots.

    Of several pools it shows the first; `numbers` has the event's entrants in the order of their
    emblems.
    """
    image = np.empty((SIZE[1], SIZE[0], 3), np.uint8)
    image[:] = _rgb(PAPER)
    _write(image, EDGE, 34, "Boneyard", FAINT)
    _write(image, EDGE, 78, _cut(title, TITLE), INK, TITLE)
    for at, line in enumerate(_lines(summary)):
        _write(image, EDGE, 158 + at * LINE, line, INK)
    for pool in pools[:1]:
        _draw_ratings(image, pool, {name: at for at, name in enumerate(numbers)})
    return encode_png(image)


def _draw_ratings(image: Pixels, pool: Pool, numbers: dict[str, int]) -> None:
    """Draw the best bots with the intervals of their ratings, as the report does."""
    forest, top = place_intervals(pool), 262
    shown = ROWS if len(pool.entrants) <= ROWS else ROWS - 1
    best = list(zip(pool.entrants, forest.rows, strict=True))[:shown]
    left = EDGE + NAME
    bottom = top + len(best) * LINE
    for tick in forest.ticks:
        at = _along(left, tick.at)
        image[top:bottom, at : at + 2] = _rgb(RULE)
    for row, (rating, interval) in enumerate(best):
        middle = top + row * LINE + LINE // 2
        colour = COLOURS[numbers.get(rating.name, row) % len(COLOURS)]
        _disc(image, EDGE + 10, middle, 10, colour)
        _write(image, EDGE + 34, middle - LINE // 2, _cut(rating.name, LINE, NAME - 50), INK)
        _draw_interval(image, left, middle, interval, colour)
        elo = write_elo(rating)
        text = f"{elo.text} ±{elo.detail}" if elo.detail else elo.text
        text = text.replace("-", "−")
        _write(image, SIZE[0] - EDGE - _width(text, LINE), middle - LINE // 2, text, INK)
    if left_out := len(pool.entrants) - len(best):
        _write(image, EDGE, bottom, f"and {left_out} more", FAINT)


def _draw_interval(image: Pixels, left: int, middle: int, interval: Interval, colour: int) -> None:
    low, high = _along(left, interval.low), _along(left, interval.high)
    image[middle - 3 : middle + 3, low : max(high, low + 2)] = _rgb(colour)
    if interval.middle:
        _disc(image, _along(left, interval.middle), middle, 9, colour)


def _along(left: int, percent: str) -> int:
    """Return the column of a place in the figure."""
    return left + round((FIGURE - NAME // 2) * float(percent.rstrip("%")) / 100)


def _disc(image: Pixels, x: int, y: int, radius: int, colour: int) -> None:
    rows, columns = np.ogrid[-radius : radius + 1, -radius : radius + 1]
    part = image[y - radius : y + radius + 1, x - radius : x + radius + 1]
    part[rows**2 + columns**2 <= radius**2] = _rgb(colour)


def _write(image: Pixels, x: int, y: int, text: str, colour: int, height: int = LINE) -> None:
    """Write a line of text, as far as there is room; its upper left corner is at x, y."""
    letters = _letters()[height]
    for letter in text:
        place = _place(letter)
        glyph = letters.pixels[:, letters.starts[place] : letters.starts[place + 1]]
        glyph = glyph[:, : max(0, SIZE[0] - x)]
        part = image[y : y + height, x : x + glyph.shape[1]].astype(np.int32)
        shade = glyph[:, :, None].astype(np.int32)
        mixed = (part * (255 - shade) + _rgb(colour).astype(np.int32) * shade) // 255
        image[y : y + height, x : x + glyph.shape[1]] = mixed.astype(np.uint8)
        x += glyph.shape[1]


def _lines(text: str) -> list[str]:
    """Return a text in at most two lines."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and _width(longer, LINE) > SIZE[0] - 2 * EDGE:
            lines.append(word)
        else:
            lines[-1] = longer
    return [*lines[:1], *([_cut(" ".join(lines[1:]), LINE)] if lines[1:] else [])]


def _cut(text: str, height: int, room: int = SIZE[0] - 2 * EDGE) -> str:
    """Shorten a text to the room that there is, in pixels."""
    if _width(text, height) <= room:
        return text
    while text and _width(f"{text}…", height) > room:
        text = text[:-1]
    return f"{text}…"


def _width(text: str, height: int) -> int:
    starts = _letters()[height].starts
    return sum(starts[_place(letter) + 1] - starts[_place(letter)] for letter in text)


def _place(letter: str) -> int:
    found = ALPHABET.find(letter)
    return found if found >= 0 else ALPHABET.index("?")


def _rgb(colour: int) -> Pixels:
    return np.frombuffer(colour.to_bytes(3, "big"), np.uint8)


# --- PNG ---


def encode_png(pixels: Pixels) -> bytes:
    """Write pixels as PNG: grey if they have two dimensions, else red, green and blue."""
    height, width = pixels.shape[:2]
    lines = np.pad(pixels.reshape(height, -1), ((0, 0), (1, 0)))  # Each begins with its filter, 0.
    head = struct.pack(">IIBBBBB", width, height, 8, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


@cache
def _letters() -> dict[int, Letters]:
    """Return the letters by the height of their line; the file is as `encode_png` wrote it."""
    data = LETTERS.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    (size,) = struct.unpack(">I", data[33:37])
    whole = np.frombuffer(zlib.decompress(data[41 : 41 + size]), np.uint8)
    lines = whole.reshape(height, width + 1)[:, 1:]
    found, at = {}, 0
    for line in (LINE, TITLE):
        starts = np.flatnonzero(lines[at]).tolist()
        found[line] = Letters(lines[at + 1 : at + 1 + line], starts)
        at += 1 + line
    return found
