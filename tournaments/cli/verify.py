"""The command `verify`: prints the problems of an event or of game logs. Plays nothing."""

from pathlib import Path

import click

from arena.analysis.find import logs, refuse_others, usual_folder
from arena.ui.console import print_json, print_line, print_note, track, working
from protocol.errors import UserError
from tournaments.cli.options import OLD_FILE, LogPath, command, complete_logs, flag
from tournaments.event.book import count_boards, read_history
from tournaments.event.folder import Folder, digest, read_event
from tournaments.league.settings import is_league
from tournaments.plan.event import describe_repeats, describe_withdrawals
from tournaments.verification.event import (
    Checked,
    Verified,
    describe_extent,
    print_faults,
    unchecked,
    verify_folder,
    verify_log,
)

PLANS_SHOWN = 3
"""Earlier plans of an extended event that are listed one by one."""


@command()
@click.argument(
    "target", metavar="[WHAT]", required=False, type=LogPath(), shell_complete=complete_logs
)
@click.option(
    "--seeds",
    type=OLD_FILE,
    help="The file of revealed seeds, for a log outside an event's folder.",
)
@flag("--ask-bots", "Also ask the sealed bots of an event again: each answer must be the same.")
@flag("--json", "Print JSON instead of sentences.", "as_json")
def verify(target: Path | None, seeds: Path | None, ask_bots: bool, as_json: bool) -> int:
    """Check an event, a league or one log: every deal, byte and score.

    WHAT is an event's folder, a log, a folder of logs such as `boneyard play` writes, a league or a
    league's site; by default it is the event in the current directory, or else the one here that
    was run last. The command replays and rates every game again, from the published files alone,
    and compares each file of the report; of a league it also chooses the tables again. Exit code 1
    when it finds a problem.

    \b
    Examples:
      boneyard verify demo
      boneyard verify demo/games/from-1.greedy.suit.jsonl
      boneyard verify game.jsonl --seeds seeds.jsonl
      boneyard verify boneyard-play
      boneyard verify class/site
      boneyard verify demo --json
    """
    path = target or usual_folder()
    if is_league(path):
        from tournaments.league.check import print_league_check

        return print_league_check(path, as_json)
    folder = Folder(path)
    # An event that lost its plan is not a folder of logs: its other files would go unchecked.
    event = folder.event.is_file() or folder.ledger.is_file()
    if ask_bots and not event:
        raise UserError(f"--ask-bots asks the bots of an event again, and {path} is none.")
    checked = _verify_shown(folder) if event else _verify_logs(path, seeds)
    faults, verified = print_faults(checked, as_json)
    equal = 0
    if ask_bots and event and not faults:
        faults, equal = print_faults(_ask_bots(folder), as_json)
    if as_json:
        waiting = unchecked(folder) if event else 0
        print_json({"problems": faults, **verified._asdict(), "waiting": waiting})
    if faults or as_json:
        return 1 if faults else 0
    if event:
        _tell_what_is_left(folder)
    asked = f"asked again, sealed bots gave the same {equal:,} answers"
    clause = f"; {asked if equal else 'no sealed bot could be asked again'}" if ask_bots else ""
    print_line(f"OK: {describe_extent(verified)}{clause}.")
    return 0


def _verify_shown(folder: Folder) -> Checked[Verified]:
    """Yield the problems of an event; show on a terminal how many games are replayed."""
    with working("Games replayed") as tell:
        return (yield from verify_folder(folder, tell))


def _ask_bots(folder: Folder) -> Checked[int]:
    """Yield each answer that a sealed bot does not give again. Raises UserError."""
    from tournaments.verification import ask_bots  # It starts processes: not on Windows.

    return (yield from ask_bots.ask_bots(folder))


def _verify_logs(path: Path, seeds: Path | None) -> Checked[Verified]:
    """Yield the problems of a log, or of all logs in a folder that holds no event.

    Raises UserError.
    """
    refuse_others(path)
    paths = logs(path)
    if not paths:
        raise UserError(f"{path} has no event and no game logs.")
    games = boards = 0
    for log in track(paths, "Logs checked", len(paths)):
        verified = yield from verify_log(log, seeds)
        if not verified.games:
            print_note(f"{log} has no finished game: nothing in it can be checked.")
        games, boards = games + verified.games, boards + verified.boards
    return Verified(games, boards)


def _tell_what_is_left(folder: Folder) -> None:
    """Print what nobody can check yet, and what only witnesses of the start can check."""
    event = read_event(folder)
    if event.deals_set:
        print_line("The deals were set by the organiser, who knew them; commitments bind them too.")
    for sentence in filter(None, (describe_repeats(event), *describe_withdrawals(event))):
        print_line(sentence)
    if event.deals_with:
        print_line(f"The first deal of each board satisfies {' and '.join(event.deals_with)}.")
    if waiting := unchecked(folder):
        why = "not all games on their boards were played, so their seeds are secret"
        print_line(f"{waiting:,} games cannot be verified yet: {why}.")
    print_line(f"The commitments' SHA-256 is {digest(folder)}:")
    print_line("if one was published before the first game, compare it with that.")
    plans = list(read_history(folder))
    if len(plans) > PLANS_SHOWN:
        print_line(f"{folder.history} has {len(plans)} earlier plans; the last of them:")
    for before in plans[-PLANS_SHOWN:]:
        print_line(
            f"Before an extension the event had {before.boards} boards, committed to by "
            f"{before.sha256}, and {', '.join(before.entrants)}; the deals of "
            f"{count_boards(before.public)} were public."
        )
