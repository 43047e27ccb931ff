"""The news of a league, item by item, for its pages, and as Atom feeds. Pure."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from protocol.codec import printable
from tournaments.league.pages.view import LeagueView, bot_address
from tournaments.league.records import Admitted, AnyEntry, Benched, Refused
from tournaments.league.weekly_report import days_of

ATOM = "application/atom+xml"
LONGEST = 500
"""The largest length of an item's words, in characters."""
FEED_ITEMS = 50
"""Items of a feed."""
EPOCH = "2000-01-01T00:00:00Z"
"""The time of a feed without an item."""

Kind = Literal["admitted", "refused", "left", "benched", "rank", "worse"]


class News(NamedTuple):
    """Something that happened to a bot."""

    time: str
    """The time, as in the register."""
    bot: str
    kind: Kind
    title: str
    """A sentence, without its stop."""
    words: str
    """More, which may hold an author's words, all printable; empty if there is none."""
    id: str
    """A name that no other item has, and that stays."""


def league_news(view: LeagueView) -> list[News]:
    """Return all that happened, the latest first."""
    items = [item for entry in view.data.register for item in _entry_news(entry)]
    items += [*_regression_news(view), *_rank_news(view)]
    return sorted(items, key=lambda one: (one.time, one.id), reverse=True)


def _entry_news(entry: AnyEntry) -> Iterator[News]:
    bot, words = entry.bot, ""
    kind: Kind = "left"
    match entry:
        case Admitted(house=True):
            return
        case Admitted():
            kind = "admitted"
            first = entry.version == bot
            title = f"{bot} joined the league" if first else f"{entry.version} was admitted"
            words = f"“{entry.about}”" if entry.about else ""
        case Refused():
            kind, title, words = "refused", f"A push of {bot} was refused", entry.why
        case Benched():
            kind, words = "benched", entry.why
            title = f"{entry.version} is benched in {entry.division} until it changes"
        case _:
            title = f"{bot} was withdrawn"
    # The bot's page has them all.
    safe = printable(words.strip().split("\n")[0].rstrip(":"), LONGEST)
    yield News(entry.time, bot, kind, title, safe, f"{kind} {entry.time} {bot}")


def _regression_news(view: LeagueView) -> Iterator[News]:
    for division in view.divisions:
        for one in division.table.regressions:
            words = "" if one.lead is None else f"{one.lead:+.0f} ± {one.half_width or 0:.0f} Elo."
            if admitted := view.data.versions.get(one.newer):
                title = f"{one.sentence} in {division.title}"
                key = f"worse {division.name} {one.newer}"
                yield News(admitted.time, one.bot, "worse", title, words, key)


def _rank_news(view: LeagueView) -> Iterator[News]:
    for division in view.divisions:
        for (_, before), (week, after) in pairwise(division.past):
            for bot, rank in after.items():
                if (was := before.get(bot, rank)) != rank:
                    way = "rose" if rank < was else "fell"
                    title = f"{bot} {way} from place {was} to {rank} in {week}"
                    key = f"rank {division.name} {week} {bot}"
                    time = f"{days_of(week)[1]}T23:59:59Z"
                    yield News(time, bot, "rank", title, f"In {division.title}.", key)


def atom_feed(
    title: str, items: Sequence[News], *, address: str, own: str, page: str, root: str
) -> bytes:
    """Return a feed of the first items as XML.

    `address`: the site's on the web, with a slash, or empty: then links are relative to the feed's
    own folder, from which `root` leads to the site's. `own` and `page`: the feed and the page that
    it follows, from the site's root.
    """
    base = address or root
    feed = ElementTree.Element("feed", xmlns="http://www.w3.org/2005/Atom")
    _add(feed, "title", title)
    _add(feed, "id", _urn(address, own))
    _add(feed, "updated", max((one.time for one in items), default=EPOCH))
    ElementTree.SubElement(feed, "link", rel="self", type=ATOM, href=base + own)
    ElementTree.SubElement(feed, "link", rel="alternate", type="text/html", href=base + page)
    _add(ElementTree.SubElement(feed, "author"), "name", "Boneyard")
    for one in items[:FEED_ITEMS]:
        entry = ElementTree.SubElement(feed, "entry")
        _add(entry, "title", one.title)
        _add(entry, "id", _urn(address, one.id))
        _add(entry, "updated", one.time)
        ElementTree.SubElement(entry, "link", href=base + bot_address(one.bot))
        _add(entry, "content", one.words)
    ElementTree.indent(feed, " ")
    text: str = ElementTree.tostring(feed, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = text


def _urn(address: str, key: str) -> str:
    return uuid5(NAMESPACE_URL, f"{address} {key}").urn
