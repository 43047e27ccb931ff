"""The list of all formats. A format that is added here can be chosen in every event."""

from typing import TypeAlias, get_args

from tournaments.formats.knockout import Knockout
from tournaments.formats.round_robin import RoundRobin
from tournaments.formats.swiss import Swiss
from tournaments.formats.tables import Gauntlet, Ladder, Matches
from tournaments.formats.tune import Tune
from tournaments.formats.versus import Versus

ChosenFormat: TypeAlias = RoundRobin | Gauntlet | Ladder | Swiss | Knockout | Versus | Matches
"""A format that a user chooses by its name."""
Format: TypeAlias = ChosenFormat | Tune
"""A format of an event; a tune is that of an event file with parameters."""

FORMATS: dict[str, ChosenFormat] = {
    form.name: form for form in (kind() for kind in get_args(ChosenFormat))
}
"""Every format that can be chosen, with its default settings, by its name in an event file."""
