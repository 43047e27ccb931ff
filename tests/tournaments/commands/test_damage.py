"""Files with right checksums and wrong content: every command refuses each in a sentence."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena.logs.checksummed import compressed_path
from tests.support.events import boneyard, copied, copy_of, laid_open, untouched
from tests.support.fast_run import slow_except
from tests.support.forgeries import unsealed, write_sealed
from tournaments.cli.main import main

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Damage = Callable[[Path], object]
LOG = "games/from-1.first.greedy.jsonl"
GAME = "1.first.greedy"
COMMITMENTS = "commitments.jsonl"
COMMANDS = {
    "verify": ("verify",),
    "rate": ("show", "--prior", "1"),
    "report": ("report",),
    "show": ("show",),
    "explain": ("explain", GAME),
    "replay": ("replay", GAME),
}
"""Each command, and what stands after the event's folder."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    event = laid_open(copy_of("round-robin", tmp_path_factory.mktemp("event")))
    with untouched(event) as folder:
        yield folder


def reseal(path: Path, kind: str, changes: Mapping[str, Any]) -> None:
    """Change the first record of a kind, in a log that of one game, and seal all lines anew."""
    records, game = [json.loads(line) for line in unsealed(path)], GAME
    for record in records:
        game = record["game"] if record["type"] == "game" else game
        if record["type"] == kind and game == GAME:
            record |= changes
            break
    else:
        pytest.fail(f"The log has no {kind}.")
    lines = (json.dumps(record, separators=(",", ":")).encode() for record in records)
    write_sealed(path, lines)


def ledger(**changes: Any) -> Damage:
    return lambda folder: reseal(folder / "ledger.jsonl", "result", changes)


def log(kind: str, **changes: Any) -> Damage:
    return lambda folder: reseal(folder / LOG, kind, changes)


def plan(**changes: Any) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / "event.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return damage


def reversal(name: str) -> Damage:
    def damage(folder: Path) -> None:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(reversed(lines)))

    return damage


def replacement(name: str, old: str, new: str) -> Damage:
    def damage(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return damage


REPLAY = f"replays/{GAME}.js"
FOUL = [{"seat": 77, "foul": "late"}]
READ_LEDGER, READ_LOG = "rate report show", "explain replay"
TABLE: dict[str, tuple[Damage, str, str]] = {
    # what is wrong: how it is made, what verify says, who else refuses
    "a foul of seat 77": (ledger(fouls=FOUL), "fouls[0].seat", READ_LEDGER),
    "a score of 2^40": (ledger(scores=[2**40, 0]), "scores[0]", READ_LEDGER),
    "an unknown name": (ledger(seats=["nobody", "first"]), "not the next game", READ_LEDGER),
    "a board of no plan": (
        ledger(board=9999, game=f"9999{GAME[1:]}"),
        "not the next game",
        READ_LEDGER,
    ),
    "fewer boards than were played": (plan(boards=1), "1 boards", READ_LEDGER),
    "another format": (plan(format={"type": "knockout"}), "must have a commitment", READ_LEDGER),
    "a choice of seat 77": (log("choice", seat=77), "seat", READ_LOG),
    "an answer to another question": (log("choice", id=5), GAME, READ_LOG),
    "a result of other seats": (
        log("result", seats=["a", "b", "c"], scores=[1, 2, 3], places=[1, 2, 3]),
        "not about 2 seats",
        READ_LOG,
    ),
    "a sitting without boards": (log("sitting", boards=[]), "boards", READ_LOG),
    "seeds out of order": (reversal("seeds.jsonl"), "not in order", ""),
    "no commitments": (
        lambda folder: (folder / "commitments.jsonl").unlink(),
        "commitment",
        READ_LEDGER,
    ),
    "999999 boards and an empty file of commitments": (
        lambda folder: (plan(boards=999_999)(folder), (folder / COMMITMENTS).write_bytes(b"")),
        "far more than were ever committed to",
        READ_LEDGER,
    ),
    "a seed of board -2": (replacement("seeds.jsonl", '"board":2', '"board":-2'), "line 2", ""),
    "a replay that tells otherwise": (
        lambda folder: (
            boneyard("replay", f"{folder}", "--html"),
            replacement(REPLAY, "greedy", "grredy")(folder),
        ),
        REPLAY,
        "",
    ),
    "another replay page": (replacement("replay.html", "R", "r"), "replay.html", ""),
}


FAST = (
    "a foul of seat 77",
    "another format",
    "a choice of seat 77",
    "seeds out of order",
    "a replay that tells otherwise",
)
"""One damage for each file and each kind of fault."""


# Slow: every damage is one sentence in every command that reads the file, and no traceback.
@pytest.mark.parametrize("damage", slow_except(FAST, TABLE))
def test_readers_refuse_damage_in_a_sentence(source: Path, tmp_path: Path, damage: str) -> None:
    make, finding, refuse = TABLE[damage]
    make(copied(source, tmp_path))
    for name, (command, *words) in COMMANDS.items():
        done = CliRunner().invoke(main, [command, str(tmp_path), *words])
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        if name == "verify":
            assert done.exit_code in (1, 2), done.output
            assert finding in done.output
        elif name in refuse.split():
            assert done.exit_code == 2, f"{name}: {done.output}"
            (sentence,) = [line for line in done.output.splitlines() if "boneyard: " in line]
            assert len(sentence) < 1000
        else:
            assert done.exit_code == 0, f"{name}: {done.output}"


def test_a_log_with_a_score_too_many_is_not_exported(source: Path, tmp_path: Path) -> None:
    log("round", scores=[1, 2, 3])(copied(source, tmp_path / "event"))
    words = ("export", str(tmp_path / "event"), "--out", str(tmp_path / "out.csv"))
    assert "it is not a game of its sitting" in boneyard(*words, code=2)


def test_a_game_whose_name_leads_out_of_the_folder_is_damage(source: Path, tmp_path: Path) -> None:
    event = copied(source, tmp_path / "event")
    log("game", game="../../../planted")(event)
    boneyard("publish", str(event), str(tmp_path / "site"), code=2)
    assert not list(tmp_path.rglob("planted*"))
    assert "a game's name has no slash" in boneyard("verify", str(event), code=1)


def test_readers_of_a_broken_review_name_the_remedy(source: Path, tmp_path: Path) -> None:
    event = copied(source, tmp_path / "event")
    (event / "review.json").write_bytes(b'{"entrants": 1}')
    remedy = "Remove the file: `boneyard explain --review` makes it again"
    assert remedy in boneyard("verify", str(event), code=1)
    assert remedy in boneyard("report", str(event), code=2)
    assert remedy in boneyard("publish", str(event), str(tmp_path / "site"), code=2)


def test_verify_finds_a_forged_file_beside_a_true_log(source: Path, tmp_path: Path) -> None:
    event = copied(source, tmp_path)
    compressed = compressed_path(event / LOG)
    compressed.write_bytes(zstd.compress((event / LOG).read_bytes()))
    assert "OK: " in boneyard("verify", str(event))
    for forgery in (zstd.compress((event / LOG).read_bytes() + b"{}\n"), b"no zstd"):
        compressed.write_bytes(forgery)
        assert f"{compressed.name}: " in boneyard("verify", str(event), code=1)


def test_show_computes_ratings_and_reads_none(source: Path, tmp_path: Path) -> None:
    event = copy_of("reviewed", tmp_path / "event")
    output = boneyard("show", str(event), "--json")
    assert output != boneyard("show", str(source), "--json"), "The luck is taken out."
    results = event / "results.json"
    results.write_text(results.read_text().replace('"elo":', '"elo":1'))
    # A copy has the times of its making, in any order.
    for path, time in ((results, 2_000_000_000), (event / "ledger.jsonl", 1_000_000_000)):
        os.utime(path, (time, time))
        assert boneyard("show", str(event), "--json") == output


def test_commands_refuse_games_that_would_count_twice(source: Path, tmp_path: Path) -> None:
    copy = copied(source, tmp_path / "copy")
    for words in (
        ("show", str(source), str(copy)),
        ("export", str(source), str(source), "--out", str(tmp_path / "out.csv")),
        ("export", str(source), str(copy / LOG), "--out", str(tmp_path / "out.csv")),
        ("export", "--problems", str(source), str(copy), "--out", str(tmp_path / "set.jsonl")),
    ):
        assert "have the same games, which would count twice" in boneyard(*words, code=2)


WATCHED = """
import sys
CANARY, *LOOKS = sys.argv[1:]
def watch(event, args):
    own = event == "open" and CANARY not in str(args[0])
    inside = event.startswith("socket.") and not isinstance(args[1], tuple)
    if not (own or inside or event == "subprocess.Popen" and args[0] == "/sbin/ldconfig"):
        print("SEEN", event, args)
SUSPECT = "open socket.connect socket.bind socket.getaddrinfo os.system subprocess.Popen".split()
sys.addaudithook(lambda event, args: watch(event, args) if event in SUSPECT else None)
from tournaments.cli.main import main
for look in LOOKS:
    print("LOOK", look)
    try:
        main(look.split())
    except SystemExit as end:
        print("ENDED", end.code)
"""
LOOKS = (
    *(f"{word} EVENT" for word in ("show", "verify", "explain", "replay")),
    *("show EVENT --separate", "show EVENT --prior 1"),
    *(
        "report EVENT",
        "report EVENT --luck",
        "explain EVENT --review --deals 2",
        "replay EVENT --html",
    ),
    *(f"explain EVENT {GAME}", f"explain EVENT {GAME} 1 --deals 2", f"replay EVENT {GAME}"),
    *("publish EVENT OUT/site", "publish EVENT OUT/live --delay 1s"),
    *("export EVENT --out OUT/d.csv", "export EVENT --problems --out OUT/set.jsonl"),
)


@pytest.mark.slow
def test_no_reading_command_starts_opens_or_reads_what_the_plan_names(tmp_path: Path) -> None:
    """One process makes all the looks: what it watches it cannot stop watching."""
    event, canary = copy_of("block", tmp_path / "event"), tmp_path / "canary"
    canary.mkdir()
    (canary / "file").write_text("secret")
    event_plan = json.loads((event / "event.json").read_text())
    for entrant in event_plan["entrants"]:
        entrant["command"] |= {
            "argv": ["/bin/sh", "-c", f"touch {canary}/started"],
            "folder": f"{canary}",
            "reads": [f"{canary}/file", "../canary/file"],
            "network": ["127.0.0.1:9"],
        }
    (event / "event.json").write_text(json.dumps(event_plan | {"sandbox": "off"}))
    looks = [look.replace("EVENT", f"{event}").replace("OUT", f"{tmp_path}") for look in LOOKS]
    done = subprocess.run(
        (sys.executable, "-c", WATCHED, f"{canary}", *looks), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    ends = re.findall("^ENDED (.*)$", done.stdout, re.MULTILINE)
    assert len(ends) == len(LOOKS)
    assert {*ends} <= {"0", "1"}
    assert "SEEN" not in done.stdout
    assert [path.name for path in canary.iterdir()] == ["file"]
