"""The sequential test in words: a line while it runs, a section of the report after. Pure."""

from collections.abc import Sequence

from msgspec.structs import replace

from arena.document.blocks import Block, Code, Column, Figure, Media, Paragraph, table
from arena.rules.english import count_in_digits
from tournaments.rating.sprt import MOST, Measure, Sprt, SprtStep, answer, boards_still_needed

UNITS: dict[Measure, str] = {"elo": "Elo", "nelo": "normalised Elo", "points": "points a game"}
"""Names of the hypotheses' units."""
GAMES_A_BOARD = 2
"""Games on a board: two sides have two rotations, if each is one bot."""
BARS = "▁▂▃▄▅▆▇█"
WIDTH = 60
"""The largest width of a sparkline, in characters."""
ROWS = 8
"""The largest number of steps in the table."""

FOULS = (
    " A game that ended by a foul counts as lost by the target, or by the actual margin if that "
    "was larger."
)

LUCK = (
    " The luck of the tiles is taken out of every game, with a constant weight. This changes no "
    "expectation, and mostly fewer boards are needed."
)


def sprt_state(settings: Sprt, steps: Sequence[SprtStep]) -> str:
    """Return the state of the test in one line."""
    if not steps:
        return "no board is complete"
    last, (low, high) = steps[-1], settings.bounds
    verdict = answer(settings, steps)
    if verdict != "undecided":
        return f"decided: {'yes' if verdict == 'H1' else 'no'}"
    side, bound = ("yes", high) if last.llr >= 0 else ("no", low)
    line = f"leaning {side} ({abs(last.llr):.1f} of {abs(bound):.1f})"
    if last.boards == settings.max_boards:
        return f"{line}, undecided"
    return f"{line}, about {GAMES_A_BOARD * boards_still_needed(settings, last)} more games"


def sprt_blocks(settings: Sprt, steps: Sequence[SprtStep], one: str, other: str) -> list[Block]:
    """Return a test of `one` against another in a report: the answer, the path, a table."""
    so_far = sprt_sentence(settings, steps, one, other)
    made: list[Block] = [
        Paragraph(f"**{so_far}**", media=Media.MARKDOWN),
        Paragraph(describe_question(settings, one)),
    ]
    if steps:
        caption = "The log-likelihood ratio, from the bound of H0 (▁) to that of H1 (█):"
        rows = [
            (f"{step.boards}", f"{step.llr:+.2f}", f"{step.estimate:+.1f}")
            for step in subsample(steps, ROWS)
        ]
        columns = [*map(Column, ("boards", "LLR", UNITS[settings.measure]))]
        made += (
            Paragraph(caption, media=Media.MARKDOWN),
            Code(sparkline(settings, steps), media=Media.MARKDOWN),
            Figure(macro="walk", value=(settings, steps, so_far)),
            table("Steps of the test", columns, rows),
        )
    return made


def sprt_sentence(settings: Sprt, steps: Sequence[SprtStep], one: str, other: str) -> str:
    """Return the answer, or a sentence that there is none yet."""
    boards = steps[-1].boards if steps else 0
    verdict = answer(settings, steps)
    if verdict == "H1":
        sure = _after(settings, boards, settings.alpha)
        return f"Yes: {one} is {_more(settings)} {other} ({sure})."
    if verdict == "H0":
        sure = _after(settings, boards, settings.beta)
        return f"No: {one} is {_less(settings)} {other} ({sure})."
    played = f"{count_in_digits(boards, 'board')} played"
    if boards == settings.max_boards:
        played += f", as many as the event allows{_more_boards(settings, steps)}"
    elif steps:
        played += f"; about {boards_still_needed(settings, steps[-1]):,} more would decide"
    return f"Undecided whether {one} is better than {other}: {played}."


def _more_boards(settings: Sprt, steps: Sequence[SprtStep]) -> str:
    """Return the boards that an event would need that allows more."""
    needed = boards_still_needed(replace(settings, max_boards=MOST), steps[-1])
    if not 0 < needed < MOST - steps[-1].boards:
        return ""
    return f"; about {needed:,} more would decide (--boards {steps[-1].boards + needed})"


def _more(settings: Sprt) -> str:
    """Return a lead above that under H0 in words."""
    lead = f"{abs(settings.h0):g} {UNITS[settings.measure]}"
    if settings.h0 < 0:
        return f"less than {lead} worse than"
    return f"more than {lead} better than" if settings.h0 else "better than"


def _less(settings: Sprt) -> str:
    """Return a lead below that under H1 in words."""
    lead = f"{abs(settings.h1):g} {UNITS[settings.measure]}"
    if settings.h1 > 0:
        return f"not {lead} better than"
    return f"more than {lead} worse than" if settings.h1 else "worse than"


def _after(settings: Sprt, boards: int, error: float) -> str:
    """Return the boards and the confidence of an answer."""
    luck = ", luck taken out" * settings.without_luck
    return f"{count_in_digits(boards, 'board')}, {100 * (1 - error):g} %{luck}"


def describe_question(settings: Sprt, one: str) -> str:
    """Return the hypotheses and the error rates in a sentence."""
    return (
        f"H0: {one} leads by {settings.h0:g} {UNITS[settings.measure]}, or less. H1: by "
        f"{settings.h1:g}, or more. H1 is wrongly accepted with probability {settings.alpha:g}, "
        f"H0 with {settings.beta:g}. The test decides after {settings.min_boards} boards at the "
        f"earliest and plays at most {settings.max_boards}.{FOULS * (settings.measure == 'points')}"
        f"{LUCK * settings.without_luck}"
    )


def sparkline(settings: Sprt, steps: Sequence[SprtStep]) -> str:
    """Draw the walk in at most 60 characters, by the ratio's place between the bounds."""
    (low, high), most = settings.bounds, len(BARS) - 1
    heights = (len(BARS) * (one.llr - low) / (high - low) for one in subsample(steps, WIDTH))
    return "".join(BARS[min(max(int(height), 0), most)] for height in heights)


def subsample(steps: Sequence[SprtStep], most: int) -> list[SprtStep]:
    """Return at most so many of the steps, evenly spread, the last among them."""
    size = min(most, len(steps))
    return [steps[len(steps) * (place + 1) // size - 1] for place in range(size)]
