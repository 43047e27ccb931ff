"""Replay pages of an event in its folder, and the links to them."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from arena.ui.replay_files import FOLDER, make_game_pages, page_name
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import PlannedGame, PlannedSitting
from tournaments.storage.folder import Folder

AT_ONCE = 1000
"""The largest number of games whose pages are made at an event's end; of more, on request.

A page costs about 20 ms of one core for each of its games, which is about what it costs us to
play a game between bots that answer at once.
"""


def addresses(plans: Iterable[PlannedSitting]) -> Mapping[str, str]:
    """Return the address of each game's replay, relative to the event's folder.

    Append `&at=12` for a moment of it, `&seat=1` for a seat's view. `boneyard replay FOLDER --html`
    makes a page that does not exist yet.
    """
    return GameIndex(plans, _address)


def _address(plan: PlannedSitting, game: PlannedGame) -> str:
    return f"{FOLDER}/{quote(page_name(plan.name, game.place))}#game={quote(game.name)}"


def make_pages(folder: Folder, games: int) -> str | None:
    """Make the pages of an event of so many games; return a sentence if they are left for later.

    Raises DamagedFileError, OSError.
    """
    if games > AT_ONCE:
        return f"Replay pages of all games: boneyard replay {folder.path} --html"
    make_game_pages(folder.logs(), folder.path / FOLDER)
    return None
