"""House bots: sample bots as they are when a league begins, kept as versions like all others."""

from itertools import chain

from protocol.codec import encode_json
from protocol.errors import UserError
from tournaments.league.registry.file_tree import FileTree, Item
from tournaments.plan.bot_catalog import sample_bots, sample_folder
from tournaments.plan.bot_file import BOT_FILE


def house_files(name: str) -> FileTree:
    """Return a sample bot as a push: the files that its entry names, and a bot.toml.

    Raises UserError if this machine cannot run it.
    """
    bot = sample_bots()[name]
    if bot.lacks:
        raise UserError(f"The house bot {name} needs {bot.needs}, {bot.lacks}.")
    home = sample_folder()
    words = dict.fromkeys(chain(bot.build, bot.run))
    files = {word: Item("file", (home / word).read_bytes()) for word in words if _is_own(word)}
    fields = {"run": bot.run, "build": bot.build, "about": bot.about}
    # Every JSON string is a TOML string too.
    lines = [f"{key} = {encode_json(value).decode()}" for key, value in fields.items() if value]
    return {**files, BOT_FILE: Item("file", "\n".join([*lines, ""]).encode())}


def _is_own(word: str) -> bool:
    return bool(word) and "/" not in word and (sample_folder() / word).is_file()
