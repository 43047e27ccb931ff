"""`boneyard new league DIR`: a league to start from."""

from pathlib import Path

from arena.files import write_atomic
from arena.ui.console import print_line, shown_path
from protocol.errors import UserError
from tournaments.league.folder import LeagueFolder
from tournaments.plan.scaffold import make_bot

SAMPLE = "example"
"""Name of the bot that authors copy."""
TEMPLATE = Path(__file__).parent / "template"
FILES = {
    "bots/README.md": "README.md",
    "bots/.gitignore": "gitignore",
    "league.toml": "league.toml",
}
"""The files of a new league, and their templates. The settings come last: a folder that has them
is a league with all its files."""


def make_league(path: Path) -> int:
    """Write the settings of a new league and a bot to copy; return the exit code.

    Called again, it writes what is missing. Raises UserError if there is a league.
    """
    league = LeagueFolder(path)
    if league.settings.exists():
        raise UserError(f"{shown_path(path)} has a league already: {league.settings.name}.")
    try:
        league.bots.mkdir(parents=True, exist_ok=True)
        if not (league.bots / SAMPLE).exists():
            make_bot("python", SAMPLE, league.bots)
        for name, template in FILES.items():
            if not (path / name).exists():
                write_atomic(path / name, [(TEMPLATE / template).read_bytes()])
    except OSError as error:
        raise UserError(f"{error.filename or path} cannot be written: {error.strerror}.") from error
    where = shown_path(path)
    print_line(f"Made the league in {where}: its settings are in {shown_path(league.settings)}.")
    print_line(f"Bots come into {shown_path(league.bots)}; README.md there tells authors how.")
    print_line(f"Run it with `boneyard league {where}`; its pages come into {where}/site.")
    return 0
