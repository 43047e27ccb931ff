"""DEALS.md tells the truth, and its checker, which shares nothing with us, agrees on every deal."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.engine import deal, new_game
from arena.engine.shuffle import RandomWords, board_seed, commitment, randbelow
from arena.logs.checksummed import compress
from arena.logs.gamelog import GameLog
from arena.match.referee import GameSetup, Referee
from arena.rules.variants import VARIANTS, derive, find_variant
from protocol.codec import encode_line
from protocol.messages import Choose, Clock
from protocol.records import Commitment, Reveal
from protocol.ruleset import Ruleset, playable_seat_counts, set_of_tiles
from tests.support.events import boneyard, copied, copy_of, laid_open, summary, untouched
from tests.support.fast_run import slow_except
from tests.support.games import short
from tests.support.tables import sitting
from tournaments.plan.schedule import numbers
from tournaments.report import event_text

PROTOCOL = Path(__file__).parents[3] / "protocol"
NODE = shutil.which("node")
UNPACKS = shutil.which("zstd") is not None
"""True if `zstd` is here: a node that cannot unpack logs itself uses it."""
needs_node = pytest.mark.skipif(NODE is None, reason="node is not on the PATH")
RARE = (135_865).to_bytes(32, "big")
"""A seed whose first double-18 deal throws a word away; found by trying."""
LARGE = derive(find_variant("draw"), "large", {"highest_pip": 18, "max_rounds": 1})
PROUD = derive(find_variant("draw"), "proud", {"refuse_doubles": 1, "max_rounds": 3})


def vectors() -> list[dict[str, Any]]:
    text = (PROTOCOL / "DEALS.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```json vectors\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [json.loads(line) for line in block.splitlines()]


def recompute(vector: dict[str, Any], seed: bytes) -> dict[str, Any]:
    """Return the vector with its result recomputed by us."""
    result: dict[str, Any]
    match vector:
        case {"secret": secret, "event": event, "board": board}:
            result = {"seed": board_seed(bytes.fromhex(secret), event, board).hex()}
        case {"secret": secret, "event": event, "boards": boards}:
            seed_of = partial(board_seed, bytes.fromhex(secret), event)
            result = {"numbers": list(numbers(vector["names"], boards, seed_of).values())}
        case {"commitment": _}:
            result = {"commitment": commitment(bytes.fromhex(vector["seed"]))}
        case {"purpose": purpose, "words": wanted}:
            stream = RandomWords(seed, vector["round"], purpose)
            result = {"words": stream.take(len(wanted))}
        case {"below": n}:
            result = {"number": randbelow(iter(vector["words"]), n)}
        case {"deal": number}:
            purpose = "tiles" if number == 1 else f"tiles {number}"
            stream = RandomWords(seed, vector["round"], purpose)
            hands, stock = deal.deal_tiles(find_variant(vector["rules"]), vector["seats"], stream)
            result = {"hands": hands, "stock": stock}
        case _:
            game = new_game(find_variant(vector["rules"]), vector["seats"])
            leader, lots = deal.choose_leader(
                game, "highest", RandomWords(seed, vector["round"], "lead")
            )
            result = {"leader": leader, "lots": [(lot.seat, lot.tile) for lot in lots]}
    return json.loads(json.dumps({**vector, **result}))  # type: ignore[no-any-return]


def test_our_deals_equal_the_vectors_of_deals_md() -> None:
    cases = vectors()
    seed = bytes.fromhex(cases[0]["seed"])
    assert len(cases) == 13
    for vector in cases:
        assert recompute(vector, seed) == vector


def test_source_files_that_a_report_names_exist(event: Path) -> None:
    for report in ("report.md", "report.html"):
        paths = re.findall(r"protocol/[\w.]+", (event / report).read_text())
        assert set(paths) == {"protocol/DEALS.md", "protocol/check_deals.mjs"}
    assert all((PROTOCOL.parent / path).is_file() for path in paths)


def check(folder: Path) -> tuple[int, str]:
    """Do in an event's folder just what its report says, with the source where ours is."""
    (command,) = re.findall(r"`node boneyard/(.*)`", event_text.DISTRUST)
    program, *files = command.split()
    done = subprocess.run(
        [NODE or "", PROTOCOL.parent / program, *files], cwd=folder, capture_output=True, text=True
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def games() -> Iterator[tuple[Ruleset, int]]:
    for name in VARIANTS:
        yield from ((short(name), seats) for seats in playable_seat_counts(find_variant(name)))
    yield PROUD, 3
    yield LARGE, 2


def write_game(path: Path, board: int, seed: bytes, rules: Ruleset, seats: int) -> int:
    """Play a game with last choices, so that deals are refused, and log it; how many deals."""
    names = tuple("abcdefgh"[:seats])
    (number,) = numbers(".".join(names), (board,), lambda _: seed).values()
    referee = Referee(GameSetup(f"{board}.x", number, board, names, rules, Clock()), seed)
    while question := referee.awaiting:
        choice = Choose(id=question.id, choice=len(question.options) - 1)
        referee.receive(question.seat, encode_line(choice)[:-1], 0.0)
    record = sitting(names, (board,), rules, Clock())
    records = referee.take_records()
    log = GameLog(path, record)
    log.append(records)
    log.close()
    return sum(getattr(record, "deal", 0) > 0 for record in records)


# Slow: the checker agrees on real events beside it.
@pytest.mark.slow
@needs_node
def test_the_checker_agrees_on_every_named_game(tmp_path: Path) -> None:
    commitments, seeds, deals = b"", b"", 0
    (tmp_path / "games").mkdir()
    for board, (rules, seats) in enumerate(games(), 1):
        seed = RARE if rules is LARGE else board_seed(b"secret", "test", board)
        if board % 2:
            # The organiser sets two tiles of the first round.
            seed += bytes([1, *[255] * (len(set_of_tiles(rules.deal)) - 2), 0])
        commitments += encode_line(Commitment(board, commitment(seed)))
        seeds += encode_line(Reveal(board, seed.hex()))
        deals += write_game(tmp_path / "games" / f"{board}.jsonl", board, seed, rules, seats)
    (tmp_path / "commitments.jsonl").write_bytes(commitments)
    (tmp_path / "seeds.jsonl").write_bytes(seeds)
    assert any(b'"deal":2' in log.read_bytes() for log in (tmp_path / "games").iterdir())
    output = f"{board} games, {deals} deals recomputed, 0 games wait for their seeds, 0 faults.\n"
    assert check(tmp_path) == (0, output)
    if UNPACKS:
        for path in (tmp_path / "games").iterdir():
            compress(path)
        assert check(tmp_path) == (0, output)


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a real event."""
    folder = laid_open(copy_of("round-robin", tmp_path_factory.mktemp("deals")))
    with untouched(folder):
        yield folder


@needs_node
def test_the_checker_agrees_on_real_events(event: Path, tmp_path: Path) -> None:
    for folder in (event, laid_open(copy_of("bye", tmp_path))):
        code, output = check(folder)
        assert code == 0, output
        assert output.startswith(f"{summary(folder)['played']} games, ")
        assert output.endswith("0 games wait for their seeds, 0 faults.\n")


def swap(match: "re.Match[bytes]") -> bytes:
    return match[1] + match[3] + b"," + match[2]


TAMPERED = {
    "a deal": ("games", rb'("hands":\[\[)(\[\d,\d\]),(\[\d,\d\])', swap, "the seed deals"),
    "a boneyard": ("games", rb'("stock":\[\[)(\[\d,\d\]),(\[\d,\d\])', swap, "the seed deals"),
    "a round": ("games", rb'"round":2,"deal":1', b'"round":4,"deal":1', "out of order"),
    "a log's commitment": (
        "games",
        rb'"commitment":"....',
        b'"commitment":"0000',
        "different commitment",
    ),
    "a number": ("games", rb'"number":[0-9]+', b'"number":2001', "number 2001, but"),
    "a seed": ("seeds.jsonl", rb'"seed":"....', b'"seed":"0000', "board 1: the seed is not"),
    "a commitment": ("commitments.jsonl", rb'"sha256":"....', b'"sha256":"0000', "board 1: the"),
}


@needs_node
# Slow: the checker, which shares no code with us, sees every tampering with deals.
@pytest.mark.parametrize(
    ("name", "old", "new", "part"),
    slow_except([TAMPERED["a deal"], TAMPERED["a seed"]], TAMPERED.values()),
    ids=TAMPERED,
)
def test_the_checker_notices_every_tampering(
    event: Path, tmp_path: Path, name: str, old: bytes, new: Any, part: str
) -> None:
    folder = copied(event, tmp_path)
    path = folder / name
    path = sorted(path.iterdir())[0] if path.is_dir() else path
    before = path.read_bytes()
    path.write_bytes(re.sub(old, new, before, count=1))
    assert path.read_bytes() != before
    code, output = check(folder)
    assert code == 1
    assert part in output
    assert boneyard("verify", str(folder), code=1)
