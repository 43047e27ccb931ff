"""Several ledgers rated together: who is who, which games and which deals are the same."""

import json
import os
import random
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from arena.logs.checksummed import SealedLog, append_records
from protocol.codec import decode_result
from protocol.records import Result
from tests.support.events import boneyard, copied, run, untouched
from tests.support.made_up import game
from tournaments.cli.rate import Rated, RateOptions, rate_ledgers
from tournaments.event.book import Book, Ledger, read_ledger
from tournaments.event.folder import Folder, load_event
from tournaments.plan.event import as_json
from tournaments.rating.ratings import fit
from tournaments.rating.tables import MOST_COMPARED
from tournaments.site import progress

SHORT = ("--set", "target=12", "--boards", "3")


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield two events of the same game on other deals, and an event of another game."""
    folder = tmp_path_factory.mktemp("events")
    contests: dict[str, tuple[str, ...]] = {
        "friday": ("first", "greedy", *SHORT),
        "saturday": ("greedy", "random", *SHORT),
        "block": ("first", "greedy", "--rules", "block", *SHORT),
    }
    for seed, (name, words) in enumerate(contests.items()):
        out = ("--seed", f"{seed}", "--sandbox", "off", "--out", str(folder / name))
        boneyard("run", *words, *out)
    with untouched(folder):
        yield folder


def rate(*paths: Path, **options: object) -> Rated:
    return rate_ledgers(paths, msgspec.convert(options, RateOptions))


def test_ledgers_of_many_entrants_are_rated_as_json(tmp_path: Path) -> None:
    rng, ledgers = random.Random(1), [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for ledger in ledgers:
        pairs = [rng.sample(range(MOST_COMPARED + 1), 2) for _ in range(1500)]
        results = [
            replace(game(n, (f"bot{a}", f"bot{b}"), (rng.randrange(9), 4)), game=f"{n}")
            for n, (a, b) in enumerate(pairs, 1)
        ]
        SealedLog(ledger, decode_result).append(results)
    table, _ = json.loads(boneyard("show", *map(str, ledgers), "--json"))["tables"]
    pool = table["ratings"]["pools"][0]
    assert len(pool["entrants"]) > MOST_COMPARED
    assert pool["errors"] == pool["los"] == pool["crosstable"] == []


def change_plan(folder: Path, change: Callable[[str], str]) -> Path:
    """Change the plan in a folder; return the folder."""
    path = folder / "event.json"
    before = path.read_text()
    path.write_text(change(before))
    assert path.read_text() != before
    return folder


def change_version(folder: Path, name: str) -> Path:
    plan = load_event(Folder(folder))
    entrants = tuple(
        replace(bot, fingerprint="f" * 64) if bot.name == name else bot for bot in plan.entrants
    )
    return change_plan(folder, lambda _: as_json(replace(plan, entrants=entrants)).decode())


def write_ledger(ledger: Path, results: Iterable[Result]) -> None:
    """Write a ledger of any results with right checksums."""
    descriptor = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    append_records(descriptor, results, 0)
    os.close(descriptor)


def number_games(results: Iterable[Result]) -> Iterator[Result]:
    """Give each game a name of its own."""
    return (replace(result, game=f"{number}") for number, result in enumerate(results))


def rename(result: Result, name: str, new_name: str) -> Result:
    """Return the result with another name for an entrant."""
    seats = tuple(new_name if seat == name else seat for seat in result.seats)
    return replace(result, seats=seats, game=f"{result.board}.{'.'.join(seats)}")


def names(table: object) -> list[str]:
    pools = msgspec.to_builtins(table)["ratings"]["pools"]
    return sorted(entrant["name"] for pool in pools for entrant in pool["entrants"])


def test_events_are_rated_as_one(events: Path) -> None:
    (table,) = rate(events / "friday", events / "saturday").tables
    assert table.games == 12
    assert table.title == "draw, 2 seats"
    results = [
        replace(result, board=result.board + 100 * number)
        for number, name in enumerate(("friday", "saturday"))
        for result in read_ledger(events / name / "ledger.jsonl")
    ]
    assert table.ratings == fit(results)
    # Boards of the same number are different boards.
    assert table.ratings.pools[0].boards == 6


def test_different_games_are_never_pooled_in_silence(events: Path) -> None:
    pair = (events / "friday", events / "block")
    separate, pooled = rate(*pair), rate(*pair, pool=True)
    assert [table.title for table in separate.tables] == ["draw, 2 seats", "block, 2 seats"]
    assert "rated separately; --pool" in separate.notices[0]
    assert [table.title for table in pooled.tables] == ["block, draw, 2 seats"]
    assert pooled.notices == ("One table holds different games: block, draw.",)
    assert pooled.tables[0].games == sum(table.games for table in separate.tables)


def test_a_ledger_alone_is_rated_apart_and_says_so(events: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "results.jsonl"
    ledger.write_bytes((events / "saturday" / "ledger.jsonl").read_bytes())
    figures_of_ledger = rate(ledger)
    assert names(figures_of_ledger.tables[0]) == ["greedy", "random"]
    assert "no event.json" in figures_of_ledger.notices[0]
    separate = rate(events / "friday", ledger)
    assert [table.title for table in separate.tables] == ["draw, 2 seats", "unknown rules, 2 seats"]
    pooled = rate(events / "friday", ledger, pool=True)
    assert names(pooled.tables[0]) == ["first", "greedy", "greedy@unknown", "random"]


def test_the_same_deals_are_the_same_boards(events: Path, tmp_path: Path) -> None:
    """Another bot on the same deals plays other games, with the same luck."""
    later = copied(events / "friday", tmp_path)
    change_version(change_version(later, "greedy"), "first")
    (table,) = rate(events / "friday", later).tables
    assert [pool.boards for pool in table.ratings.pools] == [3, 3]
    plan = load_event(Folder(later))
    entrants = (plan.entrants[0], replace(plan.entrants[1], fingerprint="e" * 64))
    first = replace(
        entrants[0], fingerprint=load_event(Folder(events / "friday")).entrants[0].fingerprint
    )
    change_plan(later, lambda _: as_json(replace(plan, entrants=(first, entrants[1]))).decode())
    (table,) = rate(events / "friday", later).tables
    (pool,) = table.ratings.pools
    assert (pool.games, pool.boards) == (12, 3)


def test_events_that_differ_in_their_terms_say_so(events: Path, tmp_path: Path) -> None:
    saturday = copied(events / "saturday", tmp_path)
    change_plan(saturday, lambda text: re.sub(r'"move_ms": \d+', '"move_ms": 77', text))
    assert rate(events / "friday", saturday).notices == (
        f"These events differ in clock: {events / 'friday'}, {saturday}.",
    )
    change_plan(saturday, lambda text: text.replace('"type": "round-robin"', '"type": "gauntlet"'))
    assert "differ in clock, format:" in rate(events / "friday", saturday).notices[0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("fridai",), "friday"),
        (("friday", "--anchor", "gredy=3"), "did you mean greedy"),
        (("friday", "--anchor", "greedy"), "greedy=1500"),
        (("friday", "--anchor", "=3"), "greedy=1500"),
        (("friday", "--anchor", "greedy=nan"), "greedy=1500"),
        (("friday", "--prior", "-1"), "--prior"),
        (("friday", "--prior", "nan"), "--prior"),
        (("friday", "--prior", "1e300"), "--prior"),
        (("friday/games", "friday"), "ledger.jsonl is missing"),
        (("friday/event.json",), "line 1"),
    ],
)
def test_a_users_mistake_gets_one_sentence(
    events: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], part: str
) -> None:
    monkeypatch.chdir(events)
    output = boneyard("show", *words, code=2)
    assert part in output
    assert len(output.strip().splitlines()) == 1


def test_a_ledger_with_a_game_twice_is_refused(events: Path, tmp_path: Path) -> None:
    ledger = copied(events / "friday", tmp_path) / "ledger.jsonl"
    write_ledger(ledger, [*read_ledger(ledger)] * 2)
    assert "ledger.jsonl has game 1.greedy.first twice" in boneyard("show", str(ledger), code=2)


def test_a_game_that_no_plan_has_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """Everybody meets the challenger, and nobody else."""
    run(tmp_path, "first", "greedy", "random", "--format", "gauntlet", "--boards", "1")
    ledger = tmp_path / "ledger.jsonl"
    write_ledger(ledger, [rename(result, "first", "random") for result in read_ledger(ledger)][:1])
    output = boneyard("show", str(ledger), code=2)
    assert "game 1.random.greedy is neither in the plan of event.json" in output
    assert "did you mean 1." in output


def test_without_a_prior_a_seat_that_always_wins_is_refused(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    write_ledger(ledger, number_games([game(0, "ab", (1, 0)), game(0, "ba", (1, 0))]))
    assert "use a prior above 0" in boneyard("show", str(ledger), "--prior", "0", code=2)
    assert "a" in boneyard("show", str(ledger))


def test_the_live_table_catches_up_in_steps(events: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table takes in the results of an earlier run little by little."""
    folder = Folder(events / "friday")
    ledger = Ledger(Book(folder, load_event(folder)))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(progress, "TICKS_AT_ONCE", 4)
    monkeypatch.setattr(progress, "STANDINGS_UPDATE_S", -1.0)
    display = progress.Progress(ledger)
    result = next(iter(ledger.results.values()))
    for games in (4, 8, 9):
        ledger.results.add(replace(result, game=f"{games}.more"))
        display.update(result)
        assert sum(tick.games for tick in display._ticks.values()) == 2 * games
    console = Console(width=100)
    with console.capture() as capture:
        console.print(display._live.renderable)
    assert "Elo so far" in capture.get()
    assert "Provisional" in capture.get()
