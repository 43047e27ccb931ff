"""`boneyard explain`: why a game went as it did for one seat."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.find import find_seat, require_one_game, usual_folder
from arena.ui.console import plain_console, print_paged, text_look
from protocol.errors import UserError
from tournaments.cli.completion import complete_seats
from tournaments.cli.options import ASCII, GAME, LOG

if TYPE_CHECKING:
    from rich.text import Text

    from arena.analysis.text import Look
    from arena.logs.gamelog import LoggedGame

SEAT = click.option(
    "--seat",
    metavar="N|BOT",
    default=None,
    shell_complete=complete_seats,
    help="Whose: a seat's number, or who sat there.  [default: who came last]",
)
"""The seat that a command is about."""


@click.command()
@LOG
@GAME
@SEAT
@click.option("--round", "only", type=click.IntRange(1), default=None, help="Only this round.")
@click.option("--brief", is_flag=True, help="Only the rounds and what turned the game.")
@ASCII
@click.option("--json", "as_json", is_flag=True, help="All of it, for programs.")
def explain(
    log: Path | None,
    game: str | None,
    seat: str | None,
    only: int | None,
    brief: bool,
    plain: bool,
    as_json: bool,
) -> None:
    """Say why a bot won or lost a game.

    Its rounds, what turned the game, and its decisions in order. Each decision is shown as the
    bot saw it: its hand, the line, what the others held, what it could do, what it did, noted
    and took of time; a foul with its evidence. Below each stands the command that puts exactly
    this question to the bot again.

    \b
    Examples:
      boneyard explain demo 1.greedy.first --seat first
      boneyard explain demo 1.greedy.first --seat 1 --round 3
      boneyard explain demo 1.greedy.first --brief
    """
    where = log or usual_folder()
    logged = require_one_game(where, game)
    number = find_seat(logged, seat)
    if as_json:
        click.echo(_json(logged, number))
        return
    console = plain_console()
    look = text_look(logged, console, plain)
    if brief or only is None:
        _summary(logged, number, look)
    if not brief:
        print_paged(_told(where, logged, number, only, look), console)


def _summary(logged: "LoggedGame", seat: int, look: "Look") -> None:
    """The game at a glance."""
    from arena.analysis import decisions
    from arena.analysis import review as account

    console = plain_console()
    found = list(decisions.decisions(logged, seat))
    ends = list(decisions.rounds(logged, seat))
    whole = not console.is_terminal
    console.print(account.heading(logged, seat, found, look), "", sep="\n", soft_wrap=whole)
    if ends:
        console.print(account.round_table(ends, look), "", sep="\n")
    for sentence in account.turning_points(ends, found, look):
        console.print(f"- {sentence}", markup=False, soft_wrap=whole)
    console.print()


def _told(
    where: Path, logged: "LoggedGame", seat: int, only: int | None, look: "Look"
) -> Iterator["Text"]:
    """Every decision, and every round's end after the last of its decisions."""
    from arena.analysis import decisions
    from arena.analysis import review as account

    found = list(decisions.decisions(logged, seat))
    ends = account.ends_of_rounds(logged, seat, look)
    numbers = sorted({*ends, *(one.round for one in found)})
    if only is not None and only not in numbers:
        raise UserError(f"There is no round {only}: this game has {len(numbers)}.")
    for number in numbers if only is None else [only]:
        for one in found:
            if one.round == number:
                again = account.command(str(where), logged.game.game, one)
                yield account.decision_text(one, seat, len(found), again, look)
        if number in ends:
            yield ends[number]


def _json(logged: "LoggedGame", seat: int) -> str:
    import msgspec

    from arena.analysis import review as account

    return msgspec.json.format(
        msgspec.json.encode(account.review_game(logged, seat)), indent=1
    ).decode()
