"""The file bot.toml of a push, which hostile authors write."""

import re
from typing import Any, cast

import msgspec

from protocol.errors import UserError, unknown_name
from protocol.validation import convert_or_explain
from tournaments.league.registry.file_tree import FileTree, RefusedPushError
from tournaments.plan.bot_catalog import BOT_FILE, BotFile, without_others_fields
from tournaments.plan.bot_command import check_places

LONGEST_FILE = 8192
"""Bytes of the file."""
MOST_DOTS = 100
"""Dots in a line, outside quotes: Python takes a minute to read a key of 30,000 parts."""
_QUOTED = re.compile(rb"""\"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
MOST_WORDS = 4096
"""Characters of a command."""


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
    if near := [path for path in sorted(tree) if path.rpartition("/")[2].lower() == BOT_FILE]:
        return f"{place} has no {BOT_FILE}, but {near[0]}. Move that to {place}/{BOT_FILE}."
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
    return cast(BotFile, convert_or_explain(without_others_fields(fields), BotFile))


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
