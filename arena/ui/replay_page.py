"""Replays: a page that replays a game, with all hands or as one seat saw them, and its data.

A game is packed: its scenes as differences from one another in JSON, deflated, in base 64. The
scenes of the first viewer are stored as changes since the scene before; those of every other
viewer as differences from the first viewer's scene at the same moment. A page for one seat is
made from the frames of that seat alone.
"""

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import asdict, replace

from arena.analysis import text
from arena.analysis.frames import frames_for
from arena.analysis.timeline import Moment, Timeline, walk_log
from arena.logs.catalog import REPLAYS
from arena.logs.gamelog import LoggedGame
from arena.ui.emblems import emblem_numbers
from arena.ui.game_review import GameReview, Reviewed, review_game
from arena.ui.html import TABLE_SCRIPTS, generator, page
from arena.ui.scenes import Fields, GameInfo, SceneBuilder, about
from arena.valuation import LuckTerms
from protocol.codec import encode_json, printable
from protocol.errors import UserError
from protocol.records import Sitting

SCRIPT = "// {made_by}\nglobalThis.packedGame = {game};\n"
"""A script, because a page that is opened as a file may load scripts, and no other data."""


class PackedGame(Struct, frozen=True):
    """A game as a page shows it."""

    game: str
    told: str
    data: str
    """The game for the page's script."""
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
    *,
    terms: LuckTerms | None = None,
    known: Reviewed | None = None,
) -> PackedGame:
    """Return a game, packed, for everybody, with its review if wished, or as one seat saw it.

    `terms`: those of its luck; None: it is not reviewed. Raises DamagedLogError.
    """
    # Only a review looks up questions: to list them takes a third of the time of a replay.
    timeline = Timeline(logged) if terms and seat is None else None
    play = play_back(logged, timeline.moments if timeline else walk_log(logged), seat)
    if terms and timeline:
        with suppress(UserError):  # Few rules have no values.
            play = replace(play, review=review_game(timeline, terms, known))
    told = text.outcome_line(logged) if seat is None else _alone(logged, seat)
    return PackedGame(play.about.game, told, _pack(play), play.review is not None)


def _alone(logged: LoggedGame, seat: int) -> str:
    return f"Seen by seat {seat} only, {printable(logged.sitting.seats[seat])}"


def replay_page(
    title: str,
    game: PackedGame | None = None,
    links: Sequence[tuple[str, str]] = (),
    emblems: Mapping[str, int] = {},
) -> str:
    """Return the HTML of a page that replays a game; see `page` for `links`.

    Without a game it loads that of its address from the folder of replays beside it. `emblems` has
    the number of each bot's emblem in its event; without, the seats are counted.
    """
    return page(
        "replay.html.j2",
        "replay",
        title,
        styles=("table.css", "game.css", "replay.css"),
        scripts=(*TABLE_SCRIPTS, "chart.js", "review.js", "panels.js", "replay.js"),
        data={"game": game, "source": REPLAYS, "emblems": emblems},
        loads_scripts=game is None,
        links=links,
    )


def event_replay_page(entrants: Sequence[str], links: Sequence[tuple[str, str]]) -> str:
    """Return the HTML of the page that replays every game of an event, or of its site."""
    return replay_page("Replay", None, links, emblem_numbers(entrants, entrants))


def replay_script(game: PackedGame) -> str:
    """Return the script with a game that `replay_page` loads; its first line says who made it."""
    return SCRIPT.format(made_by=generator(), game=encode_json(game).decode())


def play_back(logged: LoggedGame, moments: Iterable[Moment], seat: int | None = None) -> Playback:
    """Return all scenes of a game for everybody and for each seat, or for one seat only."""
    sitting = logged.sitting
    seats = (None, *range(len(sitting.seats))) if seat is None else (seat,)
    return Playback(about(logged, seat), seats, tuple(_moments(sitting, moments, seats)))


def _moments(
    sitting: Sitting, moments: Iterable[Moment], seats: Sequence[int | None]
) -> Iterator[tuple[Fields, ...]]:
    partners = sitting.rules.deal.partners
    makers = [
        SceneBuilder(sitting.seats, sitting.seat_clocks, partners=partners, seat=one)
        for one in seats
    ]
    before: Fields = {}
    for first, *others in frames_for(moments, seats):
        scene = asdict(makers[0].scene(first))
        changed = {key: value for key, value in scene.items() if before.get(key, ...) != value}
        yield (
            changed,
            *(
                maker.differences(frame, first, scene)
                for maker, frame in zip(makers[1:], others, strict=True)
            ),
        )
        before = scene


def _pack(play: Playback) -> str:
    return base64.b64encode(zlib.compress(encode_json(play))).decode()
