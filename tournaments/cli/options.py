"""Arguments and options that several commands share, and their completion by Tab."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

import click
from click.shell_completion import CompletionItem, split_arg_string
from msgspec.inspect import (
    BoolType,
    FloatType,
    IntType,
    LiteralType,
    NoneType,
    StructType,
    TupleType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from arena.analysis.find import (
    EVENT_FILE,
    find_place,
    find_seat,
    latest_folder,
    logs,
    name_log,
    require_one_game,
    unknown_place,
)
from arena.logs.checksummed import read_lines
from arena.logs.gamelog import LoggedGame
from arena.rules.variants import VARIANTS, choices
from arena.sandbox.command import SandboxMode
from protocol.codec import DamagedRecordError, decode_record, line_start, strip_checksum
from protocol.errors import UserError
from protocol.position import is_position, write_position
from protocol.records import GameRecord
from tournaments.event.folder import Folder, find_event, load_event
from tournaments.plan.bots import BOT_FILE, all_bots, own_bot
from tournaments.plan.event import FORMATS, Setting, WrittenEvent
from tournaments.plan.scaffold import languages

# Shell completion after Tab: bots, events, logs, games, seats, rules. No function here raises.


MAX_SUGGESTIONS = 200
SEARCHED_BYTES = 20_000_000
"""Bytes of logs to search for game names; more would keep the user waiting."""
SUFFIXES = (".toml", ".py", ".js", ".mjs", ".sh", ".rb", ".pl", ".lua")
"""Suffixes of the files to suggest as bots or events."""
NameSource = Callable[[click.Context, str], Iterable[str]]
"""A function that returns names which may continue what the user typed."""


def complete(
    *sources: NameSource, otherwise: str = ""
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a completer that suggests names from these sources.

    `otherwise`: what the shell completes if no name matches, "file" or "dir".
    """

    def completed(context: click.Context, _: click.Parameter, text: str) -> list[CompletionItem]:
        names = dict[str, None]()
        for source in sources:
            with suppress(OSError, ValueError, UserError):
                names |= dict.fromkeys(source(context, text))
        items = [CompletionItem(name) for name in names if name.startswith(text)][:MAX_SUGGESTIONS]
        return items or ([CompletionItem(text, type=otherwise)] if otherwise else [])

    return completed


def folders(_: click.Context, text: str) -> Iterator[str]:
    """Yield the event folders that may continue a path."""
    parent = Path(text) if text.endswith("/") else Path(text).parent
    prefix = text if text.endswith("/") else text[: text.rfind("/") + 1]
    for path in sorted(parent.glob(f"*/{EVENT_FILE}")):
        yield f"{prefix}{path.parent.name}"


def games(context: click.Context, _: str) -> Iterator[str]:
    """Yield the games in the log that the user named before, else of `latest_folder`.

    The search ends after `SEARCHED_BYTES`.
    """
    left = SEARCHED_BYTES
    for path in logs(context.params.get("log") or latest_folder()):
        for line in (entry.data for entry in read_lines(path)):
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


def _seats(context: click.Context, text: str) -> Iterable[str]:
    """Return the seats, by number and by entrant, of the game that the user named before.

    Without a game they are the bots of the event.
    """
    tables = [word.split(".")[1:] for word in typed() if word.partition(".")[0].isdecimal()]
    names = tables[-1] if tables else []
    return (*map(str, range(len(names))), *names) if tables else _entrants(context, text)


def _entrants(_: click.Context, text: str) -> Iterable[str]:
    """Return the entrants of the event or the bots that the user named, or of the usual event."""
    words = typed()
    names = [Path(word).stem for word in words if word != text and not word.startswith("-")]
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
    files = (
        path.name for path in sorted(Path().iterdir())[:MAX_SUGGESTIONS] if path.suffix in SUFFIXES
    )
    return *all_bots(Path()), *files


complete_logs = complete(folders, otherwise="file")
complete_logs_or_games = complete(
    folders, lambda context, text: games(context, text) if text else (), otherwise="file"
)
complete_games = complete(games)
complete_rules = complete(_rules, otherwise="file")
complete_choices = complete(lambda *_: (f"{choice}=" for choice in choices()))
complete_seats = complete(_seats)
complete_bots = complete(_bots, otherwise="file")
complete_events = complete(folders, otherwise="dir")
complete_events_or_entrants = complete(
    lambda context, text: _entrants(context, text) if "--separate" in typed() else (),
    folders,
    otherwise="dir",
)
complete_entrants = complete(_entrants)
complete_languages = complete(lambda *_: languages())


# Arguments and options that several commands share, and a command with its options in sections.


Command = TypeVar("Command", bound=Callable[..., Any])


class WholeNumber(click.IntRange):
    """A whole number within bounds, which the help text calls N."""

    name = "whole number, as 50"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """Return what stands for a value in the help text."""
        return "N"


class LogPath(click.Path):
    """A log or an event's folder; finds an event in runs/ by its name or file, too."""

    def __init__(self, exists: bool = True, file_okay: bool = True) -> None:
        super().__init__(exists=exists, file_okay=file_okay, path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Return the path of what exists. Raises UserError, click.BadParameter."""
        if is_position(f"{value}"):
            return Path(value)  # It may be longer than the name of any file.
        place = find_place(Path(value))
        if place is None and self.exists:
            raise unknown_place(Path(value))
        if place and (place / BOT_FILE).is_file() and not (place / EVENT_FILE).is_file():
            raise UserError(f"{value} is a bot. The latest event here is {latest_folder()}.")
        return super().convert(place or value, param, ctx)


class SectionOption(click.Option):
    """An option that stands in a section of the help text."""

    def __init__(self, *words: Any, section: str = "", rare: bool = False, **more: Any) -> None:
        """Make an option; one that is `rare` is only in the text of --help-all."""
        super().__init__(*words, **more)
        self.section, self.rare = section, rare


option = partial(click.option, cls=SectionOption)


def flag(name: str, help: str, *names: str, **more: Any) -> Callable[[Command], Command]:
    """Return an option without a value; `names`: its other names, then the parameter's name."""
    return option(name, *names, is_flag=True, help=help, **more)


def number(
    name: str,
    help: str,
    least: int = 0,
    most: int | None = None,
    default: int | None = None,
    *names: str,
    **more: Any,
) -> Callable[[Command], Command]:
    """Return an option that takes a whole number within these bounds."""
    kind, has_default = WholeNumber(least, most), default is not None
    return option(
        name, *names, type=kind, default=default, show_default=has_default, help=help, **more
    )


class SectionedCommand(click.Command):
    """A command whose help text has its options in sections; those of no section come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help text, without rare ones unless they are asked for."""
        sections: dict[str, list[tuple[str, str]]] = {}
        rare = []
        for param in self.get_params(ctx):
            if getattr(param, "rare", False) and not ctx.meta.get(HELP_ALL):
                rare.append(param)
            elif isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                sections.setdefault(getattr(param, "section", ""), []).append(record)
        last = sections.pop("", [])
        for title, records in (*sections.items(), ("Options", last)):
            with formatter.section(title):
                formatter.write_dl(records)
        if rare:
            formatter.write_paragraph()
            formatter.write_text(f"{len(rare)} more options: {ctx.command_path} {HELP_ALL}")


command = partial(click.command, cls=SectionedCommand)
HELP_ALL = "--help-all"


def _print_all_help(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


help_all = click.option(
    HELP_ALL,
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_all_help,
    help="Show all options and exit.",
)
"""The option that shows rare options too."""
LOG = click.argument(
    "log",
    required=False,
    type=LogPath(exists=False),
    shell_complete=complete_logs_or_games,
)
"""The argument for a game log or an event's folder, or a game; see `name_log`."""
GAME_ARGUMENT = click.argument("game", required=False, shell_complete=complete_games)
"""The argument for a game, or any unique part of its name."""
FOLDER_ARGUMENT = click.argument(
    "folder",
    required=False,
    type=LogPath(file_okay=False),
    shell_complete=complete_events,
)
"""The argument for an event's folder; see `usual_folder`."""
CHOICES = option(
    "--set",
    "choices",
    section="Game",
    multiple=True,
    metavar="CHOICE=VALUE",
    shell_complete=complete_choices,
    help="Change one choice of the rules; may be repeated.",
)
"""The option that changes choices of a named game."""
USUAL_RULES = "draw"
"""The game where a user names no rules."""
BROWSER = flag("--browser", "Open the page in the browser too.")
FILE_PATH = click.Path(dir_okay=False, path_type=Path)
OLD_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
DIRECTORY = click.Path(file_okay=False, path_type=Path)
OLD_DIRECTORY = click.Path(exists=True, file_okay=False, path_type=Path)
"""The types of paths that an option takes; those called OLD accept only paths that exist."""
WISH = click.Choice(["auto", "require", "off"])
"""The sandbox modes that a user can choose."""
SANDBOX_OPTION = click.option(
    "--sandbox", type=WISH, default=None, help="As in `run`.  [default: auto]"
)
TLS = partial(
    option,
    "--tls",
    type=OLD_DIRECTORY,
    help="A folder with ca.pem, cert.pem and key.pem, for the scheduler.",
)
PORT = option(
    "--port",
    type=WholeNumber(0, 65_535),
    default=0,
    show_default="any free port",
    help="Port of the page, on 127.0.0.1 only.",
)
JOBS = number(
    "--jobs",
    "Parallel sittings, in one process.  [default: what the bots' CPU time allows]",
    1,
    512,
    section="Machine",
)
MOVE_MS = number("--move-ms", "Time for each question, in ms.", 1)

LONGEST_S = 86_400
"""The longest delay of a site, in s."""


class Delay(click.ParamType):  # type: ignore[type-arg]  # older clicks know no argument
    """A delay in minutes, or with its unit, as in 30s; its value is in s."""

    name = "delay"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:  # noqa: ARG002
        """Return the delay in s. Raises click.BadParameter."""
        read = re.fullmatch(r"([0-9]{1,5})(s|m)?", value)
        delay_s = int(read[1]) * (1 if read[2] == "s" else 60) if read else -1
        if not 0 <= delay_s <= LONGEST_S:
            self.fail(f"{value!r} is not a delay. Give minutes, as in 10, or 30s, up to a day.")
        return float(delay_s)


# Options of `run` that are made from the fields of an event file: see `Setting`.


COMPLETED: Mapping[str, Callable[..., Any]] = {
    "rules": complete_rules,
    "challenger": complete_entrants,
}


class FieldOption(SectionOption):
    """An option that writes a field of the event file."""

    def __init__(self, setting: Setting, path: tuple[str, ...], kind: Type) -> None:
        """Make the option for a setting at this path, whose values have this type."""
        name = setting.name or path[0]
        super().__init__(
            [f"--{name.replace('_', '-')}", name],
            section=setting.section,
            rare=not setting.usual,
            help=setting.help,
            metavar=setting.metavar,
            shell_complete=COMPLETED.get(name),
            **({"is_flag": True} if setting.flag else _keywords(kind)),
        )
        self.path, self.flag = path, setting.flag


@cache
def event_options() -> tuple[FieldOption, ...]:
    """Return the options in the order of the fields."""
    event, hints = type_info(WrittenEvent), get_type_hints(WrittenEvent, include_extras=True)
    return tuple(
        FieldOption(setting, path := (name, *setting.subpath), next(_kinds(event, path)))
        for name, hint in hints.items()
        for setting in getattr(hint, "__metadata__", ())
        if isinstance(setting, Setting)
    )


def _kinds(kind: Type, path: tuple[str, ...]) -> Iterator[Type]:
    """Yield the types that a value at this path below a type may have."""
    match kind:
        case UnionType():
            for part in kind.types:
                yield from () if isinstance(part, NoneType) else _kinds(part, path)
        case StructType() if path and path[0] == kind.tag_field:
            yield LiteralType(tuple(FORMATS))
        case StructType() if path:
            for field in kind.fields:
                if field.encode_name == path[0]:
                    yield from _kinds(field.type, path[1:])
        case _ if not path:
            yield kind


def _keywords(kind: Type) -> dict[str, Any]:
    """Return the keywords of an option whose values have this type."""
    match kind:
        case IntType():
            return {"type": WholeNumber(kind.ge, kind.le)}
        case FloatType():
            return {"type": float}
        case LiteralType():
            return {"type": click.Choice([f"{value}" for value in kind.values])}
        case BoolType():
            return {"is_flag": True}
        case VarTupleType():
            return {"multiple": True}
        case TupleType():
            return {"nargs": len(kind.item_types)}
    return {}


def take_event_fields(values: dict[str, Any]) -> dict[str, Any]:
    """Remove the event's options from these values; return those given as fields of its file."""
    fields: dict[str, Any] = {}
    for option in event_options():
        value = values.pop(option.name or "")
        if value is not None and value is not False and value != ():
            *parents, last = option.path
            table = fields
            for name in parents:
                table = table.setdefault(name, {})
            table[last] = option.flag or value
    return fields


class ExplainOptions(NamedTuple):
    """The command's options; its help text explains each."""

    review: bool = False
    deals: int | None = None
    ask: bool = False
    times: int = 1
    sandbox: SandboxMode | None = None
    raw: bool = False
    seat: str | None = None
    shows_all: bool = False
    round: int | None = None
    in_json: bool = False
    quiz: bool = False
    editor: bool = False
    rules: str | None = None
    choices: tuple[str, ...] = ()
    out: Path | None = None


def check_out_folder(out: Path | None) -> None:
    """Refuse a file in no folder before the work that fills it. Raises UserError."""
    if out and not out.parent.is_dir():
        raise UserError(f"--out: there is no folder {out.parent}. Create it, or choose another.")


def position_line(word: str) -> str:
    """Return the position that a user means: the same line, or GAME:QUESTION with what it knew.

    Raises UserError.
    """
    from arena.analysis.alternative_deals import position_of  # They take a while.
    from arena.analysis.timeline import Timeline, find_question

    if is_position(word):
        return word
    game, _, question = word.partition(":")
    number, _, seat = question.partition(":")
    if not number.isdecimal():
        raise UserError(f"--from takes a position in one line, or GAME:QUESTION, not {word!r}.")
    log, names = name_log(Path(game))
    logged = require_one_game(log, names[0] if names else None)
    questions = Timeline(logged).questions(choose_seat(log, logged, seat or None))
    asked = find_question(questions, int(number))
    return write_position(position_of(asked.history, asked.game).as_seen())


def choose_seat(path: Path, logged: LoggedGame, wanted: str | None) -> int:
    """Return the seat that a user names; if none, that of the user's bot, or of who came last.

    Raises UserError.
    """
    bot = None
    # A damaged plan hides whose bot is meant, but the game's log has all else.
    with suppress(UserError):
        event = None if wanted else find_event(path)
        bot = own_bot(event) if event else None
    return find_seat(logged, bot if bot and logged.sitting.seats.count(bot) == 1 else wanted)
