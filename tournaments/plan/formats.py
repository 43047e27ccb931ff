"""The formats of an event: what a user may choose between, and what each choice says."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from tournaments.plan.sprt_settings import MOST, Sprt

Rounds = Annotated[int, Meta(ge=1, le=1_000)]
FormatName = Literal["round-robin", "gauntlet", "ladder", "swiss", "knockout", "versus"]


class Form(Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """How it is decided who meets whom."""


class RoundRobin(Form, frozen=True, tag="round-robin"):
    """Every table of entrants plays all boards."""


class Gauntlet(Form, frozen=True, tag="gauntlet"):
    """Each challenger meets the field; the field does not meet itself."""

    challengers: tuple[str, ...] = ()
    """Names of the challengers; without any, the first bot."""


class Ladder(Form, frozen=True, tag="ladder"):
    """A round robin of the field, which may be over, and each challenger against the field."""

    challengers: tuple[str, ...] = ()
    """Names of the newcomers, who do not meet each other; without any, the last bot."""


class Swiss(Form, frozen=True, tag="swiss"):
    """Rounds, in each of which those meet who stand close and have met least."""

    rounds: Rounds = 5
    """Rounds; each has boards of its own."""


class Knockout(Form, frozen=True, tag="knockout"):
    """Who loses a match is out; seeded in the order in which the bots are listed."""

    tie_boards: Annotated[int, Meta(ge=0, le=MOST)] = 10
    """Boards that a tied match goes on for; if it is still tied, the better seed goes on."""


class Versus(Form, frozen=True, tag="versus"):
    """Two bots, until it is known whether the first is better, or the boards are used up."""

    sprt: Sprt = Sprt()
    """What is asked, and how sure the answer must be; its `max_boards` are the event's boards."""


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
"""Every format as it is when nothing more is said."""


def name_of(form: Format) -> str:
    """What the format is called in an event file."""
    return str(form.__struct_config__.tag)
