"""The command `explain`: a game for one seat, its decisions, its rounds and what turned it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from arena.analysis import decisions
from arena.analysis import review as account
from arena.analysis.find import find_seat, require_one_game, usual_folder
from arena.analysis.text import Look
from arena.document.terminal import print_blocks
from arena.logs.gamelog import LoggedGame
from arena.ui.console import plain_console, print_json, print_paged, text_look
from protocol.errors import UserError


class ExplainOptions(NamedTuple):
    """The command's options; None where the user gave none."""

    log: Path | None
    """A game log or an event's folder."""
    game: str | None
    """A game, or a part of its name."""
    seat: str | None
    """A seat's number, or who sat there."""
    only: int | None
    """The only round to show."""
    brief: bool
    """True if only the rounds and the turning points are printed."""
    plain: bool
    """True if tiles are printed in ASCII."""
    as_json: bool
    """True if the explanation is printed as JSON."""


def explain_game(options: ExplainOptions) -> None:
    """Print why a bot won or lost a game. Raises UserError, DamagedLogError."""
    where = options.log or usual_folder()
    logged = require_one_game(where, options.game)
    seat = find_seat(logged, options.seat)
    if options.as_json:
        print_json(account.review_game(logged, seat))
        return
    console = plain_console()
    look = text_look(logged, console, options.plain)
    if options.brief or options.only is None:
        _summary(logged, seat, look)
    if not options.brief:
        print_paged(_decisions(where, logged, seat, options.only, look), console)


def _summary(logged: LoggedGame, seat: int, look: Look) -> None:
    """Print the game's result, its rounds and its turning points."""
    console = plain_console()
    found = list(decisions.decisions(logged, seat))
    ends = list(decisions.round_ends(logged, seat))
    whole = not console.is_terminal
    console.print(account.heading(logged, seat, found, look), "", sep="\n", soft_wrap=whole)
    if ends:
        print_blocks(console, [account.round_table(ends, look)])
        console.print()
    for sentence in account.turning_points(ends, found, look):
        console.print(f"- {sentence}", markup=False, soft_wrap=whole)
    console.print()


def _decisions(
    where: Path, logged: LoggedGame, seat: int, only: int | None, look: Look
) -> Iterator[Text]:
    """Yield every decision, and each round's end after the last decision of that round."""
    found = list(decisions.decisions(logged, seat))
    ends = account.ends_of_rounds(logged, seat, look)
    numbers = sorted({*ends, *(one.round for one in found)})
    if only is not None and only not in numbers:
        raise UserError(f"There is no round {only}: this game has {len(numbers)}.")
    for number in numbers if only is None else [only]:
        for one in found:
            if one.round == number:
                again = account.ask_command(str(where), logged.game.game, one)
                yield account.decision_text(one, seat, len(found), again, look)
        if number in ends:
            yield ends[number]
