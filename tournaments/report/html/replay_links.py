"""Replay pages of an event in its folder, and the links to them."""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from arena.logs.catalog import PAGES
from arena.logs.compression import actual_path
from arena.ui.replay_files import announce_pages, page_name
from protocol.records import Result
from tournaments.plan.event import Event
from tournaments.schedule.game_index import GameIndex
from tournaments.schedule.schedule import PlannedGame, PlannedSitting, sittings
from tournaments.storage.folder import Folder
from tournaments.storage.ledger import past_sittings

SITE_PAGE = "replay.html"
"""The page of a site that replays the game that its address names."""


def addresses(plans: Iterable[PlannedSitting]) -> Mapping[str, str]:
    """Return the address of each game's replay, relative to the event's folder.

    Append `&at=12` for a moment of it, `&seat=1` for a seat's view. `boneyard replay FOLDER --html`
    makes a page that does not exist yet.
    """
    return GameIndex(plans, _address)


def _address(plan: PlannedSitting, game: PlannedGame) -> str:
    return f"{PAGES}/{quote(page_name(plan.name, game.place))}#game={quote(game.name)}"


def site_addresses(plans: Iterable[PlannedSitting]) -> Mapping[str, str]:
    """Return the address of each game's replay on a site, where one page replays all games."""
    return GameIndex(plans, lambda _, game: f"{SITE_PAGE}#game={quote(game.name)}")


def announce_replays(folder: Folder, event: Event, results: Mapping[str, Result]) -> None:
    """Write a page that says how to make each replay, where no replay is yet.

    To make a page costs about 20 ms of one core for each of its games, which is more than to play a
    game between bots that answer at once: nobody should wait for it who does not want to see it.

    Raises OSError.
    """
    plans = [*past_sittings(folder, event), *sittings(event, results)]
    logs = ((folder.log(plan.name), len(plan.games)) for plan in plans)
    played = ((log, games) for log, games in logs if actual_path(log).exists())
    announce_pages(played, folder.path / PAGES)
