"""The functions of `import boneyard`, for notebooks and scripts: each does what its command does.

A bot may be a Python function of a question, as in `arena.training.policy`. It plays as any other
bot, in a process and a sandbox of its own: so its source becomes a file, with the definitions that
it uses. A pickle would take any value, but its bytes change, and with them the bot's version.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from arena.analysis.find import RUNS, find_place, latest_folder, require_one_game
from arena.conformance.connection import Budget
from arena.conformance.runner import Report
from arena.document.blocks import plain
from arena.document.terminal import open_console
from arena.files import write_atomic
from arena.program import INTERRUPTED
from arena.training.policy import PolicyFunction
from protocol.errors import UserError, unknown_name
from tournaments.cli.check import check_bots
from tournaments.cli.explain import explain_place
from tournaments.cli.options import ExplainOptions, event_options, take_event_fields
from tournaments.cli.replay import game_page
from tournaments.cli.run import run_event
from tournaments.event.book import Book
from tournaments.event.folder import Folder
from tournaments.formats.versus import Versus
from tournaments.play.sittings import RunStoppedError
from tournaments.report.document import summary_document
from tournaments.report.event_text import foul_warning, main_result
from tournaments.report.page import SharedText, report_page
from tournaments.report.report import GAME_FIELDS, RATINGS, game_rows, rating_rows
from tournaments.site.progress import author_result
from tournaments.study.export import decision_columns

BotWord = str | Path | PolicyFunction
"""A bot as in `run`: a name, a file or a command; or a function from a question to an index."""
Columns = dict[str, list[Any]]
"""Lists of equal length by name, of which pandas and polars make a `DataFrame` as they are."""
FUNCTIONS = Path(RUNS, "functions")
"""Folder with a folder for each function that played, by name."""
REPLAY_HEIGHT = 960
RESULT_HEIGHT, ROW_HEIGHT = 480, 75
"""Heights in pixels: a cell of a notebook does not grow with the page that it frames."""


def run(
    bots: BotWord | Sequence[BotWord],
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    seed: int | None = None,
    **options: Any,
) -> "EventResult":
    """Play an event, or the rest of it, as `boneyard run` does, and return its result.

    `bots`: an event file, or the bots. `out`: the event's folder; None: one in `runs/`. `jobs`:
    sittings side by side. `seed`: fixes the deals. `options`: others of the command about the
    event, with `_` for `-`, as `boards=50, rules="dutch", set=["target=50"]`.

    Raises UserError; RunStoppedError if the machine stops it, KeyboardInterrupt after Ctrl-C: the
    same call goes on.
    """
    words = [bots] if isinstance(bots, str | Path) or callable(bots) else bots
    choices, names = options.pop("set", ()), [f"{option.name}" for option in event_options()]
    for name in options:
        if name not in names:
            raise unknown_name("option", name, names)
    fields = take_event_fields({**dict.fromkeys(names), **options})
    entries, folders = [*map(_word_of, words)], list[Folder]()
    place = Path(out) if out is not None else None
    code = run_event(
        *(entries, fields), out=place, jobs=jobs, seed=seed, choices=choices, show=folders.append
    )
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code or not folders:
        raise RunStoppedError("The run stopped, as was said above. The same call goes on.")
    return EventResult(folders[0].path)


def load(event: str | Path | None = None) -> "EventResult":
    """Return the result of an event that was played: its folder, or its name in `runs/`.

    None: the one that was run last. Raises UserError without an event there.
    """
    return EventResult(_place_of(event))


def check(*bots: BotWord, quick: bool = False, seconds: int = 300) -> list[Report]:
    """Check bots step by step as `boneyard check` does, print what to fix, return the reports.

    Without `bots` those in folders here. `quick`: one round of each game. `seconds`: no step of a
    bot begins later. Raises UserError.
    """
    budget = Budget(total_s=seconds, is_full=not quick)
    return check_bots(tuple(map(_word_of, bots)), {"clock": {}}, budget, open_console())


def explain(
    event: str | Path | None = None,
    game: str | None = None,
    *,
    bot: str | None = None,
    review: bool = False,
) -> None:
    """Print why a bot lost an event or a game, as `boneyard explain` does.

    `event`: as in `load`; or a log. `game`: a unique part of its name. `bot`: who is explained;
    None: yours, or who came last. `review`: what each choice cost. Raises UserError.
    """
    explain_place(_place_of(event), game, ExplainOptions(seat=bot, review=review))


class FramedPage(NamedTuple):
    """A page that a notebook shows in its cell, in light and dark."""

    html: str
    height: int

    def __repr__(self) -> str:
        return f"<a page of {len(self.html):,} characters>"

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe srcdoc="{escape(self.html)}" style="{style}"></iframe>'


class EventResult:
    """The result of an event, from its folder as it is when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        """Open the event's folder. Raises UserError if it has none."""
        self.folder = folder.resolve()
        self._book = Book(Folder(self.folder))

    def __repr__(self) -> str:
        return f"{self.verdict}\n{self.folder}"

    def _repr_html_(self) -> str:
        """Return the figure and the tables of the report."""
        emblems = self._book.event.emblems
        share = SharedText(main_result(self._book))
        html = report_page(summary_document(self._book), share, emblems)
        return FramedPage(html, RESULT_HEIGHT + ROW_HEIGHT * len(emblems))._repr_html_()

    @cached_property
    def ratings(self) -> Columns:
        """A row for each entrant, best first: the columns of ratings.csv."""
        prints = {entrant.name: entrant.fingerprint for entrant in self._book.event.entrants}
        return _columns(RATINGS, rating_rows(self._book.ratings, prints))

    @cached_property
    def games(self) -> Columns:
        """A row for each seat of each game, in the ledger's order: the columns of games.csv."""
        book, sittings = self._book, self._book.index(lambda plan, _: plan.name)
        partners = book.event.rules.deal.partners
        return _columns(GAME_FIELDS, game_rows(book.played, sittings, partners, book.luck))

    @cached_property
    def decisions(self) -> Columns:
        """A row for each decision: the columns of `boneyard export`, with the bot's vectors."""
        return decision_columns(self.folder)

    @property
    def verdict(self) -> str:
        """The answer in sentences: a bot is better, or it is undecided."""
        return plain(" ".join(filter(None, (foul_warning(self._book), author_result(self._book)))))

    @property
    def winner(self) -> str | None:
        """The entrant that is surely first by its rating, or better by a versus; else None."""
        book, pools = self._book, self._book.ratings.pools
        if isinstance(book.event.format, Versus):
            is_better = book.event.format.answer(book.event, book.active) == "H1"
            return book.event.format.sides(book.event)[0] if is_better else None
        entrants = pools[0].entrants if len(pools) == 1 else ()
        first = [rating.name for rating in entrants if rating.ranks[0] == 1]
        is_stopped = any(rating.cost and rating.cost.stopped for rating in entrants)
        return first[0] if len(first) == 1 and not is_stopped else None

    def game(self, game: int | str) -> FramedPage:
        """Return the replay of a game, with its review: its place in the ledger, from 0, or a name.

        A name may be any unique part of it. Raises UserError, IndexError.
        """
        name = self._book.played[game].game if isinstance(game, int) else game
        return FramedPage(
            game_page(self.folder, require_one_game(self.folder, name)), REPLAY_HEIGHT
        )


def _columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Columns:
    table = [*rows]
    return {name: [row[place] for row in table] for place, name in enumerate(names)}


def _place_of(event: str | Path | None) -> Path:
    path = latest_folder() if event is None else Path(event)
    return find_place(path) or path


# A Python function as the file of a bot.


def _word_of(bot: BotWord) -> str:
    """Return a bot as a word of the command line; a function gets a file. Raises UserError."""
    if not callable(bot):
        return f"{bot}"
    function = inspect.unwrap(bot)
    name = getattr(function, "__name__", "")
    if not inspect.isfunction(function) or not name.isidentifier():
        raise UserError("A bot that is a function needs a name: define it with def.")
    parts = dict(_definitions(name, bot, function.__globals__, {}))
    lines = ("from __future__ import annotations", "import arena.training.policy", *parts.values())
    text = "\n\n".join((*lines, f'arena.training.policy.play({name}, name="{name}")\n'))
    # A folder of its own: a file called bot or agent has its folder's name.
    path = FUNCTIONS / name / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        write_atomic(path, [text.encode()])
    return f"{path}"


def _definitions(
    name: str, value: Any, names: Mapping[str, Any], known: dict[str, None]
) -> Iterator[tuple[str, str]]:
    """Yield the lines that define a name of a notebook, after those that it needs itself.

    Raises UserError for a value that has no source.
    """
    known[name] = None
    bare = inspect.unwrap(value) if callable(value) else value  # A cache, too, is in the source.
    home, title = getattr(value, "__module__", None), getattr(bare, "__name__", name)
    is_ours = home == names.get("__name__")
    if inspect.ismodule(value):
        yield name, f"import {title} as {name}"
    elif is_ours and (inspect.isfunction(bare) or inspect.isclass(bare)):
        source = _source_of(name, bare)
        for used in _free_names(source):
            if used in names and used not in known:
                yield from _definitions(used, names[used], names, known)
        yield name, source if title == name else f"{source}\n{name} = {title}"
    elif not is_ours and getattr(sys.modules.get(f"{home}"), title, None) is value:
        yield name, f"from {home} import {title} as {name}"
    else:
        yield name, f"{name} = {_literal_of(name, value)}"


def _source_of(name: str, value: Callable[..., Any]) -> str:
    if inspect.isfunction(value) and value.__code__.co_freevars:
        raise UserError(
            f"The function {name} uses {value.__code__.co_freevars[0]} of the function around it: "
            "make that a global, or a default of an argument."
        )
    try:
        return dedent(inspect.getsource(value))
    except (OSError, TypeError):
        raise UserError(f"There is no source of {name}: write it in a cell or a file.") from None


def _free_names(source: str) -> list[str]:
    """Return the names that a definition reads and binds nowhere, in their order."""
    nodes = [*ast.walk(ast.parse(source))]
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    read = [node for node in nodes if isinstance(node, ast.Name)]
    bound |= {node.id for node in read if not isinstance(node.ctx, ast.Load)}
    return [node.id for node in read if node.id not in bound]


def _literal_of(name: str, value: object) -> str:
    text = repr(value)
    try:
        if ast.literal_eval(text) == value:
            return text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    raise UserError(
        f"The bot's function uses {name}, whose value cannot be written into a file: make it in "
        "a function, or write the bot as a file."
    )
