"""`boneyard new league DIR`: a league to start from."""

from pathlib import Path

from arena.files import write_atomic
from arena.ui.console import print_line, shown_path
from protocol.errors import UserError
from tournaments.league.folder import LeagueFolder
from tournaments.plan.bot_catalog import LIST
from tournaments.plan.scaffold import make_bot

SAMPLE = "example"
"""Name of the bot that authors copy."""
SETTINGS = """\
# The settings of a league. `boneyard help leagues` explains them; without a line its default holds.
# Change this file at any time: the league reads it again before each round.
title = "Our league"
# url = "https://example.org/league/"    # where site/ is served; feeds and badges need it
# pull = true                            # `git pull` before each round; bots/ may be a checkout
# luck = true                            # pages of bots tell luck, and with review = true mistakes

[[divisions]]
name = "draw"
rules = "draw"                           # see `boneyard rules`; or a file of rules beside this one
seats = 2
boards_a_table = 5                       # a round is a few tables, each with so many deals
boards_a_week = 1000                     # at most; a seventh of them a day
# until = 20                             # or sooner, once no interval that matters is wider (Elo)

# [[divisions]]                          # another division, with a table of its own
# name = "four"
# rules = "partnership"

[clock]
move_ms = 1000                           # time to answer a question

[quota]                                  # bounds of each author's bot
files_mib = 16
build_s = 120
foul_sittings = 3                        # so many with a foul in a row: benched until it changes

# [bots.mine]                            # access of one bot; authors cannot open it themselves
# network = ["api.example.org:443"]
# environment = ["API_KEY"]
"""
README = f"""\
# Enter the league

A bot is a folder here, called as the bot: 1 to 40 letters, digits, `_` or `-`. Push a change, and
the new files play as a new version, rated apart. Remove the folder to withdraw the bot.

1. Run `boneyard new LANGUAGE NAME` here, or copy `{SAMPLE}/` and give the copy a name.
2. Put your idea into its `choose`. `boneyard check NAME` here tests it by its `bot.toml`.
3. Push. The league checks the bot in a sandbox and says on its page what to fix.

`bot.toml` says how the bot is run: `run`, and if need be `build`, `about`, `author`, `divisions`
(a list; without it the bot plays in all), and `withdrawn = true`.
"""
IGNORED = f"{LIST}\nruns/\n"
"""Files of authors at home, over which their pushes would be in conflict."""


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
        for name, text in (("README.md", README), (".gitignore", IGNORED)):
            if not (league.bots / name).exists():
                write_atomic(league.bots / name, [text.encode()])
        # Last: a folder with settings is a league with all its files.
        write_atomic(league.settings, [SETTINGS.encode()])
    except OSError as error:
        raise UserError(f"{error.filename or path} cannot be written: {error.strerror}.") from error
    where = shown_path(path)
    print_line(f"Made the league in {where}: its settings are in {shown_path(league.settings)}.")
    print_line(f"Bots come into {shown_path(league.bots)}; README.md there tells authors how.")
    print_line(f"Run it with `boneyard league {where}`; its pages come into {where}/site.")
    return 0
