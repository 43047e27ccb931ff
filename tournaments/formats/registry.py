"""The list of all formats. A format that is added here can be chosen in every event."""

from typing import TypeAlias, get_args

from tournaments.formats.gauntlet import Gauntlet
from tournaments.formats.knockout import Knockout
from tournaments.formats.ladder import Ladder
from tournaments.formats.round_robin import RoundRobin
from tournaments.formats.swiss import Swiss
from tournaments.formats.versus import Versus

Format: TypeAlias = RoundRobin | Gauntlet | Ladder | Swiss | Knockout | Versus

FORMATS: dict[str, Format] = {form.name: form for form in (kind() for kind in get_args(Format))}
"""Every format with its default settings, by its name in an event file."""
