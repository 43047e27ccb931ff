"""Where each game of an event is replayed: pages in the event's folder, and links to them."""

from collections.abc import Iterable
from urllib.parse import quote

from tournaments.schedule import PlannedSitting

FOLDER = "replays"
"""The folder of the pages, in the event's."""
GAMES_A_PAGE = 25
"""Games of a sitting that share a page, so that no page grows without bound."""


def addresses(plans: Iterable[PlannedSitting]) -> dict[str, str]:
    """Where each game of these sittings is replayed, relative to the event's folder, by game.

    To a moment of it leads `&at=12` behind that, to what a seat saw `&seat=1`. Where the page is
    not there yet, `boneyard replay FOLDER --html` makes it.
    """
    return {
        game.name: f"{FOLDER}/{quote(page_name(plan.name, game.number))}#game={quote(game.name)}"
        for plan in plans
        for game in plan.games
    }


def page_name(sitting: str, number: int) -> str:
    """The file that replays the game of this number, from 1, in a sitting."""
    part = (number - 1) // GAMES_A_PAGE
    return f"{sitting}.html" if part == 0 else f"{sitting}-{part + 1}.html"
