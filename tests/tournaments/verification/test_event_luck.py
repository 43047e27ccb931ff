"""The luck of an event: computed once, kept, topped up, checked; and what reports make of it."""

import csv
import hashlib
import json
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.analysis.timeline import Timeline
from arena.logs.checksummed import read_sealed
from arena.ui.replay_page import pack_game
from arena.valuation import luck as valuation
from arena.valuation.luck import DrawLuck, GameLuck
from arena.valuation.terms import USUAL_TERMS
from protocol.codec import encode_json
from protocol.records import Result
from tests.support.events import (
    BONEYARD,
    SMALL,
    boneyard,
    copied,
    fits,
    games_of,
    ledger,
    outputs,
    report,
    run,
    untouched,
)
from tests.support.forgeries import unsealed, write_sealed
from tests.support.pages import unpack_game
from tournaments.event.folder import Folder, load_event
from tournaments.event.luck import (
    LuckRecord,
    LuckStore,
    PolicyRecord,
    decode_luck,
    games_to_learn_from,
    last_board_before,
    luck_records,
    luck_terms,
    terms_of_game,
)

DUEL = ("first", "greedy", "--set", "target=1", "--format", "versus", "--measure", "points")
TEST = (*DUEL, "--h1", "30", "--without-luck", "--boards", "20")


def fake_luck(timelines: Sequence[Timeline], *_: object, **__: object) -> list[GameLuck]:
    """Luck that follows from each game's name, in its first round."""
    return [*map(fake_luck_of, timelines)]


def fake_luck_of(timeline: Timeline) -> GameLuck:
    logged = timeline.logged
    seats = len(logged.sitting.seats)
    value = hashlib.sha256(logged.game.game.encode()).digest()[0] / 16 - 8
    points = (value, *[-value / (seats - 1)] * (seats - 1))
    share = tuple(point / 64 for point in points)
    return GameLuck((DrawLuck(1, 1, 0, (0, 0), points, share),), points, share)


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compute luck in this process, by the game's name; return the games in the order asked."""
    names: list[str] = []

    def luck(timelines: Sequence[Timeline], *_: object, **__: object) -> list[GameLuck]:
        names.extend(timeline.logged.game.game for timeline in timelines)
        return fake_luck(timelines)

    monkeypatch.setattr(valuation, "luck_of_games", luck)
    return names


def records(folder: Path) -> list[LuckRecord]:
    entries = [entry.record for entry in read_sealed(folder / "luck.jsonl", decode_luck)]
    return [record for record in entries if isinstance(record, LuckRecord)]


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / name).read_text().splitlines()))


def report_luck(folder: Path) -> str:
    return boneyard("report", str(folder), "--luck")


def test_luck_is_written_in_ledger_order_and_reported(folder: Path, faked: list[str]) -> None:
    before = outputs(folder)
    report_luck(folder)
    assert [record.game for record in records(folder)] == [record.game for record in ledger(folder)]
    lines = rows(folder, "games.csv")
    by_game = {record.game: record for record in records(folder)}
    assert len(lines) == 24
    for line in lines:
        record, seat = by_game[line["game"]], int(line["seat"])
        assert float(line["luck_points"]) == record.points[seat]
        assert float(line["luck_share"]) == record.share[seat]
    results = json.loads((folder / "results.json").read_text())
    assert (results["luck"]["lines"], results["luck"]["games"]) == (12, 12)
    entrants = results["ratings"]["pools"][0]["entrants"]
    assert all(rating["corrected"]["margin"] != rating["margin"] for rating in entrants)
    rating_rows = rows(folder, "ratings.csv")
    assert [float(row["corrected_margin"]) for row in rating_rows] == [
        rating["corrected"]["margin"] for rating in entrants
    ]
    assert "Ratings with luck in, and with luck taken out" in report(folder)
    assert "Ratings with luck in, and with luck taken out" in (folder / "report.html").read_text()
    assert outputs(folder)["ledger.jsonl"] == before["ledger.jsonl"]
    assert "luck equal" in boneyard("verify", str(folder))
    assert len(faked) == 24


def test_the_luck_of_boards_that_are_still_played_waits(folder: Path, faked: list[str]) -> None:
    seeds = folder / "seeds.jsonl"
    content = seeds.read_bytes()
    seeds.write_bytes(content.splitlines(keepends=True)[0])
    assert "The luck of 6 games must wait until their boards are over" in report_luck(folder)
    assert {name.split(".")[0] for name in faked} == {"1"}
    assert {row["board"] for row in rows(folder, "games.csv") if row["luck_points"]} == {"1"}
    seeds.write_bytes(content)
    report_luck(folder)
    assert len(records(folder)) == 12


def test_a_report_from_before_the_luck_stays_right(folder: Path, faked: list[str]) -> None:
    """A kill may come between the luck and the report."""
    report_luck(folder)
    content = (folder / "luck.jsonl").read_bytes()
    cut = b"".join(content.splitlines(keepends=True)[:5])
    (folder / "luck.jsonl").write_bytes(cut)
    boneyard("report", str(folder))
    assert "The luck of 5 of 12 games is known" in report(folder)
    (folder / "luck.jsonl").write_bytes(content)
    assert fits(folder)
    # And one without any.
    (folder / "luck.jsonl").unlink()
    boneyard("report", str(folder))
    (folder / "luck.jsonl").write_bytes(content[:-7])
    assert fits(folder)
    del faked[:]
    report_luck(folder)
    assert len(faked) == 1
    assert (folder / "luck.jsonl").read_bytes() == content


@pytest.mark.parametrize("name", ["points", "share", "rounds"])
@pytest.mark.usefixtures("faked")
def test_verify_names_a_changed_figure(folder: Path, name: str) -> None:
    report_luck(folder)
    entries = records(folder)
    store = LuckStore(Folder(folder), load_event(Folder(folder)), writes=True)
    figure = getattr(entries[3], name)
    figure = ((9.0, 9.0),) if name == "rounds" else (9.0, *figure[1:])
    (folder / "luck.jsonl").unlink()
    entries[3] = replace(entries[3], **{name: figure})
    store.add(entries)
    assert f"{entries[3].game}: {name} is" in boneyard("verify", str(folder), code=1)


@pytest.mark.parametrize(("name", "value"), [("share", (0.1,)), ("points", (1e300, -1e300))])
@pytest.mark.usefixtures("faked")
def test_impossible_luck_is_damage(folder: Path, name: str, value: tuple[object, ...]) -> None:
    report_luck(folder)
    records = [json.loads(line) for line in unsealed(folder / "luck.jsonl")]
    records[1][name] = value
    write_sealed(folder / "luck.jsonl", map(encode_json, records))
    assert "luck.jsonl, line 2" in boneyard("verify", str(folder), code=1)
    for words in (("report",), ("export", "--luck", "--format", "csv"), ("show", "--prior", "1")):
        output = boneyard(words[0], str(folder), *words[1:], code=2)
        assert "luck.jsonl" in output
        assert "Remove the file: `boneyard report --luck` computes it again" in output


@pytest.mark.usefixtures("faked")
def test_verify_names_damage_strangers_and_doubles(folder: Path) -> None:
    report_luck(folder)
    path, entries = folder / "luck.jsonl", records(folder)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"game":"2', b'"game":"3', 1))
    assert "luck.jsonl, line" in boneyard("verify", str(folder), code=1)
    boneyard("report", str(folder), code=2)
    path.unlink()
    stranger = replace(entries[0], game="9.first.greedy")
    LuckStore(Folder(folder), load_event(Folder(folder)), writes=True).add(
        [*entries, entries[0], stranger]
    )
    output = boneyard("verify", str(folder), code=1)
    assert f"{entries[0].game} is there twice" in output
    assert "9.first.greedy is not in the schedule" in output


@pytest.mark.usefixtures("faked")
def test_the_luck_of_a_game_that_was_played_again_is_not_used(folder: Path) -> None:
    report_luck(folder)
    entries = records(folder)
    stale = replace(entries[0], scores=(0, 0))
    (folder / "luck.jsonl").unlink()
    LuckStore(Folder(folder), load_event(Folder(folder)), writes=True).add([stale, *entries[1:]])
    boneyard("report", str(folder))
    assert "The luck of 11 of 12 games is known" in report(folder)
    report_luck(folder)
    before, after = (sorted(luck.game for luck in part) for part in (entries, records(folder)))
    assert before == after
    assert all(record.scores != (0, 0) for record in records(folder))
    assert fits(folder)


@pytest.mark.usefixtures("faked")
def test_a_damaged_log_leaves_its_games_without_luck(folder: Path) -> None:
    path = folder / "games" / "from-1.first.greedy.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"choice":0', b'"choice":1', 1))
    output = report_luck(folder)
    assert "from-1.first.greedy.jsonl, line" in output
    assert "The luck of 10 of 12 games is known" in report(folder)


def policies(folder: Path) -> list[PolicyRecord]:
    entries = [entry.record for entry in read_sealed(folder / "luck.jsonl", decode_luck)]
    return [record for record in entries if isinstance(record, PolicyRecord)]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play an event with boards that policies are learnt from, and take its luck out."""
    folder = tmp_path_factory.mktemp("taught")
    words = ("first", "greedy", "--boards", "6", "--set", "max_rounds=1", "--seed", "3", "--luck")
    run(folder, *words)
    return folder


@pytest.mark.slow
def test_policies_are_learnt_on_the_boards_before(taught: Path) -> None:
    """A policy that learnt from a board, or from a later board, may not judge its luck."""
    folder = taught
    models = policies(folder)
    assert {policy.boards for policy in models} == {last_board_before(board, 1) for board in (5, 6)}
    names = {name for result in ledger(folder) for name in result.seats}
    assert {policy.entrant for policy in models} == names
    for policy in models:
        assert policy.games
        assert all(int(game.partition(".")[0]) <= policy.boards for game in policy.games)
    assert "luck equal" in boneyard("verify", str(folder))


def test_a_bot_that_joins_later_is_learnt_from_its_own_boards() -> None:
    """A new version plays new boards alone: without a policy of its own luck counts for less."""
    results = [
        Result(game=f"{board}.{bot}.old", board=board, seats=(bot, "old"), scores=(1, 0),
               places=(1, 2), rounds=1, why="target")
        for board, bot in enumerate(["first"] * 100 + ["new"] * 30, 1)
    ]  # fmt: skip
    needs = games_to_learn_from({}, results, results)
    assert [boards for bot, boards in needs if bot == "new"] == [104, 108, 116]
    assert [result.board for result in needs["new", 104]] == [101, 102, 103, 104]
    assert [result.board for result in needs["old", 64]] == [*range(33, 65)]
    policy_records = {key: PolicyRecord(*key, (), (), 1, key[1] / 200) for key in needs}
    assert not games_to_learn_from(policy_records, results, results[50:])
    assert luck_terms(policy_records, "107.new.old", deals=True).foreseen == (104 / 200, 64 / 200)
    assert luck_terms(policy_records, "104.new.old", deals=True) == USUAL_TERMS
    assert luck_terms(policy_records, "107.new.old", {107: 104}, deals=True) == USUAL_TERMS
    repeats = games_to_learn_from({}, results, results, {116 + n: 109 for n in range(1, 15)})
    assert ("new", 116) not in repeats


@pytest.mark.slow
def test_a_game_alone_has_the_luck_of_its_event(taught: Path) -> None:
    """`explain GAME` and replays use the learnt policies, as luck.jsonl and games.csv do."""
    store = LuckStore(Folder(taught), load_event(Folder(taught)))
    game = next(logged for logged in games_of(taught) if logged.game.board == 5)
    timeline = Timeline(game)
    record = store.records[game.game.game]
    assert [*luck_records([timeline], terms_of_game(taught, game))] == [record]
    assert [*luck_records([timeline])] != [record]
    lead = record.points[0] - record.points[1]
    words = ("explain", str(taught), game.game.game, "--seat", "0", "--json")
    causes = json.loads(boneyard(*words))["causes"]
    assert sum(cause["luck"] for cause in causes) == pytest.approx(lead, abs=0.01)
    page = pack_game(game, terms=terms_of_game(taught, game))
    review = unpack_game(page.data).review
    assert review
    draws = [draw for draw in review.draws if draw.tiles or draw.seat == 0]
    assert sum(draw.leads[0] for draw in draws) == pytest.approx(lead, abs=0.1)
    assert round(sum(cause["mistakes"] for cause in causes), 2) == round(
        sum(decision.loss for decision in review.decisions if decision.seat == 0), 2
    )


@pytest.mark.slow
def test_verify_learns_the_policies_again(taught: Path, tmp_path: Path) -> None:
    folder = copied(taught, tmp_path / "out")
    lines = [entry.record for entry in read_sealed(folder / "luck.jsonl", decode_luck)]
    (folder / "luck.jsonl").unlink()
    first, second = (line for line in lines if isinstance(line, PolicyRecord))
    changes = {
        first: replace(first, weights=(first.weights[0] + 0.001, *first.weights[1:])),
        second: replace(second, games=("5.first.greedy",)),
    }
    fakes = [changes.get(line, line) if isinstance(line, PolicyRecord) else line for line in lines]
    LuckStore(Folder(folder), load_event(Folder(folder)), writes=True).add(fakes)
    output = boneyard("verify", str(folder), code=1)
    assert f"the policy of {first.entrant} after board {first.boards} is not what" in output
    assert "has learnt from other games" in output


@pytest.mark.usefixtures("faked")
def test_events_are_rated_together_with_luck_taken_out(folder: Path, tmp_path: Path) -> None:
    report_luck(folder)
    ratings = json.loads((folder / "results.json").read_text())["ratings"]
    (table,) = json.loads(boneyard("show", str(folder), "--prior", "1", "--json"))["tables"]
    assert table["ratings"] == ratings
    sibling, terms = tmp_path.with_name("other"), ("--seed", "2", "--sandbox", "off")
    boneyard("run", *SMALL[:2], "--boards", "1", *SMALL[5:], *terms, "--out", str(sibling))
    pooled = json.loads(boneyard("show", str(folder), str(sibling), "--json"))
    assert [(table["games"], table["games_with_luck"]) for table in pooled["tables"]] == [(14, 12)]
    assert any("the luck of 12 of 14 games is known" in notice for notice in pooled["notices"])


# --- versus ---


@pytest.fixture(scope="module")
def duel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(valuation, "luck_of_games", fake_luck)
        folder = tmp_path_factory.mktemp("duel")
        output = run(folder, *TEST)
    assert "luck taken out" in output
    with untouched(folder):
        yield folder


@pytest.mark.usefixtures("faked")
def test_versus_plays_the_same_whether_it_was_stopped_or_not(duel: Path, tmp_path: Path) -> None:
    folder = copied(duel, tmp_path)
    reference = outputs(folder)
    # As a kill leaves it before the luck of the last block was written, or any.
    luck = (folder / "luck.jsonl").read_bytes()
    for left in (luck[:-40], b""):
        (folder / "luck.jsonl").write_bytes(left)
        (folder / "ledger.jsonl").unlink()
        run(folder, *TEST)
        assert outputs(folder) == reference
        assert (folder / "luck.jsonl").read_bytes() == luck


def test_luck_is_taken_out_of_points_only() -> None:
    output = boneyard("run", "first", "greedy", "--format", "versus", "--without-luck", code=2)
    assert "measure must be points, not elo" in output
    boneyard("run", "first", "greedy", "--without-luck", code=2)


# --- the real thing ---


@pytest.mark.slow
def test_a_killed_computation_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    """The real luck, in processes of their own, from the command line."""
    words = ("first", "greedy", "counting", "--boards", "2", "--set", "target=30")
    run(tmp_path, *words)
    command = (*BONEYARD, "report", str(tmp_path), "--luck")
    path = tmp_path / "luck.jsonl"
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not (path.exists() and path.stat().st_size) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert fits(tmp_path)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    content = path.read_bytes()
    assert len(records(tmp_path)) == 12
    path.unlink()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert path.read_bytes() == content
    assert "luck equal" in boneyard("verify", str(tmp_path))
    (first, *_) = games_of(tmp_path)
    (luck,) = luck_records([Timeline(first)])
    assert luck in records(tmp_path)
