"""Atom feeds of a league and of its bots. Pure.

An author's text in them holds no character that XML forbids: `News` has only printable ones.
"""

from collections.abc import Sequence
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from tournaments.league.pages.news import News
from tournaments.league.pages.view import bot_address

ATOM = "http://www.w3.org/2005/Atom"
TYPE = "application/atom+xml"
LONGEST = 50
"""Items of a feed."""
EPOCH = "2000-01-01T00:00:00Z"
"""The time of a feed without an item."""


def atom_feed(
    title: str, items: Sequence[News], *, address: str, own: str, page: str, root: str
) -> bytes:
    """Return a feed of the first items as XML.

    `address`: the site's on the web, with a slash, or empty: then links are relative to the feed's
    own folder, from which `root` leads to the site's. `own` and `page`: the feed and the page that
    it follows, from the site's root.
    """
    base = address or root
    feed = ElementTree.Element("feed", xmlns=ATOM)
    _add(feed, "title", title)
    _add(feed, "id", _urn(address, own))
    _add(feed, "updated", max((one.time for one in items), default=EPOCH))
    ElementTree.SubElement(feed, "link", rel="self", type=TYPE, href=base + own)
    ElementTree.SubElement(feed, "link", rel="alternate", type="text/html", href=base + page)
    _add(ElementTree.SubElement(feed, "author"), "name", "Boneyard")
    for one in items[:LONGEST]:
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
