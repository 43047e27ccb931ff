"""Shell completion after Tab: bots, events, logs, games, seats, rules. No function here raises."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem, split_arg_string

from arena.analysis.find import EVENT, find_seat, latest_folder, logs, name_log, require_one_game
from arena.logs.checksummed import read_lines
from arena.rules.variants import VARIANTS
from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum
from protocol.errors import UserError
from protocol.records import GameRecord
from protocol.ruleset import choices
from tournaments.plan.bot_catalog import all_bots
from tournaments.plan.scaffold import languages
from tournaments.storage.folder import Folder, load_event

MOST = 200
READ = 20_000_000
"""Bytes of logs to search for game names; more would keep the user waiting."""
SUFFIXES = (".toml", ".py", ".js", ".mjs", ".sh", ".rb", ".pl", ".lua")
"""Suffixes of the files to suggest as bots or events."""
Source = Callable[[click.Context, str], Iterable[str]]
"""A function that returns names which may continue what the user typed."""


def complete(
    *sources: Source, otherwise: str = ""
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a completer by these sources; `otherwise`: what the shell completes without a match.

    That is "file" or "dir".
    """

    def completed(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        names = dict[str, None]()
        for source in sources:
            with suppress(OSError, ValueError, UserError):
                names |= dict.fromkeys(source(context, begun))
        found = [CompletionItem(name) for name in names if name.startswith(begun)][:MOST]
        return found or ([CompletionItem(begun, type=otherwise)] if otherwise else [])

    return completed


def folders(_: click.Context, begun: str) -> Iterator[str]:
    """Yield the event folders that may continue a path."""
    above = Path(begun) if begun.endswith("/") else Path(begun).parent
    prefix = begun if begun.endswith("/") else begun[: begun.rfind("/") + 1]
    for path in sorted(above.glob(f"*/{EVENT}")):
        yield f"{prefix}{path.parent.name}"


def games(context: click.Context, _: str) -> Iterator[str]:
    """Yield the games in the log that the user named before, or of the usual event.

    Not every record is decoded.
    """
    left = READ
    for path in logs(context.params.get("log") or latest_folder()):
        for line in (one.data for one in read_lines(path)):
            left -= len(line)
            if left < 0:
                return
            if line.startswith(line_start(GameRecord)):
                with suppress(DamagedRecordError):
                    record = decode_record(strip_checksum(line))
                    if isinstance(record, GameRecord):
                        yield record.game


def typed() -> list[str]:
    """Return the words after the command.

    click does not parse them as long as an option lacks its value.
    """
    return split_arg_string(os.environ.get("COMP_WORDS", ""))[2:]


def _seats(_: click.Context, __: str) -> Iterable[str]:
    """Return the seats, by number and by entrant, of the game that the user named before."""
    named = [word.split(".")[1:] for word in typed() if word.partition(".")[0].isdecimal()]
    names = named[-1] if named else []
    return *map(str, range(len(names) or 4)), *names


def _seats_or_bots(context: click.Context, begun: str) -> Iterable[str]:
    """Return the seats of the game that the user named before, or else the bots of the event."""
    game = any(word.partition(".")[0].isdecimal() for word in typed())
    return (_seats if game else _entrants)(context, begun)


def _questions(context: click.Context, _: str) -> Iterable[str]:
    """Return the numbers of the questions in the game that the user named before."""
    from arena.analysis.timeline import Timeline

    given = context.params
    where, words = name_log(given.get("log"), given.get("game"))
    logged = require_one_game(where, words[0])
    seat = find_seat(logged, given.get("seat"))
    return [f"{one.number}" for one in Timeline(logged).questions(seat)]


def _entrants(_: click.Context, begun: str) -> Iterable[str]:
    """Return the entrants of the event or the bots that the user named, or of the usual event."""
    words = typed()
    names = [Path(word).stem for word in words if word != begun and not word.startswith("-")]
    events = [*map(Path, words)]
    with suppress(OSError, UserError):
        events += [] if names else [latest_folder()]
    for event in events:
        with suppress(OSError, UserError):
            names = [entrant.name for entrant in load_event(Folder(event)).entrants]
    return names


def _rules(_: click.Context, __: str) -> Iterable[str]:
    return *VARIANTS, *(str(path) for path in sorted(Path().glob("*.toml")))


def _bots(_: click.Context, __: str) -> Iterable[str]:
    files = (path.name for path in sorted(Path().iterdir())[:MOST] if path.suffix in SUFFIXES)
    return *all_bots(Path()), *files


complete_logs = complete(folders, otherwise="file")
complete_logs_or_games = complete(
    folders, lambda context, begun: games(context, begun) if begun else (), otherwise="file"
)
complete_games = complete(games)
complete_rules = complete(_rules, otherwise="file")
complete_choices = complete(lambda *_: (f"{choice}=" for choice in choices()))
complete_seats = complete(_seats)
complete_seats_or_bots = complete(_seats_or_bots)
complete_questions = complete(_questions)
complete_bots = complete(_bots, otherwise="file")
complete_events = complete(folders, otherwise="dir")
complete_events_or_entrants = complete(
    lambda context, begun: _entrants(context, begun) if "--separate" in typed() else (),
    folders,
    otherwise="dir",
)
complete_entrants = complete(_entrants)
complete_languages = complete(lambda *_: languages())
