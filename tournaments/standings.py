"""The tables of an event as rows of text: made once, shown in the terminal and in the report."""

from collections.abc import Sequence

from tournaments.ratings import Pool, Rating

COLUMNS = ("#", "bot", "Elo", "±", "games", "score", "margin", "±", "fouls")
Rows = list[tuple[str, ...]]


def table(pool: Pool) -> Rows:
    """A row for each entrant, best first, in the order of COLUMNS."""
    return [_row(place, rating) for place, rating in enumerate(pool.entrants, 1)]


def _row(place: int, rating: Rating) -> tuple[str, ...]:
    best, worst = rating.ranks
    rank = f"{place}" if best == worst else f"{place} ({best}–{worst})"
    return (
        rank,
        rating.name,
        f"{rating.bound}{rating.elo:+.0f}",
        f"{rating.half_width:.0f}",
        f"{rating.games}",
        f"{rating.score:.1%}",
        f"{rating.margin:+.1f}",
        "" if rating.margin_half_width is None else f"{rating.margin_half_width:.1f}",
        f"{rating.fouls}",
    )


def crosstable(pool: Pool) -> tuple[tuple[str, ...], Rows]:
    """Head and rows: the share of points that the row's entrant took off the column's."""
    names = [rating.name for rating in pool.entrants]
    rows = [
        (name, *(_share(cell.games, cell.score) for cell in cells))
        for name, cells in zip(names, pool.crosstable, strict=True)
    ]
    return ("", *names), rows


def _share(games: int, score: float) -> str:
    return f"{score / games:.0%}" if games else "·"


def likelihoods(pool: Pool) -> tuple[tuple[str, ...], Rows]:
    """Head and rows: how likely it is that the row's entrant is the better one."""
    names = [rating.name for rating in pool.entrants]
    rows: Rows = [
        (name, *("·" if own == other else f"{likely:.1%}" for other, likely in enumerate(line)))
        for own, (name, line) in enumerate(zip(names, pool.los, strict=True))
    ]
    return ("", *names), rows


def seat_advantages(pool: Pool) -> list[str]:
    """One sentence for each seat whose advantage can be told."""
    return [
        f"Seat {seat.seat} is worth {seat.elo:+.0f} ± {seat.half_width:.0f} Elo over the last seat."
        for seat in pool.seats
    ]


def markdown(head: Sequence[str], rows: Rows) -> list[str]:
    """A table as Markdown, the first two columns to the left."""
    rule = ["---" if column < 2 else "---:" for column in range(len(head))]
    return [_line(head), _line(rule), *(_line(row) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
