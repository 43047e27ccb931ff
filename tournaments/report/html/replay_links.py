"""Where each game of an event is replayed: pages in the event's folder, and links to them."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from arena.ui.replay_files import FOLDER, make_game_pages, page_name
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import PlannedGame, PlannedSitting
from tournaments.storage.folder import Folder

AT_ONCE = 1000
"""Games of which the pages are made when an event is over; of more they are made when asked for.

A page costs about 20 ms of one core for each of its games, which is about what it costs us to
play a game between bots that answer at once.
"""


def addresses(plans: Iterable[PlannedSitting]) -> Mapping[str, str]:
    """Where each game of these sittings is replayed, relative to the event's folder, by game.

    To a moment of it leads `&at=12` behind that, to what a seat saw `&seat=1`. Where the page is
    not there yet, `boneyard replay FOLDER --html` makes it.
    """
    return GameIndex(plans, _address)


def _address(plan: PlannedSitting, game: PlannedGame) -> str:
    return f"{FOLDER}/{quote(page_name(plan.name, game.place))}#game={quote(game.name)}"


def make_pages(folder: Folder, games: int) -> str | None:
    """Make the pages of an event of so many games; a sentence if they are left for later.

    Raises DamagedFileError, OSError.
    """
    if games > AT_ONCE:
        return f"Replay pages of all games: boneyard replay {folder.path} --html"
    make_game_pages(folder.logs(), folder.path / FOLDER)
    return None
