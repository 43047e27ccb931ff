"""Commands that show an event in a browser: watch, publish."""

from pathlib import Path

import click

from arena.analysis.find import usual_folder
from protocol.errors import UserError
from tournaments.cli.arguments.completion import complete_events
from tournaments.cli.arguments.options import BROWSER, FOLDER, PORT, Delay, LogPath, command, flag


@command()
@FOLDER
@PORT
@flag("--open", "Also show all hands and the boneyard of unfinished games.", "everything")
@BROWSER
def watch(folder: Path | None, port: int, everything: bool, browser: bool) -> int:
    """Watch an event in the browser while it is played, or after.

    The page shows the standings, the games in progress, fouls, the report, and replays of finished
    games. The command reads the logs that the run is writing, and changes nothing. It hides the
    hands of unfinished games unless you pass --open. It prints a local URL with a secret token,
    which works on this machine only; `publish --delay` writes a page for everybody.

    \b
    Examples:
      boneyard watch friday
      boneyard watch friday --browser
      boneyard watch friday --open --port 8080
    """
    from arena.ui.open_browser import MISSING, has_browser

    if not has_browser():
        raise UserError(MISSING.format(what="To watch in the browser", instead=""))
    from tournaments.site.server import watch_event

    return watch_event(folder or usual_folder(), port, everything=everything, browser=browser)


@command()
@click.argument("folder", type=LogPath(file_okay=False), shell_complete=complete_events)
@click.argument("site", type=click.Path(path_type=Path))
@click.option("--url", metavar="URL", default="", help="The site's address, for shared previews.")
@click.option(
    "--delay",
    type=Delay(),
    metavar="MINUTES",
    help="Follow the run in a page of two files, which shows it so late; 30s is half a minute.",
)
def publish(folder: Path, site: Path, url: str, delay: float | None) -> int:
    """Turn an event into a static website.

    SITE is a new folder: the report as its first page, a page that replays each game, the logs, the
    commitments and the seeds. Nothing leaves the event's private folder, and while the event runs
    no game of a board that is still played. The same command brings the site up to date.

    With --delay SITE is a page that follows the run, as it was so long ago. A game is shown only
    once all games on its board are over. The command ends when the page shows the end of the event;
    after a stop it goes on.

    Once the event has a review (`boneyard report --review`), replays show luck and mistakes: 0.1 s
    of CPU a game. With --url a shared link shows a title and a summary.

    \b
    Examples:
      boneyard publish friday site
      boneyard publish friday site --url https://example.org/friday/
      boneyard publish friday live --delay 10
      python3 -m http.server -d site
    """
    if delay is not None:
        if url:
            raise UserError("--url is for a whole site. Leave it out, or --delay.")
        from tournaments.site.writer import follow_event

        return follow_event(folder, site, delay)
    from tournaments.site.publish import publish_event

    return publish_event(folder, site, f"{url.rstrip('/')}/" if url else "")
