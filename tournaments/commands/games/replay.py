"""The command `replay`: a game from its log, in the terminal."""

import sys
from collections.abc import Callable, Iterator
from itertools import islice, repeat
from pathlib import Path

from rich.console import Console
from rich.text import Text

from arena.analysis import frames, text
from arena.analysis.find import find_game, find_seat, list_games
from arena.analysis.text import Look, row
from arena.analysis.timeline import Timeline, walk_log
from arena.logs.gamelog import LoggedGame
from arena.ui.console import Pager, plain_console, print_json, print_line, print_paged, text_look
from arena.ui.game_review import GRADE_NAMES, GameReview, review_game
from protocol.codec import encode_json
from protocol.errors import UserError
from protocol.records import DealRecord

CELLS = 24
"""Cells of the bar that shows the chances of two sides."""
LUCKY = 5
"""Percent of the game from which the luck of a draw is told, as on the page."""


def replay_game(
    log: Path,
    game: str | None,
    seat: str | None,
    only: int | None,
    read_key: Callable[[], str],
    page: Pager,
    *,
    reviewed: bool,
    glyphs: bool,
    step: bool,
    as_json: bool,
) -> None:
    """Show a game, or list the games that match; `read_key` waits for a key, `page` pages a text.

    `seat`: the seat whose view is shown: its number, or who sat there. `only`: the only round.
    `step`: one frame at a time. Raises UserError, DamagedLogError.
    """
    if reviewed and (as_json or seat is not None):
        raise UserError(
            "A review shows all hands to a reader: leave out --review, --json or --seat."
        )
    found = find_game(log, game)
    if found.game is None:
        if as_json:
            print_json(found.others)
            return
        for line in list_games(found):
            print_line(line)
        return
    seen = None if seat is None else find_seat(found.game, seat)
    if as_json:
        _check_round(found.game, only)
        for frame in frames.frames(walk_log(found.game), seen):
            if only in (None, frame.round):
                print_line(encode_json(frame).decode())
        return
    console = plain_console()
    look = text_look(found.game, console, glyphs)
    shown = _drawn(found.game, seen, only, look, reviewed=reviewed)
    if step and _at_terminal():
        _step_through(shown, console, read_key)
    else:
        print_paged(shown, console, page)


def _drawn(
    logged: LoggedGame, seat: int | None, only: int | None, look: Look, *, reviewed: bool
) -> Iterator[Text]:
    """Yield the title, the requested frames and a note if the log was cut off."""
    _check_round(logged, only)
    timeline = Timeline(logged) if reviewed else None
    remarks = _review_rows(timeline, look) if timeline else repeat(())
    moments = timeline.moments if timeline else walk_log(logged)
    yield text.title(logged, look)
    for frame, rows in zip(frames.frames(moments, seat), remarks, strict=False):
        if only in (None, frame.round):
            yield Text("\n").join([text.draw_frame(frame, look), *rows])
    if logged.result is None:
        yield Text("The log ends here: the game was cut off and does not count.")


def _check_round(logged: LoggedGame, only: int | None) -> None:
    """Refuse a round that the game does not have. Raises UserError."""
    rounds = max((one.round for one in logged.records if isinstance(one, DealRecord)), default=0)
    if only is not None and only > rounds:
        raise UserError(f"There is no round {only}: this game has {rounds}.")


def _step_through(shown: Iterator[Text], console: Console, read_key: Callable[[], str]) -> None:
    """Show one frame at a time until the user quits or turns the last one over."""
    seen: list[Text] = []
    at: int | None = 0
    while at is not None:
        seen.extend(islice(shown, max(0, at + 1 - len(seen))))
        if at >= len(seen):
            return
        console.clear()
        console.print(seen[at], "", Text(text.HELP, "dim"), sep="\n", soft_wrap=True)
        try:
            key = read_key()
        except (KeyboardInterrupt, EOFError):
            return
        at = text.turn_page(at, key)


def _at_terminal() -> bool:
    return sys.stdin.isatty()


# --- chances, luck and losses beside the frames ---


def _review_rows(timeline: Timeline, look: Look) -> list[list[Text]]:
    review = review_game(timeline)
    remarks: list[list[Text]] = [[_chances(one, look)] for one in review.chances]
    for at, words in _remarks(review, look):
        remarks[at].append(words)
    return remarks


def _chances(shares: tuple[float, ...], look: Look) -> Text:
    """Return the chances of all sides; those of two with a bar between them."""
    parties = look.parties()
    whole = [round(share) for share in shares]
    whole.append(50 * len(parties) - sum(whole))
    told = [f"{name} {share} %" for name, share in zip(parties, whole, strict=True)]
    if len(told) > 2:
        return row("chances", [(words, "") for words in told], look)
    filled = round(CELLS * whole[0] / 100)
    bar = "#" * filled + "-" * (CELLS - filled)
    return row("chances", [(told[0], ""), (f"[{bar}]", "dim"), (told[1], "")], look)


def _remarks(review: GameReview, look: Look) -> Iterator[tuple[int, Text]]:
    """Yield the moments of lucky draws and of losses, each with a row."""
    for draw in review.draws:
        if abs(draw.share) >= LUCKY:
            words = f"{look.name(draw.seat)} {draw.share:+.1f} % of the game"
            yield draw.at, row("luck", [(words, "green" if draw.share > 0 else "yellow")], look)
    for one in review.decisions:
        if one.grade:
            width = f" ± {2 * one.error:.1f}" if one.error else ""
            words = f"{one.loss:.1f}{width} points: {GRADE_NAMES[one.grade]}"
            yield one.at, row("lost", [(words, "bold red")], look)
