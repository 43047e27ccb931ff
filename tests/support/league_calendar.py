"""The calendar of a month in a league: who pushes what on which day, and the league's settings."""

from datetime import UTC, datetime

FIRST_DAY = datetime(2026, 9, 7, 20, tzinfo=UTC)
"""A Monday."""
SETTINGS = """\
title = "A month"
url = "https://league.example"

[[divisions]]
name = "draw"
rules = { base = "draw", target = 50 }
boards_a_week = BOARDS

[[divisions]]
name = "partnership"
rules = { base = "partnership", target = 50 }
boards_a_table = 1
tables_a_round = 3
boards_a_week = 21

[quota]
build_s = 60
"""
Pushes = dict[int, int | str]
"""Strength by day, as `write_bot` has it."""
BOTS: dict[str, tuple[str, Pushes]] = {
    "ada": ("python", {1: 5, 6: 2, 22: 2, 28: 0}),
    "bell": ("c", {1: 4, 9: 1, 30: -1}),
    "cyd": ("cpp", {1: 5, 19: 3}),
    "dora": ("javascript", {1: 3, 11: 8, 13: 3}),
    "eve": ("sh", {1: 6, 15: 4, 29: 2}),
    "fay": ("perl", {1: 2, 17: -1}),
    "gus": ("lua", {1: 1, 18: 7}),
    "hal": ("go", {1: 1, 20: 0}),
    "jon": ("java", {2: 4, 26: 4}),
    "kim": ("tcl", {3: 3, 24: 2}),
    "lea": ("suit", {4: "--fits 0 --kinds 0", 21: ""}),
    "ivy": ("rust", {7: 3}),
    "max": ("counting", {8: "--stuck 2", 14: "--stuck 12"}),
    "sam": ("c", {10: 2}),
    "tom": ("perl", {12: 1}),
    "una": ("lua", {16: 4, 25: 0}),
    "ned": ("counting", {19: "--safe 1", 26: "--stuck 0 --fits 0", 27: "--safe 1"}),
    "vic": ("javascript", {23: 5}),
}
"""Language and pushes of each bot. Regressions: dora's of day 11, gus's of day 18, ned's of day 26;
the files of before: dora's of day 13, ada's of day 22, jon's of day 26 and ned's of day 27."""
BAD: dict[int, tuple[tuple[str, str], ...]] = {
    2: (("wes", "crash"),),
    4: (("xia", "hang"),),
    6: (("yan", "empty folder"),),
    8: (("sam", "link to a file outside"),),
    9: (("zed", "cheat"),),
    11: (("wes", "1 GiB in one sparse file"),),
    13: (("wes", "20,000 files"),),
    15: (("xia", "link in place of the folder"),),
    16: (("zoe", "crash near the end"),),
    17: (("cyd", "broken TOML"),),
    20: (("yan", "endless build"),),
    21: (("wes", "named pipe"),),
    23: (("xia", "wish for a network"),),
    25: (("jon", "hang"),),
}
WITHDRAWN: dict[int, tuple[str, ...]] = {14: ("tom",), 22: ("kim",), 28: ("una",), 29: ("zed",)}
"""Bots whose folders are removed."""
RETURNED: dict[int, tuple[str, ...]] = {18: ("tom",)}
"""Bots whose last files lie there again."""
FULL_DISK = 10
"""The day on which the disk is full once."""
PICTURES = (1, 7, 30)
"""Days after which the site is kept."""
KILLED = 0.7
"""Chance that a process of the league is killed."""
