"""Files for other programs: read back with nothing of ours they agree with the report."""

import csv
import io
import json
import random
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from unittest import mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.files import write_atomic
from arena.logs.checksummed import read_lines
from protocol.records import Result, SeatFoul
from tests.support.events import REPORTED, boneyard, copied
from tests.support.fast_run import examples, slow_except
from tests.support.made_up import STRENGTH, ascent, book_of, figure, game, play, played, tune
from tests.support.planned_events import event as planned
from tournaments.cli.rate import Rated
from tournaments.event.book import Book, ResultStore
from tournaments.event.folder import Folder, load_event
from tournaments.formats.entrant import Parameter
from tournaments.formats.tune import Tune
from tournaments.plan.event import as_json
from tournaments.plan.schedule import ledger_order
from tournaments.rating.ratings import fit
from tournaments.rating.tables import Anchor
from tournaments.report import report
from tournaments.report.results_file import Results, SearchStep, search_steps


def rows(pieces: Iterable[bytes]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(pieces).decode(), newline="")))


def mean(lines: list[dict[str, str]], column: str) -> dict[str, float]:
    """Return the mean of each entrant as pandas does it: empty cells count for nothing."""
    by_entrant: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        if line[column]:
            by_entrant[line["entrant"]].append(float(line[column]))
    return {name: statistics.fmean(values) for name, values in by_entrant.items()}


def mixed_results(seats: int) -> list[Result]:
    """Games of all kinds: ties, ends by foul, fouls that ended nothing."""
    results = played(random.Random(seats), STRENGTH, 30, seats)
    games = [
        msgspec.structs.replace(result, why="foul", fouls=(SeatFoul(1, "late"),))
        if number % 4 == 0
        else result
        for number, result in enumerate(results)
    ]
    names = "abcd"[:seats]
    tie = game(99, names, [5] * seats)
    return [*games, tie, msgspec.structs.replace(tie, board=98, fouls=(SeatFoul(0, "illegal"),))]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_ratings_file_has_the_means_of_the_games(seats: int) -> None:
    results = mixed_results(seats)
    lines = rows(
        report.csv_lines(
            report.GAME_FIELDS, report.game_rows(results, {"g": "sitting"}, partners=False)
        )
    )
    rating_lines = {line["entrant"]: line for line in rows(report.ratings_csv(fit(results), {}))}
    assert len(lines) == seats * len(results)
    assert {line["sitting"] for line in lines} == {"sitting"}
    for column in ("win_share", "margin"):
        for name, value in mean(lines, column).items():
            assert value == pytest.approx(float(rating_lines[name][column]))
    for name, line in rating_lines.items():
        mine = [row for row in lines if row["entrant"] == name]
        assert len(mine) == int(line["games"])
        assert sum(bool(row["foul"]) for row in mine) == int(line["fouls"])
        assert len({row["board"] for row in mine}) == int(line["boards"])


def test_the_crosstable_file_equals_the_crosstable() -> None:
    ratings = fit([*mixed_results(3), game(0, "xyz", (3, 2, 1))])
    lines = rows(report.crosstable_csv(ratings))
    assert len(lines) == 5 * 4 + 3 * 2
    pool = ratings.pools[0]
    places = {rating.name: place for place, rating in enumerate(pool.entrants)}
    for line in (row for row in lines if row["pool"] == "1"):
        i, j = places[line["entrant"]], places[line["opponent"]]
        assert int(line["games"]) == pool.crosstable[i][j].games
        assert float(line["wins"]) == pool.crosstable[i][j].wins
        assert float(line["los"]) == pool.los[i][j]
        assert float(line["error_elo"]) == pool.errors[i][j]
        lead = figure(pool.entrants[i].elo) - figure(pool.entrants[j].elo)
        assert float(line["lead_elo"]) == pytest.approx(lead, abs=1e-5)


def test_the_crosstable_file_has_only_pairs_that_met() -> None:
    ratings = fit([game(0, "abc"[n:][:2], places) for n in (0, 1) for places in ((1, 2), (2, 1))])
    assert [len(pool.entrants) for pool in ratings.pools] == [3]
    pairs = {line["entrant"] + line["opponent"] for line in rows(report.crosstable_csv(ratings))}
    assert pairs == {"ab", "ba", "bc", "cb"}


GAME = re.compile(
    r'\[Event "e"\]\n\[Site "\?"\]\n\[Date "\?{4}\.\?\?\.\?\?"\]\n\[Round "(\d+)"\]\n'
    r'\[White "([^"]+)"\]\n\[Black "([^"]+)"\]\n\[Result "(1-0|0-1|1/2-1/2)"\]\n'
    r'\[Termination "[a-z ]+"\]\n\n\4\n\n'
)
HALVES = {"1-0": (1, 0), "0-1": (0, 1), "1/2-1/2": (1, 1)}


def pgn_games(data: bytes) -> list[Result]:
    """Return the games that a PGN reader finds; no text may be left over."""
    text = data.decode()
    assert GAME.sub("", text) == ""
    return [
        game(int(board), (white, black), HALVES[score])
        for board, white, black, score in GAME.findall(text)
    ]


def test_a_second_program_rates_the_pgn_as_we_rate_the_ledger() -> None:
    """Ordo's model: no prior, White's advantage, a tie half a win; another solver."""
    results = mixed_results(2)
    read = pgn_games(report.pgn("e", results, partners=False))
    assert len(read) == len(results)
    ratings, (white,) = ascent(read)
    (pool,) = fit(results, prior=0).pools
    assert {rating.name: rating.elo for rating in pool.entrants} == pytest.approx(ratings, abs=0.01)
    assert pool.seats[0].elo == pytest.approx(white, abs=0.01)


TERMINATIONS: dict[tuple[SeatFoul, ...], str] = {
    (): "normal",
    (SeatFoul(1, "late"),): "time forfeit",
    (SeatFoul(1, "forfeit"),): "adjudication",
    (SeatFoul(1, "illegal"),): "rules infraction",
    (SeatFoul(0, "gone"), SeatFoul(1, "late")): "rules infraction",
    (SeatFoul(2, "late"),): "abandoned",
}


@pytest.mark.parametrize("fouls", TERMINATIONS)
def test_the_pgn_says_how_a_game_ended_and_quotes_the_event(fouls: tuple[SeatFoul, ...]) -> None:
    result = replace(
        game(1, ("a", "b", "c"), (2, 1, 0)), why="foul" if fouls else "target", fouls=fouls
    )
    text = report.pgn('the "B\\C" cup', [result], partners=False).decode()
    first, *_ = text.split("\n\n")
    assert first.endswith(f'[Termination "{TERMINATIONS[fouls]}"]')
    assert text.startswith('[Event "the \\"B\\\\C\\" cup"]\n')


# An event's folder


def test_results_are_what_their_schema_says(event: Path) -> None:
    """Strictly decoded and written again they have the same bytes: nothing more, nothing less."""
    data = (event / "results.json").read_bytes()
    results = msgspec.json.decode(data, type=Results, strict=True)
    assert msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n" == data
    output = boneyard("show", str(event), "--prior", "1", "--json")
    assert msgspec.json.decode(output, type=Rated).tables[0].games == 12


def test_search_steps_lead_from_the_start_to_the_best_values() -> None:
    plan = tune(120, x=Parameter(start=0.1, min=0, max=1))
    results: dict[str, Result] = {}
    play(plan, lambda values: 9 * values["x"], random.Random(1), results)
    games = [results[name] for name in ledger_order(plan, results)]
    start, *steps = search_steps(book_of(plan, games))
    assert start == SearchStep(0, {"x": 0.1}, None)
    assert steps
    assert [step.boards for step in steps] == [60 * number for number in range(1, 1 + len(steps))]
    assert isinstance(plan.format, Tune)
    assert steps[-1].best == plan.format.way(plan, games).best
    assert all(step.lead is not None for step in steps)
    assert search_steps(book_of(planned(3), [])) == ()


@pytest.mark.parametrize("name", REPORTED)
def test_no_file_names_a_folder_of_this_machine(event: Path, name: str) -> None:
    text = (event / name).read_text()
    plan = load_event(Folder(event))
    assert plan.entrants[0].command.argv[0] in as_json(plan).decode()
    for entrant in plan.entrants:
        paths = {entrant.command.folder, *entrant.command.reads, str(event), str(Path.home())}
        assert not [path for path in paths - {"/"} if path in text]


def test_a_report_is_made_anew_with_an_anchor(event: Path, tmp_path: Path) -> None:
    folder = copied(event, tmp_path)
    boneyard("report", str(folder), "--anchor", "random=1000")
    assert "OK: " in boneyard("verify", str(folder))
    results = msgspec.json.decode((folder / "results.json").read_bytes(), type=Results)
    assert results.event.anchor == Anchor("random", 1000)
    (pool,) = results.ratings.pools
    (rating,) = [rating for rating in pool.entrants if rating.name == "random"]
    assert (rating.elo, rating.half_width, pool.anchor) == (1000, 0, results.event.anchor)
    for name in ("report.md", "report.html"):
        text = (folder / name).read_text()
        assert "refers to the lead over it" in text
    output = boneyard("report", str(folder), "--anchor", "randm=1000", code=2)
    assert "did you mean random" in output
    assert "An anchor is a name" in boneyard("report", str(folder), "--anchor", "", code=2)
    boneyard("report", str(folder), "--anchor", "none")
    assert load_event(Folder(folder)).anchor is None
    assert (folder / "report.md").read_bytes() == (event / "report.md").read_bytes()


# Slow: a change of every file of the report is found alike.
@pytest.mark.parametrize(
    "name", slow_except(("results.json", "report.html", "times.json"), REPORTED)
)
def test_verify_names_changed_files(event: Path, tmp_path: Path, name: str) -> None:
    folder = copied(event, tmp_path)
    data = (event / name).read_bytes()
    for content in (data[:-1], data + b"\n", b"x" + data):
        (folder / name).write_bytes(content)
        assert f"{name}: " in boneyard("verify", str(folder), code=1)


def report_files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in REPORTED}


@pytest.mark.parametrize("left", [None, 0, 11])
def test_a_report_is_not_replaced_by_less_when_the_ledger_lost_results(
    event: Path, tmp_path: Path, left: int | None
) -> None:
    folder = copied(event, tmp_path)
    ledger = folder / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.unlink()
    fault = f"{ledger} is missing"
    if left is not None:
        # What a kill cut short is no result either.
        ledger.write_bytes(b"".join(lines[:left]) + lines[left][:9])
        fault = f"{ledger} has {left} of the {len(lines)} results that results.json reports"
    remedy = "The same `boneyard run` as before restores it from the game logs"
    assert boneyard("report", str(folder), code=2) == f"boneyard: {fault}. {remedy}.\n"
    assert report_files(folder) == report_files(event)


def test_a_mistyped_schema_gets_the_nearest(event: Path) -> None:
    assert event.exists()
    assert "did you mean results?" in boneyard("help", "schema", "result", code=2)
    assert json.loads(boneyard("help", "schema"))["title"] == "Boneyard protocol 1"
    for name, kind in (("results", "Results"), ("league", "LeagueTable")):
        assert json.loads(boneyard("help", "schema", name))["$ref"] == f"#/$defs/{kind}"


def test_the_lines_of_a_log_have_what_their_schema_says(event: Path) -> None:
    schema = json.loads(boneyard("help", "schema", "log"))
    kinds = schema["discriminator"]["mapping"]
    lines = [json.loads(line.data) for log in Folder(event).logs() for line in read_lines(log)]
    assert {line["type"] for line in lines} >= {"sitting", "game", "deal", "choice", "result"}
    for line in lines:
        record = schema["$defs"][kinds[line["type"]].rpartition("/")[2]]
        assert record["additionalProperties"] is False
        assert {*record["required"]} <= {*line} <= {*record["properties"]}
        assert re.fullmatch(record["properties"]["crc"]["pattern"], line["crc"])


def written(book: Book, made: list[Result]) -> bytes:
    """Write a file of one line for each game as a report does; add what is not copied to `made`."""
    pieces = report.FilePieces(book)

    def write(few: Sequence[Result]) -> bytes:
        made.extend(few)
        return b"".join(f"{result.game} {result.scores}\n".encode() for result in few)

    write_atomic(book.folder.games, pieces.write(book.folder.games, b"head\n", book.played, write))
    pieces.keep()
    return book.folder.games.read_bytes()


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.booleans())
@examples(20)
def test_pieces_of_a_file_are_copied_only_if_nothing_differs(
    tmp_path_factory: pytest.TempPathFactory, before: int, same: int, after: int, spoilt: bool
) -> None:
    folder, plan = Folder(tmp_path_factory.mktemp("event")), planned(2)
    results = [
        replace(game(board, ("bot0", "bot1"), (board % 3, 1)), game=f"{board}.bot0.bot1")
        for board in range(before + after)
    ]
    first = ResultStore(results[:before])
    later = [*results[:same], *(replace(r, scores=(7, 7)) for r in results[same:])]
    with mock.patch.object(report, "FILE_LINES_AT_ONCE", 4):
        written(Book(folder, plan, first), [])
        if spoilt:
            data = bytearray(folder.games.read_bytes())
            data[-2] ^= 1
            folder.games.write_bytes(data)
        made: list[Result] = []
        copied_file = written(Book(folder, plan, ResultStore(later)), made)
        folder.pieces.unlink()
        everything: list[Result] = []
        assert written(Book(folder, plan, ResultStore(later)), everything) == copied_file
    assert everything == later
    # A piece has four games, and the last one of a spoilt file is made again.
    known = min(before, same, len(later))
    whole = known if known == before == len(later) else known // 4 * 4
    assert made == later[whole:] or spoilt
