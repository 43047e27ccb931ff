"""Ratings over the ledgers of several events: one table for each game."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from protocol.errors import UserError, unknown_name
from tournaments.event.book import Book, ResultStore, refuse_unplanned
from tournaments.event.combine import (
    EntrantNames,
    Source,
    check_no_overlap,
    merge,
    number_boards,
    open_source,
    played_boards,
)
from tournaments.event.folder import Folder
from tournaments.event.luck import LuckStore
from tournaments.plan.event import repeats_sentence
from tournaments.rating.tables import PRIOR, Anchor, Corrections, Ratings

RATED_FORMAT = 1
MOST_DRAWS = 1e6
"""The largest prior: more draws would outweigh any results."""
COMPARED_PROPERTIES = ("clock", "format", "fouls", "limits", "sandbox")
"""Properties in which events that are rated together may differ; a note names the differences.

The format is one of them: where results decide who plays on, as in versus, a lead that ends an
event is on average too large.
"""


class RateOptions(Struct, frozen=True, kw_only=True):
    """The options of a rating."""

    prior: float = PRIOR
    """The power of Jeffreys' prior: virtual draws for each rating."""
    fouls: bool = True
    pool: bool = False
    anchor: Anchor | None = None


class RatedTable(Struct, frozen=True, kw_only=True):
    """The ratings of all results with the same game."""

    title: str
    """The rules by name, the seats, and whether partners sit there."""
    ledgers: tuple[str, ...]
    """The sources of the results, as the user named them."""
    games: int
    games_with_luck: int = 0
    """Games whose luck is known; it is taken out of the corrected ratings."""
    ratings: Ratings
    """The tables, one for each pool of entrants that games connect."""


class Rated(Struct, frozen=True, kw_only=True):
    """The output of `boneyard show FOLDER FOLDER --json`."""

    format: int = RATED_FORMAT
    asked: RateOptions
    notices: tuple[str, ...]
    """Notes to read before comparing the ratings, in sentences."""
    tables: tuple[RatedTable, ...]
    """One for each game that was played, in the order of the ledgers."""


class _Game(NamedTuple):
    """The properties that results must share to stand in one table."""

    seats: int
    partners: bool
    rules: bytes
    """All choices of the rules; the ledger's path if they are not known; empty with `pool`."""


def rate_ledgers(paths: Sequence[Path], options: RateOptions) -> Rated:
    """Rate the results of ledgers or event folders. Raises UserError; DamagedFileError is one."""
    if not 0 <= options.prior <= MOST_DRAWS:
        raise UserError(f"A prior is a number of virtual draws, not {options.prior:g} (--prior).")
    sources = [open_source(path) for path in paths]
    for source in sources:
        _check_games(source)
    check_no_overlap(sources)
    names = EntrantNames(sources)
    boards = number_boards(sources)
    groups: dict[_Game, list[Source]] = {}
    for source in sources:
        if source.seats:
            rules = (
                b"" if options.pool else source.choices if source.event else source.name.encode()
            )
            partners = source.event is not None and source.event.rules.deal.partners
            groups.setdefault(_Game(source.seats, partners, rules), []).append(source)
    tables = tuple(
        _table(game, *merge(group, names, boards, fouls=options.fouls), group, options)
        for game, group in groups.items()
    )
    rated = {row.name for table in tables for pool in table.ratings.pools for row in pool.entrants}
    if options.anchor and options.anchor.name not in rated:
        raise unknown_name("entrant", options.anchor.name, sorted(rated))
    notices = (*_notices(sources, groups, tables, options.pool), *names.notices())
    for group in groups.values():
        played = [boards[source.name, board] for source in group for board in played_boards(source)]
        if sentence := repeats_sentence(len(played) - len(set(played)), len(played)):
            notices += (sentence,)
    return Rated(asked=options, notices=notices, tables=tables)


def _check_games(source: Source) -> None:
    """Refuse a ledger with a game that its plan does not have. Raises UserError.

    Results of retired versions may have come without the logs that tell their schedule.
    """
    if source.event is None:
        return
    if source.event.format.HAS_COPIES:
        raise UserError(
            f"{source.ledger.parent} is a tune, whose candidates are another bot in each group: "
            "they cannot be rated. Its answer is in its report (boneyard show)."
        )
    folder, old = Folder(source.ledger.parent), source.event.retired
    active = (result for result in source.results.values() if old.isdisjoint(result.seats))
    luck = LuckStore(folder, source.event)
    refuse_unplanned(Book(folder, source.event, ResultStore(active, luck)))


def _table(
    game: _Game,
    results: ResultStore,
    corrections: Corrections,
    sources: Sequence[Source],
    options: RateOptions,
) -> RatedTable:
    # They need numpy, which takes 0.1 s to import.
    from tournaments.rating.ratings import fit_both
    from tournaments.rating.tally import by_pool, collect

    partners = ", partners" if game.partners else ""
    title = f"{', '.join(_rules(sources))}, {game.seats} seats{partners}"
    try:
        tallies = by_pool(collect(results.first(), game.partners, corrections or None))
        ratings = fit_both(results.first(), tallies, prior=options.prior, anchor=options.anchor)
    except ValueError as error:
        raise UserError(f"{title}: {error}.") from error
    return RatedTable(
        title=title,
        ledgers=tuple(source.name for source in sources),
        games=sum(pool.games for pool in ratings.pools),
        games_with_luck=len(corrections),
        ratings=ratings.stored,
    )


def _rules(sources: Sequence[Source]) -> list[str]:
    return sorted({s.event.rules.name if s.event else "unknown rules" for s in sources})


def _notices(
    sources: Sequence[Source],
    groups: dict[_Game, list[Source]],
    tables: Sequence[RatedTable],
    pool: bool,
) -> Iterator[str]:
    for source in sources:
        if not source.seats:
            yield f"{source.name} has no results yet."
        elif source.event is None:
            yield (
                f"{source.name} has no event.json next to it, so its rules and the versions of its "
                "bots are unknown. Its bots are matched by name, and none are treated as partners."
            )
    if len(groups) > 1:
        yield "Different games are rated separately" + (
            " by number of seats and partnership."
            if pool
            else "; --pool combines those with the same number of seats."
        )
    for group in groups.values():
        yield from _differences(group)
    for table in tables:
        if len(table.ratings.pools) > 1:
            yield f"{table.title}: no games connect its tables; their ratings cannot be compared."
        if 0 < table.games_with_luck < table.games:
            yield (
                f"{table.title}: the luck of {table.games_with_luck:,} of {table.games:,} games is "
                "known; the others count as they were played."
            )


def _differences(sources: Sequence[Source]) -> Iterator[str]:
    if len(names := _rules(sources)) > 1:
        yield f"One table holds different games: {', '.join(names)}."
    events = [source.event for source in sources if source.event]
    unlike = [
        name
        for name in COMPARED_PROPERTIES
        if any(getattr(event, name) != getattr(events[0], name) for event in events)
    ]
    if unlike:
        listing = ", ".join(source.name for source in sources)
        yield f"These events differ in {', '.join(unlike)}: {listing}."
