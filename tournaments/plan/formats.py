"""The formats of an event that a user can choose, and the settings of each."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tournaments.plan.sprt_settings import MOST, Sprt

Rounds = Annotated[int, Meta(ge=1, le=1_000)]
FormatName = Literal["round-robin", "gauntlet", "ladder", "swiss", "knockout", "versus"]


class Form(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """A format: it decides who meets whom."""


class RoundRobin(Form, frozen=True, tag="round-robin"):
    """A format in which every table of entrants plays all boards."""


class Gauntlet(Form, frozen=True, tag="gauntlet"):
    """A format in which each challenger meets the field; the field does not meet itself."""

    challengers: tuple[str, ...] = ()
    """Names of the challengers; without any, the first bot."""


class Ladder(Form, frozen=True, tag="ladder"):
    """A round robin of the field, perhaps already finished, and each newcomer against the field."""

    challengers: tuple[str, ...] = ()
    """Names of the newcomers, which do not meet each other; without any, the last bot."""


class Swiss(Form, frozen=True, tag="swiss"):
    """Rounds in which entrants with similar scores meet that have met least often."""

    rounds: Rounds = 5
    """Number of rounds; each has boards of its own."""


class Knockout(Form, frozen=True, tag="knockout"):
    """An elimination tournament: the loser of a match is out. The bots are listed by seed."""

    tie_boards: Annotated[int, Meta(ge=0, le=MOST)] = 10
    """Boards that a tied match continues for; if it is still tied, the better seed advances."""


class Versus(Form, frozen=True, tag="versus"):
    """Two bots, until a test tells whether the first is better, or the boards are used up."""

    sprt: Sprt = Sprt()
    """Hypotheses and error rates of the test; its `max_boards` are the event's boards."""


Format: TypeAlias = RoundRobin | Gauntlet | Ladder | Swiss | Knockout | Versus
Static: TypeAlias = RoundRobin | Gauntlet | Ladder
"""Formats whose whole schedule is known before the first game."""


FORMATS: dict[FormatName, Format] = {
    "round-robin": RoundRobin(),
    "gauntlet": Gauntlet(),
    "ladder": Ladder(),
    "swiss": Swiss(),
    "knockout": Knockout(),
    "versus": Versus(),
}
"""Every format with its default settings."""


def name_of(form: Format) -> str:
    """Return the name of a format in an event file."""
    return str(form.__struct_config__.tag)
