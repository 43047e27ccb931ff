"""Draw the letters of shared previews again: `python -m tests.tools.letters`.

Chromium draws them in DejaVu Sans, whose licence lets anybody copy and embed it.
"""

import json

import numpy as np

from tests.support.browser import _browser
from tournaments.publication.picture import ALPHABET, LETTERS, LINE, TITLE, encode_png

FONTS = ((LINE, "30px DejaVu Sans"), (TITLE, "bold 54px DejaVu Sans"))
DRAW = """([text, height, font]) => {
  const canvas = document.createElement("canvas");
  let pen = canvas.getContext("2d");
  pen.font = font;
  const widths = [...text].map((letter) => Math.ceil(pen.measureText(letter).width));
  [canvas.width, canvas.height] = [widths.reduce((a, b) => a + b), height];
  pen = canvas.getContext("2d", { willReadFrequently: true });
  [pen.font, pen.textBaseline] = [font, "middle"];
  let at = 0;
  [...text].forEach((letter, n) => {
    pen.save();
    pen.beginPath();
    pen.rect(at, 0, widths[n], height);
    pen.clip();
    pen.fillText(letter, at, height / 2);
    pen.restore();
    at += widths[n];
  });
  const pixels = pen.getImageData(0, 0, canvas.width, height).data;
  return [widths, canvas.width, [...pixels].filter((_, n) => n % 4 === 3)];
}"""


def main() -> None:
    """Write letters.png: for each size a line that marks where letters begin, and the letters."""
    page = _browser().new_page()
    lines = []
    for height, font in FONTS:
        widths, width, alpha = json.loads(
            page.evaluate(f"(words) => JSON.stringify(({DRAW})(words))", [ALPHABET, height, font])
        )
        marks = np.zeros((1, width + 1), np.uint8)
        marks[0, [0, *np.cumsum(widths)]] = 255
        letters = np.array(alpha, np.uint8).reshape(height, width)
        lines.append(np.vstack([marks, np.pad(letters, ((0, 0), (0, 1)))]))
    wide = max(line.shape[1] for line in lines)
    whole = np.vstack([np.pad(line, ((0, 0), (0, wide - line.shape[1]))) for line in lines])
    LETTERS.write_bytes(encode_png(whole))


if __name__ == "__main__":
    main()
