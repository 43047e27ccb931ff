"""What the shell offers after Tab for many games: bots, events, entrants. Never raises."""

from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from tournaments.cli.completion import MOST, folders, offered, or_files, typed

SUFFIXES = (".toml", ".py", ".js", ".mjs", ".sh", ".rb", ".pl", ".lua")
"""What files end with that are offered as bots or events."""


def complete_bots(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Listed bots, event files and bots' files; else whatever files the shell finds."""
    from protocol.errors import UserError
    from tournaments.plan.bot_catalog import all_bots

    listed, own = list[str](), list[str]()
    with suppress(OSError, UserError):
        listed = list(all_bots(Path()))
    with suppress(OSError):
        own = [path.name for path in sorted(Path().iterdir())[:MOST] if path.suffix in SUFFIXES]
    return or_files(offered((*listed, *own), begun), begun)


def complete_events(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Events' folders; else folders."""
    found = offered(folders(begun), begun)
    return found or [CompletionItem(begun, type="dir")]


def complete_planned(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """What `plan` takes: what `run` takes, and an event's folder."""
    found = offered(folders(begun), begun) if not context.params.get("what") else []
    bots = complete_bots(context, parameter, begun)
    return found + [one for one in bots if one.type == "plain" or not found]


def complete_entrants(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """The entrants of the event whose folder was named before, or the bots that were."""
    from protocol.errors import UserError
    from tournaments.storage.folder import Folder, load_event

    words = typed()
    names = [Path(word).stem for word in words if word != begun and not word.startswith("-")]
    for word in words:
        with suppress(OSError, UserError):
            names = [entrant.name for entrant in load_event(Folder(Path(word))).entrants]
    return offered(names, begun)


def complete_languages(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """Languages in which `new` makes a bot."""
    from tournaments.plan.scaffold import languages

    return offered(languages(), begun)
