"""A tune in words: a line while it runs, the sections of its report. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from arena.document.blocks import Block, Cell, Code, Column, Figure, Paragraph, Section, table
from tournaments.rating.estimate import Estimate
from tournaments.tuning.parameters import Parameter, Values, fill, value_text
from tournaments.tuning.search import Step
from tournaments.tuning.verdict import Verdict, mean_lead

FEWEST = 4
"""The fewest groups of candidates that tell a lead."""
ROWS = 10
"""The largest number of steps in the table."""
ABOUT = (
    "The gain is the lead of the later half of the candidates so far over the start values, in "
    "points a game, with the luck of the tiles taken out. It is rather too small, because they "
    "vary around the best values and began farther away. The answer comes from the check, on deals "
    "that the search never saw."
)


class Way(NamedTuple):
    """The way of a search so far."""

    parameters: Mapping[str, Parameter]
    """The parameters that are searched, by name."""
    steps: Sequence[Step]
    """The states of the search, the start included."""
    means: Sequence[float]
    """The mean lead of each group's candidates over the start values, in points a game."""
    boards_a_step: int

    @property
    def best(self) -> Values:
        """The best values so far."""
        return self.steps[-1].best

    def lead(self, step: int) -> Estimate | None:
        """Return the lead of the later half of the candidates up to a step; None of a few."""
        last = self.means[:step][-max(FEWEST, step // 2) :]
        return Estimate(*mean_lead(last)) if len(last) >= FEWEST else None


def tune_state(way: Way, boards: int) -> str:
    """Return the best values so far and their estimated gain in a line."""
    done = len(way.means)
    best = " ".join(f"{name}={value_text(one)}" for name, one in way.best.items())
    lead = way.lead(done)
    gain = f", about {_points(lead)} better than the start" if lead else ""
    return f"{done * way.boards_a_step:,} of {boards:,} boards searched: {best}{gain}."


def tune_sentence(verdict: Verdict, name: str) -> str:
    """Return the answer."""
    lead = Estimate(verdict.points, verdict.points_half_width)
    sure = f"({_points(lead)}; {verdict.boards:,} new boards, 95 %)"
    if verdict.is_better:
        by = f"{lead.text(1, '')} points a game (95 %)"
        if verdict.elo is not None:
            by += f"; {Estimate(verdict.elo, verdict.elo_half_width).text()} Elo"
        return f"**Better by {by}**: {name} with the new values, on {verdict.boards:,} new boards."
    if verdict.is_worse:
        return f"**Worse**: keep the values of {name} {sure}."
    return f"**Undecided**: keep the values of {name} {sure}."


def tune_sections(way: Way, entry: str) -> Iterator[Section]:
    """Yield the way of the search, and its values to paste."""
    done = len(way.means)
    blocks: list[Block] = []
    if done >= FEWEST:
        blocks.append(Figure(macro="tuning", value=way))
    columns = [Column("boards"), *map(Column, way.parameters), Column("gain", detail="±")]
    kept = sorted({done * at // ROWS for at in range(ROWS + 1)})
    blocks.append(table("Steps of the search", columns, [_row(way, step) for step in kept]))
    yield Section("The search", [*blocks, Paragraph(ABOUT, "faint")], id="search")
    tune = [_range_text(name, one, way.best[name]) for name, one in way.parameters.items()]
    paste: list[Block] = [
        Paragraph("The bot with the best values, for an event file:"),
        Code(fill((entry,), way.best)[0]),
        Paragraph("To tune on from there:"),
        Code("\n".join(("[tune]", *tune))),
    ]
    yield Section("The values", paste, id="values")


def _row(way: Way, step: int) -> list[str | Cell]:
    lead = way.lead(step)
    gain = (lead or Estimate(None)).cell(1)
    values = (value_text(one) for one in way.steps[step].best.values())
    return [f"{step * way.boards_a_step:,}", *values, gain]


def _points(lead: Estimate) -> str:
    return f"{lead.text(1)} points a game"


def _range_text(name: str, one: Parameter, start: float) -> str:
    parts = {"start": start, "min": one.min, "max": one.max}
    said = [f"{key} = {value_text(value)}" for key, value in parts.items()]
    said += ["integer = true"] * one.integer + ['scale = "log"'] * (one.scale == "log")
    return f"{name} = {{ {', '.join(said)} }}"
