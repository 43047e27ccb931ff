"""Bots and bad pushes for a league that is lived through: what an author puts into bots/NAME."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tournaments.plan.bot_catalog import sample_folder
from tournaments.plan.scaffold import PLACE, languages

BOTS = Path(__file__).parent.parent / "bots"
WEIGHTLESS = {
    "rust": ("{ -1 }", "{ %d }"),
    "java": (": -1;", ": %d;"),
    "sh": ("weight=-1\n", "weight=%d\n"),
}
"""Words in a template with the weight of an option that plays nothing, where it is no return."""
GIB = 2**30
PORT = 48_611
"""Port of this machine that the cheat tries to reach."""


def write_bot(folder: Path, language: str, strength: int | str) -> None:
    """Write a version of a bot, in place of what lies there.

    `language`: a template, whose `strength` is the pips below which it draws rather than plays
    (the fewer the better, from -1); or a sample bot, whose `strength` is its options.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if language in languages():
        _write_template(folder, language, int(strength))
    else:
        shutil.copy(sample_folder() / f"{language}.py", folder / "bot.py")
        _describe(folder, ("{python}", "-I", "-S", "bot.py", *str(strength).split()))


def _write_template(folder: Path, key: str, strength: int) -> None:
    language, name = languages()[key], folder.name
    source = (sample_folder() / "templates" / key / language.file).read_text()
    old, new = WEIGHTLESS.get(key, ("return -1", "return %d"))
    assert old in source, f"the template of {key} has no {old!r}"
    (folder / language.file).write_text(source.replace(old, new % strength).replace(PLACE, name))
    run, build = (
        [word.replace(PLACE, name) for word in words] for words in (language.run, language.build)
    )
    _describe(folder, run, build)


def _describe(folder: Path, run: object, build: object = ()) -> None:
    lines = {"run": run, "about": f"The bot {folder.name}.", "author": folder.name.title()}
    if build:
        lines["build"] = build
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
    (folder / "bot.toml").write_text(text)


# --- bad pushes ---


def _fouling(folder: Path) -> None:
    write_bot(folder, "greedy", "")
    path = folder / "bot.py"
    choice = "            choice = choose(message)\n"
    fault = '            assert max(message["scores"]) < 45\n'
    path.write_text(path.read_text().replace(choice, fault + choice))


def _shell(folder: Path, script: str) -> None:
    _describe(folder, ("sh", "-c", script))


def _cheat(folder: Path) -> None:
    shutil.copy(BOTS / "prying.py", folder / "bot.py")
    league = folder.parent.parent.resolve()
    _describe(folder, ("{python}", "-I", "-S", "bot.py", str(league), str(PORT)))


def _link(folder: Path) -> None:
    _shell(folder, "cat bot")
    (folder / "bot").symlink_to("/etc/passwd")


def _outer_link(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to("/etc")


def _large(folder: Path) -> None:
    _shell(folder, "sleep 1")
    with (folder / "data").open("wb") as file:
        file.truncate(GIB)


def _many(folder: Path) -> None:
    _shell(folder, "sleep 1")
    for number in range(20_000):
        (folder / f"{number}").write_bytes(b"x")


def _pipe(folder: Path) -> None:
    _shell(folder, "sleep 1")
    os.mkfifo(folder / "pipe")


def _broken(folder: Path) -> None:
    (folder / "bot.toml").write_text('run = ["python3", "bot.py"\n')


def _endless(folder: Path) -> None:
    _describe(folder, ("{build}/bot",), ("sh", "-c", "while :; do sleep 1 & wait; done"))


def _greedy_wish(folder: Path) -> None:
    _shell(folder, "sleep 1")
    with (folder / "bot.toml").open("a") as file:
        file.write('network = ["example.com:443"]\n')


BAD: dict[str, Callable[[Path], object]] = {
    "crash": lambda folder: _shell(folder, "echo goodbye >&2; exit 1"),
    "hang": lambda folder: _shell(folder, "sleep 100000"),
    "crash near the end": _fouling,
    "cheat": _cheat,
    "empty folder": lambda _: None,
    "link to a file outside": _link,
    "link in place of the folder": _outer_link,
    "1 GiB in one sparse file": _large,
    "20,000 files": _many,
    "named pipe": _pipe,
    "broken TOML": _broken,
    "endless build": _endless,
    "wish for a network": _greedy_wish,
}
"""Pushes that must do no harm, by what is wrong with each. The cheat plays, and learns nothing;
who crashes near the end plays, and is benched."""


def write_bad(folder: Path, kind: str) -> None:
    """Write a bad push in place of what lies there."""
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    BAD[kind](folder)
