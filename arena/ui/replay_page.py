"""Replay pages: one file that replays games, with all hands or as one seat saw them.

A game is packed: its scenes as differences from one another in JSON, deflated, in base 64. The
scenes of the first viewer are stored as changes since the scene before; those of every other
viewer as differences from the first viewer's scene at the same moment. A page for one seat is
made from the frames of that seat alone.
"""

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from arena.analysis import text
from arena.analysis.frames import frames_for
from arena.analysis.timeline import Timeline
from arena.logs.gamelog import LoggedGame
from arena.ui.game_review import GameReview, Reviewed, review_game
from arena.ui.html import TABLE_SCRIPTS, page
from arena.ui.scenes import GameInfo, SceneBuilder, about
from arena.valuation import LuckTerms
from protocol.codec import encode_json, printable
from protocol.errors import UserError

Fields = dict[str, Any]

TOO_LONG = "This game is too long for a shared page. Write its own page: {command}"


class PackedGame(Struct, frozen=True):
    """A game as a page contains it."""

    game: str
    told: str
    data: str
    """The game for the page's script; empty if the game is too long, and then `told` says so."""
    reviewed: bool = False


class Playback(Struct, frozen=True):
    """All that a page shows of a game."""

    about: GameInfo
    seats: tuple[int | None, ...]
    """The viewers; None is everybody."""
    moments: tuple[tuple[Fields, ...], ...]
    """For each moment, what changed for the first viewer and how the others differ from it."""
    review: GameReview | None = None


def pack_game(
    logged: LoggedGame,
    seat: int | None = None,
    most: int | None = None,
    *,
    terms: LuckTerms | None = None,
    known: Reviewed | None = None,
) -> PackedGame:
    """Return a game, packed, for everybody, with its review if wished, or as one seat saw it.

    `terms`: those of its luck; None: it is not reviewed. With a limit of `most` bytes the bots'
    notes may be left out. Raises DamagedLogError.
    """
    timeline = Timeline(logged)
    play = play_back(timeline, seat)
    if terms and seat is None:
        with suppress(UserError):  # Few rules have no values.
            play = msgspec.structs.replace(play, review=review_game(timeline, terms, known))
    data = _pack(play)
    if most is not None and len(data) > most:
        data = _pack(_without_notes(play))
    told = text.outcome_line(logged) if seat is None else _alone(logged, seat)
    if most is not None and len(data) > most:
        command = f"boneyard replay LOG {printable(logged.game.game)} --html"
        return PackedGame(play.about.game, f"{told}. {TOO_LONG.format(command=command)}", "")
    return PackedGame(play.about.game, told, data, play.review is not None)


def _alone(logged: LoggedGame, seat: int) -> str:
    return f"Seen by seat {seat} only, {printable(logged.sitting.seats[seat])}"


def replay_page(
    title: str,
    games: Sequence[PackedGame],
    links: Sequence[tuple[str, str]] = (),
    source: str = "",
    emblems: Mapping[str, int] = {},
) -> str:
    """Return the HTML of a page that replays these games; see `page` for `links`.

    `emblems` has the number of each bot's emblem in its event; without, the seats are counted.
    With a `source`, a folder beside the page, it loads the one game that its address names.
    """
    return page(
        "replay.html.j2",
        "replay",
        title,
        styles=("table.css", "game.css", "replay.css"),
        scripts=(*TABLE_SCRIPTS, "chart.js", "review.js", "panels.js", "replay.js"),
        data={"games": games, "source": source, "emblems": emblems},
        connect="'self'" if source else "'none'",
        links=links,
    )


def play_back(timeline: Timeline, seat: int | None = None) -> Playback:
    """Return all scenes of a game for everybody and for each seat, or for one seat only."""
    names = timeline.logged.sitting.seats
    seats = (None, *range(len(names))) if seat is None else (seat,)
    return Playback(about(timeline.logged, seat), seats, tuple(_moments(timeline, seats)))


def _moments(timeline: Timeline, seats: Sequence[int | None]) -> Iterator[tuple[Fields, ...]]:
    sitting = timeline.logged.sitting
    partners = sitting.rules.deal.partners
    makers = [
        SceneBuilder(sitting.seats, sitting.seat_clocks, partners=partners, seat=one)
        for one in seats
    ]
    before: Fields = {}
    for shown in frames_for(timeline.moments, seats):
        first, *others = (
            msgspec.to_builtins(maker.scene(frame))
            for maker, frame in zip(makers, shown, strict=True)
        )
        yield _changes(before, first), *(_changes(first, other) for other in others)
        before = first


def _changes(before: Fields, after: Fields) -> Fields:
    return {key: value for key, value in after.items() if key not in before or before[key] != value}


def _pack(play: Playback) -> str:
    return base64.b64encode(zlib.compress(encode_json(play))).decode()


def _without_notes(play: Playback) -> Playback:
    """Return the playback without the bots' notes, which a bot can make as long as it likes."""
    remarks = (*play.about.remarks, "The bots' notes are too long and are left out.")
    moments = tuple(tuple(map(_bare, moment)) for moment in play.moments)
    about = msgspec.structs.replace(play.about, remarks=remarks)
    return msgspec.structs.replace(play, about=about, moments=moments)


def _bare(fields: Fields) -> Fields:
    asked = fields.get("asked")
    return {**fields, "asked": {**asked, "note": ""}} if asked else fields
