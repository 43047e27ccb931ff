"""The review of a game beside its frames in the terminal: chances, luck and losses."""

from collections.abc import Iterator

from rich.text import Text

from arena.analysis.text import Look, row
from arena.analysis.timeline import Timeline
from arena.ui.game_review import GRADE_NAMES, GameReview, review_game

CELLS = 24
"""Cells of the bar that shows the chances of two sides."""
LUCKY = 5
"""Percent of the game from which the luck of a draw is told, as on the page."""


def review_rows(timeline: Timeline, look: Look) -> list[list[Text]]:
    """Return the rows about each moment of a replay."""
    review = review_game(timeline)
    remarks: list[list[Text]] = [[_chances(one, look)] for one in review.chances]
    for at, words in _remarks(review, look):
        remarks[at].append(words)
    return remarks


def _chances(shares: tuple[float, ...], look: Look) -> Text:
    """Return the chances of all sides; those of two with a bar between them."""
    parties = look.parties()
    whole = [round(share) for share in shares]
    whole.append(50 * len(parties) - sum(whole))
    told = [f"{name} {share} %" for name, share in zip(parties, whole, strict=True)]
    if len(told) > 2:
        return row("chances", [(words, "") for words in told], look)
    filled = round(CELLS * whole[0] / 100)
    bar = "#" * filled + "-" * (CELLS - filled)
    return row("chances", [(told[0], ""), (f"[{bar}]", "dim"), (told[1], "")], look)


def _remarks(review: GameReview, look: Look) -> Iterator[tuple[int, Text]]:
    """Yield the moments of lucky draws and of losses, each with a row."""
    for draw in review.draws:
        if abs(draw.share) >= LUCKY:
            words = f"{look.name(draw.seat)} {draw.share:+.1f} % of the game"
            yield draw.at, row("luck", [(words, "green" if draw.share > 0 else "yellow")], look)
    for one in review.decisions:
        if one.grade:
            width = f" ± {2 * one.error:.1f}" if one.error else ""
            words = f"{one.loss:.1f}{width} points: {GRADE_NAMES[one.grade]}"
            yield one.at, row("lost", [(words, "bold red")], look)
