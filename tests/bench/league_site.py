"""The site of a large league: what it takes to write, how large it is, how fast it opens.

    python -m tests.bench.league_site [--bots 200] [--versions 1] [--rounds 500] [--tables 20]

Register and results are made up, in memory, ten games a table; the rounds count as published. Goals
with 200 versions and 100,000 games: written within 30 s, a first page of 100 kB that opens within
1 s. CPU is that of this process; wall times on a shared machine say little.
"""

import argparse
import tempfile
import time
from pathlib import Path

from tests.support.browser import CHROMIUM, opened, serve_folder
from tests.support.made_up_leagues import made_up_league, publish_rounds
from tournaments.league.pages.site import LeagueSite
from tournaments.league.read import LeagueData

DAYS = 60
WEEK = "2026-W52"
OPENINGS = 5
LOADED = "performance.getEntriesByType('navigation')[0].duration"


def publish_timed(name: str, data: LeagueData, site: Path) -> None:
    """Publish, and print what it took."""
    wall, cpu = time.monotonic(), time.process_time()
    LeagueSite(site).publish(data, WEEK, None)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    print(f"{name:<28} {cpu:6.1f} s CPU {wall:6.1f} s wall")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    for option, value in (("bots", 200), ("versions", 1), ("rounds", 500), ("tables", 20)):
        parser.add_argument(f"--{option}", type=int, default=value)
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        league, site = Path(folder, "league"), Path(folder, "site")
        data = made_up_league(league, days=DAYS, **vars(wish))
        rounds = data.divisions["draw"].rounds
        games = sum(len(one.results) for one in rounds)
        print(f"{len(data.versions)} versions, {games:,} games, {len(rounds)} rounds")
        publish_rounds(data, site)
        last = rounds.pop()
        publish_timed("all pages, and past weeks", data, site)
        publish_timed("nothing new", data, site)
        rounds.append(last)
        publish_rounds(data, site)
        publish_timed("a round more", data, site)
        pages = [path.stat().st_size for path in site.rglob("*.html")]
        front = (site / "index.html").stat().st_size
        print(f"{len(pages):,} pages, {sum(pages) / 1e6:.0f} MB; first page {front / 1e3:.1f} kB")
        if CHROMIUM:
            with serve_folder(site) as address:
                for _ in range(OPENINGS):
                    with opened(f"{address}/index.html", local=True) as page:
                        print(f"opened in {page.evaluate(LOADED):.0f} ms")


if __name__ == "__main__":
    main()
