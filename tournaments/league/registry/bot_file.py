"""The file bot.toml, by which a bot's author says how to run it."""

import re
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct

from protocol.errors import UserError, unknown_name
from protocol.validation import convert_or_explain
from tournaments.league.registry.file_tree import FileTree, RefusedPushError
from tournaments.plan.bot_command import check_places
from tournaments.plan.event import EntrantName, Title
from tournaments.plan.event_file import Word

BOT_FILE = "bot.toml"
"""The name of the file in each bot's folder."""
LONGEST_FILE = 8192
"""Bytes of the file."""
MOST_DOTS = 100
"""Dots in a line, outside quotes: Python takes a minute to read a key of 30,000 parts."""
_QUOTED = re.compile(rb"""\"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
MOST_WORDS = 4096
"""Characters of a command."""
ELSEWHERE = {
    "network": "Only the organiser opens addresses to a bot, in league.toml: ask for it.",
    "environment": "Only the organiser gives a bot variables, in league.toml: ask for it.",
    "clock": "Only the organiser gives a bot a clock of its own, in league.toml.",
    "folder": "A bot has its own folder here and reads all of it. Remove the line.",
    "reads": "A bot has its own folder here and reads all of it. Remove the line.",
    "needs": "The league looks for the programs of run and build itself. Remove the line.",
    "name": "A bot is called as its folder. Remove the line.",
}
"""Keys of other lists of bots, with what to do instead."""


class BotFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A bot as its author enters it."""

    run: Annotated[tuple[Word, ...], Meta(min_length=1)]
    """Program and arguments; {python} and {build} are placeholders."""
    build: tuple[Word, ...] = ()
    """A command that builds the bot first, in the sandbox, in its folder."""
    about: Annotated[
        str,
        Meta(
            pattern=r"^[^\x00-\x1f\x7f]{0,200}(?!\n)$",
            description="up to 200 characters in one line",
        ),
    ] = ""
    """A line of description."""
    author: Title = ""
    """The author's name."""
    divisions: tuple[EntrantName, ...] = ()
    """The divisions that it enters; none: all."""
    withdrawn: bool = False
    """True if the bot plays no more."""


def parse_bot_file(tree: FileTree, place: str, divisions: list[str]) -> BotFile:
    """Read the bot.toml of a push.

    `place`: the folder's name for the author. `divisions`: those of the league. Raises
    RefusedPushError with the file, the path inside it and the nearest name.
    """
    item = tree.get(BOT_FILE)
    where = f"{place}/{BOT_FILE}"
    if item is None:
        raise RefusedPushError(_missing(tree, place))
    if item.kind != "file":
        raise RefusedPushError(f"{where} is a {item.kind}. It must be a file of its own.")
    if len(item.content) > LONGEST_FILE:
        raise RefusedPushError(f"{where} is longer than {LONGEST_FILE >> 10} KiB.")
    try:
        bot = _decoded(item.content, where)
        _check(bot, divisions)
    except UserError as error:
        raise RefusedPushError(f"{where}: {error}") from None
    return bot


def _missing(tree: FileTree, place: str) -> str:
    other = next((path for path in sorted(tree) if path.rpartition("/")[2] == BOT_FILE), "")
    near = other or next((path for path in sorted(tree) if path.lower() == BOT_FILE), "")
    if near:
        return f"{place} has no {BOT_FILE}, but {near}. Move that to {place}/{BOT_FILE}."
    return (
        f'{place} has no {BOT_FILE}. Add one with a line such as: run = ["{{python}}", "main.py"]'
    )


def _decoded(content: bytes, where: str) -> BotFile:
    if any(line.count(b".") > MOST_DOTS for line in _QUOTED.sub(b"", content).split(b"\n")):
        raise RefusedPushError(f"{where} has a line with more than {MOST_DOTS} dots. Write less.")
    try:
        fields = msgspec.toml.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RefusedPushError(f"{where} is not TOML: {f'{error}'[:200]}.") from None
    for name in fields:
        if name in ELSEWHERE:
            raise UserError(f"Unknown field {name}: {ELSEWHERE[name]}")
    return cast(BotFile, convert_or_explain(fields, BotFile))


def _check(bot: BotFile, divisions: list[str]) -> None:
    for name in bot.divisions:
        if name not in divisions:
            raise unknown_name("division in divisions:", name, divisions)
    for field, text in (("about", bot.about), ("author", bot.author)):
        if not text.isprintable():
            raise UserError(f"{field} has a character that a page cannot show: {text!a}.")
    for field, words in (("run", bot.run), ("build", bot.build)):
        if sum(map(len, words)) > MOST_WORDS:
            raise UserError(f"{field} is longer than {MOST_WORDS} characters.")
        if words and not words[0]:
            raise UserError(f"{field} begins with an empty word. Name the program first.")
    check_places((*bot.run, *bot.build))
