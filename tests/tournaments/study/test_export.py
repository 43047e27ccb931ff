"""Exported decisions: which games and bots, in which file, and that a reader finds them again."""

import csv
import importlib
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.analysis.timeline import Timeline
from arena.logs.gamelog import GameLog, read_games
from arena.rules.variants import derive, find_variant
from arena.training.encoding import Encoding, decision_rows
from arena.valuation.decision_loss import review_seat
from arena.valuation.luck import luck_of_games
from protocol.errors import UserError
from tests.support.events import BONEYARD, SMALL, boneyard, copy_of, finished, games_of
from tests.support.games import any_of, bob_fouls, log_game, write
from tournaments.event.folder import Folder
from tournaments.event.luck import read_seats
from tournaments.study import export
from tournaments.study.decision_table import Wish
from tournaments.study.export import Export, export_decisions

PAIRS = derive(find_variant("partnership"), "pairs", {"target": 30})
TRIO = derive(find_variant("dutch"), "../trio", {"target": 30})


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def export_rows(
    *sources: Path, out: Path, bots: tuple[str, ...] = (), cores: int = 1, wish: Wish | None = None
) -> list[Path]:
    order = Export(sources, out, "csv", wish or Wish(frozenset(bots)))
    return [file.path for file in export_decisions(order, lambda *_: None, cores)]


def test_each_decision_of_an_event_is_a_row_with_all_columns(event: Path, tmp_path: Path) -> None:
    output = boneyard("export", str(event), "--out", f"{tmp_path}/all.csv")
    rows = iter(table(tmp_path / "all.csv"))
    games = games_of(event)
    for game in games:
        assert game.result
        code = Encoding(game.sitting.rules, 2)
        for decision in decision_rows(Timeline(game), code, (0, 1)):
            row = next(rows)
            names, seat = game.sitting.seats, decision.question.seat
            assert (row["game"], row["entrant"], int(row["seat"])) == (
                game.game.game, names[seat], seat,
            )  # fmt: skip
            vector = [float(row[f"v{slot}"]) for slot in range(code.size)]
            assert vector == pytest.approx(decision.vector)
            mask = [int(row[f"m{slot}"]) for slot in range(len(decision.mask))]
            assert mask == decision.mask.tolist()
            choice = decision.question.choice
            assert (int(row["choice"]), int(row["action"])) == (choice, decision.action)
            options = json.loads(row["options"])
            assert len(options) == len(decision.question.options)
            assert options[int(row["choice"])]["do"] in ("play", "draw", "pass")
            assert int(row["points"]) == game.result.scores[seat]
            assert float(row["margin"]) == game.result.scores[seat] - game.result.scores[1 - seat]
            assert row["partner"] == row["foul"] == ""
    assert next(rows, None) is None
    assert f"games: {len(games)}" in output


def test_only_the_named_bots_decisions_are_exported(event: Path, tmp_path: Path) -> None:
    (path,) = export_rows(event, out=tmp_path / "two.csv", bots=("first", "random"))
    assert {row["entrant"] for row in table(path)} == {"first", "random"}
    with pytest.raises(UserError, match="Unknown bot 'randon': did you mean random"):
        export_rows(event, out=tmp_path / "none.csv", bots=("randon",))


def test_the_bytes_do_not_depend_on_the_cores(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (serial,) = export_rows(event, out=tmp_path / "one.csv")
    monkeypatch.setattr(export, "EXPORT_BATCH_GAMES", 1)
    (parallel,) = export_rows(event, out=tmp_path / "two.csv", cores=2)
    assert parallel.read_bytes() == serial.read_bytes()


def test_partners_and_fouls_have_their_columns(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.jsonl", log_game(PAIRS, 4, any_of("pairs")))
    (path,) = export_rows(pairs, out=tmp_path / "pairs.csv")
    rows = table(path)
    assert {(row["entrant"], row["partner"], row["side"]) for row in rows} == {
        ("ada", "cyd", "0"), ("bob", "dan", "1"), ("cyd", "ada", "0"), ("dan", "bob", "1"),
    }  # fmt: skip
    (result,) = (game.result for game in read_games(pairs))
    assert result
    margin = (sum(result.scores[::2]) - sum(result.scores[1::2])) / 2
    assert {(row["side"], float(row["margin"])) for row in rows} == {("0", margin), ("1", -margin)}
    log = write(tmp_path / "fouled.jsonl", log_game(pick=bob_fouls))
    (path,) = export_rows(log, out=tmp_path / "fouled.csv")
    *_, last = table(path)
    assert (last["entrant"], last["foul"], last["choice"], last["action"], last["margin"]) == (
        "bob", "illegal", "", "", "",
    )  # fmt: skip


def test_luck_and_losses_are_computed_for_the_named_bots(tmp_path: Path) -> None:
    path = write(tmp_path / "trio.jsonl", log_game(TRIO, 3, any_of("trio")))
    (game,) = read_games(path)
    (plain,) = export_rows(path, out=tmp_path / "plain.csv")
    columns = ("round_luck", "luck_points", "luck_share", "best", "loss", "loss_error", "values")
    assert {row[name] for row in table(plain) for name in columns} == {""}
    wish = Wish(frozenset(["bob"]), luck=True, review=True)
    (path,) = export_rows(path, out=tmp_path / "valued.csv", wish=wish)
    rows = table(path)
    luck = luck_of_games([Timeline(game)])[0]
    draw_luck = dict.fromkeys(range(1, 99), 0.0)
    for draw in luck.draws:
        draw_luck[draw.round] += draw.points[1]
    decisions = {decision.number: decision for decision in review_seat(Timeline(game), 1)}
    assert len(rows) == len(decisions) > 5
    for row in rows:
        assert float(row["luck_points"]) == pytest.approx(luck.points[1], abs=1e-3)
        assert float(row["luck_share"]) == pytest.approx(luck.share[1], abs=1e-5)
        assert float(row["round_luck"]) == pytest.approx(draw_luck[int(row["round"])], abs=1e-3)
        decision = decisions[int(row["question"])]
        assert (int(row["choice"]), int(row["best"])) == (decision.choice, decision.best)
        assert float(row["loss"]) == pytest.approx(decision.loss, abs=1e-3)
        assert float(row["loss_error"]) == pytest.approx(decision.error, abs=1e-3)
        assert json.loads(row["values"]) == pytest.approx(list(decision.values), abs=1e-3)


@pytest.mark.slow
def test_an_events_review_gives_the_losses_that_it_has(tmp_path: Path) -> None:
    """With few deals its values differ from those that the export would compute."""
    folder = copy_of("block", tmp_path / "event")
    boneyard("explain", "--review", str(folder), "--bot", "first", "--deals", "4")
    (path,) = export_rows(folder, out=tmp_path / "all.csv")
    rows = {(row["game"], int(row["seat"]), int(row["question"])): row for row in table(path)}
    decisions = {
        (seat.game, seat.seat, decision.number): decision
        for seat in read_seats(Folder(folder))
        for decision in seat.decisions
    }
    assert {key for key, row in rows.items() if row["loss"]} == decisions.keys()
    for key, decision in decisions.items():
        row = rows[key]
        assert (float(row["loss"]), float(row["loss_error"])) == (decision.loss, decision.error)
        assert (json.loads(row["values"]), int(row["best"])) == ([*decision.values], decision.best)
    (full,) = export_rows(folder, out=tmp_path / "every.csv", wish=Wish(review=True))
    for row in table(full):
        key = row["game"], int(row["seat"]), int(row["question"])
        assert row["loss"] == (rows[key]["loss"] or row["loss"]) != ""


def test_event_and_game_are_unique_across_events(tmp_path: Path) -> None:
    events = [copy_of("round-robin", tmp_path / "a" / "run"), tmp_path / "b" / "run"]
    words = ("first", "greedy", "--boards", "1", *SMALL[5:], "--sandbox", "off")
    boneyard("run", *words, "--seed", "2", "--out", f"{events[1]}")
    game = log_game(games_of(events[0])[0].sitting.rules, 2, any_of(5))
    write(tmp_path / "evening.jsonl", game)
    sources = [*events, tmp_path / "evening.jsonl"]
    (path,) = export_rows(*sources, out=tmp_path / "all.csv")
    keys = {(row["event"], row["game"]) for row in table(path)}
    assert {event for event, _ in keys} == {"run", "run-2", "evening"}
    assert len(keys) == sum(len(games_of(event)) for event in events) + 1
    # A log of an event is called after it, too.
    (log_table,) = export_rows(Folder(events[1]).logs()[0], out=tmp_path / "alone.csv")
    assert {row["event"] for row in table(log_table)} == {"run"}


def test_each_table_gets_a_file_of_its_own_beside_the_named_one(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    for number, (rules, seats) in enumerate([(TRIO, 3), (TRIO, 2), (PAIRS, 4), (TRIO, 3)]):
        game = log_game(rules, seats, any_of(number))
        write(tmp_path / "games" / f"{number}.jsonl", game)
    variant = derive(TRIO, TRIO.name, {"target": 40})
    write(tmp_path / "games" / "9.jsonl", log_game(variant, 3, any_of(9)))
    paths = export_rows(tmp_path, out=tmp_path / "all.csv")
    names = ["all--trio-3.csv", "all--trio-2.csv", "all-pairs-4.csv", "all--trio-3-2.csv"]
    assert [path.relative_to(tmp_path).name for path in paths] == names
    assert {path.parent for path in paths} == {tmp_path}
    for path in paths:
        (size,) = {(row["rules"], row["seats"]) for row in table(path)}
        assert path.name.startswith(f"all-{size[0].replace('../', '-')}-{size[1]}")


def test_of_an_event_only_the_games_of_its_ledger_count(tmp_path: Path) -> None:
    event = copy_of("round-robin", tmp_path / "event")
    (path,) = export_rows(event, out=tmp_path / "all.csv")
    lines = (event / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    (event / "ledger.jsonl").write_bytes(b"".join(lines[:-2]))
    (rest,) = export_rows(event, out=tmp_path / "fewer.csv")
    left = {row["game"] for row in table(path)} - {row["game"] for row in table(rest)}
    assert left == {json.loads(line)["game"] for line in lines[-2:]}


def test_a_game_without_an_end_is_left_out_and_no_game_at_all_is_refused(tmp_path: Path) -> None:
    game = log_game(pick=any_of(1))
    log = GameLog(tmp_path / "log.jsonl", game.sitting)
    log.append([game.game, *game.records[:4]])
    log.close()
    with pytest.raises(UserError, match="There is no decision of a finished game in"):
        export_rows(tmp_path / "log.jsonl", out=tmp_path / "none.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


def test_a_damaged_log_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", log_game(), log_game(board=2))
    data = path.read_bytes()
    (out,) = export_rows(path, out=tmp_path / "all.csv")
    before = out.read_bytes()
    offset = data.rindex(b'"choice":0')
    path.write_bytes(data[:offset] + b'"choice":1' + data[offset + 10 :])
    with pytest.raises(UserError, match="its checksum does not match"):
        export_rows(path, out=out)
    assert out.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["all.csv", "log.jsonl"]


def test_who_may_not_read_the_logs_may_not_read_the_decisions(tmp_path: Path) -> None:
    """Logs of an unfinished event show the tiles of boards that other bots have still to play."""
    folder = tmp_path / "games"
    path = write(folder / "log.jsonl", log_game())
    for mode in (0o700, 0o755):
        folder.chmod(mode)
        path.chmod(0o644)
        (file,) = export_rows(path, out=tmp_path / "all.csv")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600 | (mode & 0o044)


def test_the_format_follows_from_the_files_name(event: Path, tmp_path: Path) -> None:
    words = ("export", str(event), "--bot", "first")
    assert "names no format" in boneyard(*words, "--out", f"{tmp_path}/all.xls", code=2)
    boneyard(*words, "--out", f"{tmp_path}/all.xls", "--format", "csv")
    boneyard(*words, "--out", f"{tmp_path}", "--format", "csv")
    boneyard(*words, "--out", f"{tmp_path}/new/all.csv")
    (content,) = {
        (tmp_path / name).read_bytes() for name in ("all.xls", "decisions.csv", "new/all.csv")
    }
    assert content.startswith(b"event,game,")


def test_a_file_that_cannot_be_written_is_one_sentence(event: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    words = ("export", str(event), "--out", f"{tmp_path}/file/all.csv")
    output = boneyard(*words, code=2)
    assert output == f"boneyard: The export stopped: {tmp_path}/file: File exists.\n"


def test_files_are_listed_as_json(event: Path, tmp_path: Path) -> None:
    words = ("export", str(event), "--out", f"{tmp_path}/all.csv", "--json")
    (file,) = json.loads(boneyard(*words))["written"]
    assert file["path"] == f"{tmp_path}/all.csv"
    assert file["games"] == len(games_of(event))
    assert file["bytes"] == (tmp_path / "all.csv").stat().st_size


# --- Parquet ---


def test_without_pyarrow_the_extra_is_named(event: Path, tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['pyarrow'] = None; " + BONEYARD[-1]
    words = ("export", str(event), "--out", str(tmp_path))
    done = subprocess.run((sys.executable, "-c", hidden, *words), capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install '.[parquet]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not [*tmp_path.iterdir()]


@pytest.fixture
def arrow() -> Any:
    return pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


@pytest.mark.slow
def test_parquet_has_the_same_rows_in_lists_of_one_size(
    arrow: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = finished("reviewed")
    monkeypatch.setattr(export, "EXPORT_BATCH_GAMES", 1)
    form = importlib.import_module("tournaments.study.parquet")
    monkeypatch.setattr(form, "ROWS_A_GROUP", 100)
    (plain,) = export_rows(event, out=tmp_path / "all.csv", wish=Wish(luck=True, review=True))
    order = Export((event,), tmp_path / "all.parquet", "parquet", Wish(luck=True, review=True))
    (file,) = export_decisions(order, lambda *_: None, 2)
    read, rows = arrow.ParquetFile(file.path), table(plain)
    assert read.num_row_groups > 1
    arrow_table = read.read()
    for name in arrow_table.column_names[:-3]:
        values = ["" if cell is None else f"{cell}" for cell in arrow_table[name].to_pylist()]
        assert values == [row[name] for row in rows], name
    assert arrow_table["values"].to_pylist() == [json.loads(row["values"]) for row in rows]
    for name, letter in (("vector", "v"), ("mask", "m")):
        values = arrow_table[name].combine_chunks().flatten().to_numpy().reshape(len(rows), -1)
        assert values.dtype == (np.float32 if letter == "v" else np.int8)
        columns = [f"{letter}{index}" for index in range(values.shape[1])]
        assert values[0].tolist() == pytest.approx([float(rows[0][column]) for column in columns])
        assert values[-1].tolist() == pytest.approx([float(rows[-1][column]) for column in columns])


def test_parquet_metadata_describes_the_code(arrow: Any, event: Path, tmp_path: Path) -> None:
    order = Export((event,), tmp_path / "all.parquet", "parquet")
    export_decisions(order, lambda *_: None, 1)
    schema = json.loads(arrow.read_schema(order.out).metadata[b"boneyard"])
    rules = games_of(event)[0].sitting.rules
    code = Encoding(rules, 2)
    assert (schema["seats"], schema["rules"]["name"]) == (2, rules.name)
    assert schema["vector"] == {name: [part.start, part.stop] for name, part in code.parts.items()}
    assert len(schema["mask"]) == len(code.actions.options)
