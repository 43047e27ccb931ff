"""Shell completion after Tab: bots, events, logs, games, seats, rules. No function here raises."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem, split_arg_string

MOST = 200
"""The largest number of suggestions."""
READ = 20_000_000
"""Bytes of logs to search for game names; more would keep the user waiting."""


def offered(names: Iterable[str], begun: str) -> list[CompletionItem]:
    """Return the names that begin with what the user typed."""
    return [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(begun)][:MOST]


def or_files(items: list[CompletionItem], begun: str) -> list[CompletionItem]:
    """Return the items or, if there is none, a request for file names from the shell."""
    return items or [CompletionItem(begun, type="file")]


def complete_logs(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete an event's folder; without a match, any file."""
    return or_files(offered(folders(begun), begun), begun)


def complete_logs_or_games(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Complete an event's folder, or a game of the default one; without a match, any file."""
    played = complete_games(context, parameter, begun) if begun else []
    return or_files(offered(folders(begun), begun) + played, begun)


def folders(begun: str) -> Iterator[str]:
    """Yield the event folders that may continue a path."""
    from arena.analysis.find import EVENT

    with suppress(OSError, ValueError):
        above = Path(begun) if begun.endswith("/") else Path(begun).parent
        prefix = begun if begun.endswith("/") else begun[: begun.rfind("/") + 1]
        for path in sorted(above.glob(f"*/{EVENT}")):
            yield f"{prefix}{path.parent.name}"


def complete_games(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete a game's name from the log that the user named before."""
    from arena.analysis.find import latest_folder
    from protocol.errors import UserError

    with suppress(OSError, UserError):
        return offered(games(context.params.get("log") or latest_folder()), begun)
    return []


def games(log: Path) -> Iterator[str]:
    """Yield the names of the games in a log or folder, without decoding every record."""
    from arena.analysis.find import logs
    from arena.logs.checksummed import read_lines
    from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum
    from protocol.records import GameRecord

    left = READ
    for path in logs(log):
        for line in (one.data for one in read_lines(path)):
            left -= len(line)
            if left < 0:
                return
            if line.startswith(line_start(GameRecord)):
                with suppress(DamagedRecordError):
                    record = decode_record(strip_checksum(line))
                    if isinstance(record, GameRecord):
                        yield record.game


def complete_rules(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete a named game or a rules file."""
    from arena.rules.variants import VARIANTS

    own = (str(path) for path in sorted(Path().glob("*.toml")))
    return or_files(offered((*VARIANTS, *own), begun), begun)


def complete_choices(
    context: click.Context, _: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Complete the name of a rules choice, up to its equals sign."""
    from protocol.ruleset import choices

    del context
    return offered((f"{choice}=" for choice in choices()), begun)


def complete_seats(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete a seat, by number or by entrant, of the game that the user named before."""
    named = [word.split(".")[1:] for word in typed() if word.partition(".")[0].isdecimal()]
    names = named[-1] if named else []
    return offered((*map(str, range(len(names) or 4)), *names), begun)


def complete_seats_or_bots(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Complete a seat of the game that the user named before, or else a bot of the event."""
    game = any(word.partition(".")[0].isdecimal() for word in typed())
    return (complete_seats if game else complete_entrants)(context, parameter, begun)


def typed() -> list[str]:
    """Return the words after the command.

    click does not parse them as long as an option lacks its value.
    """
    return split_arg_string(os.environ.get("COMP_WORDS", ""))[2:]


def complete_questions(
    context: click.Context, _: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Complete a question's number, with its answer, from the game that the user named before."""
    from arena.analysis.find import find_seat, name_log, require_one_game
    from arena.analysis.review import answer_label
    from arena.analysis.timeline import Timeline
    from protocol.errors import UserError

    given = context.params
    with suppress(OSError, UserError):
        where, words = name_log(given.get("log"), given.get("game"))
        logged = require_one_game(where, words[0])
        seat = find_seat(logged, given.get("seat"))
        return [
            CompletionItem(f"{one.number}", help=answer_label(one))
            for one in Timeline(logged).questions(seat)
            if f"{one.number}".startswith(begun)
        ]
    return []


SUFFIXES = (".toml", ".py", ".js", ".mjs", ".sh", ".rb", ".pl", ".lua")
"""Suffixes of the files to suggest as bots or events."""


def complete_bots(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete a listed bot, an event file or a bot's file; without a match, any file."""
    from protocol.errors import UserError
    from tournaments.plan.bot_catalog import all_bots

    listed, own = list[str](), list[str]()
    with suppress(OSError, UserError):
        listed = list(all_bots(Path()))
    with suppress(OSError):
        own = [path.name for path in sorted(Path().iterdir())[:MOST] if path.suffix in SUFFIXES]
    return or_files(offered((*listed, *own), begun), begun)


def complete_events(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete an event's folder; without a match, any folder."""
    found = offered(folders(begun), begun)
    return found or [CompletionItem(begun, type="dir")]


def complete_events_or_entrants(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Complete an argument of `show`: an event's folder, or with --separate also an entrant."""
    found = complete_entrants(context, parameter, begun) if "--separate" in typed() else []
    return found or complete_events(context, parameter, begun)


def complete_entrants(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete an entrant of the event or the bots that the user named, or of the usual event."""
    from arena.analysis.find import latest_folder
    from protocol.errors import UserError
    from tournaments.storage.folder import Folder, load_event

    words = typed()
    names = [Path(word).stem for word in words if word != begun and not word.startswith("-")]
    events = [*map(Path, words)]
    with suppress(OSError, UserError):
        events += [] if names else [latest_folder()]
    for event in events:
        with suppress(OSError, UserError):
            names = [entrant.name for entrant in load_event(Folder(event)).entrants]
    return offered(names, begun)


def complete_languages(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete a language for `new`."""
    from tournaments.plan.scaffold import languages

    return offered(languages(), begun)
