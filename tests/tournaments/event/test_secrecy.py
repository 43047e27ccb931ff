"""The secrets of an event: its seeds, and every board from whoever has met it."""

import base64
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.engine.shuffle import board_seed
from arena.logs import checksummed
from arena.logs.catalog import REPLAYS, published_commitments, published_seeds
from arena.logs.gamelog import GameLog, read_games, read_records
from arena.match.bot_process import BotProcess
from arena.match.poller import Poller
from arena.match.referee import QUESTIONS_A_GAME, Referee
from arena.match.table import Table
from protocol.codec import encode_line
from protocol.records import GameRecord, Result
from tests.support.events import SHORT, peeking_bot, run
from tests.support.forgeries import write_sealed
from tests.support.planned_events import event
from tournaments.cli.replay import make_folder
from tournaments.event.book import Book, boards_left, finished_boards
from tournaments.event.folder import Folder, kept_private, load_event, reveal, secret_of
from tournaments.event.grow import open_event
from tournaments.event.luck import LuckRecord, LuckStore
from tournaments.plan.schedule import GAME_NUMBERS, PlannedSitting, numbers, sittings
from tournaments.verification.event import verify_folder, verify_log

# --- seeds ---


def test_the_secret_is_32_bytes_of_the_systems_randomness(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def token_bytes(size: int) -> bytes:
        sizes.append(size)
        return bytes(range(size))

    monkeypatch.setattr(secrets, "token_bytes", token_bytes)
    open_event(Folder(tmp_path), event(2), seed=None)
    assert sizes == [32]
    assert Folder(tmp_path).secret.read_bytes() == bytes(range(32))
    assert stat.S_IMODE(Folder(tmp_path).secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(Folder(tmp_path).private.stat().st_mode) == 0o700


def spellings(secret: bytes) -> Iterator[bytes]:
    """Yield the first four bytes of a secret in every way in which a file could hold them."""
    for part in (secret[:4], secret[:4][::-1]):
        number = int.from_bytes(part)
        yield from (part, part.hex().encode(), part.hex().upper().encode(), b"%d" % number)
    yield base64.b64encode(secret)[:5]
    yield base64.b32encode(secret)[:6]


def test_files_published_before_a_game_have_no_part_of_a_seed(tmp_path: Path) -> None:
    """Neither have the names of games and sittings, which are made before there is a secret."""
    plan, folder = event(3, boards=5), Folder(tmp_path)
    open_event(folder, plan, seed=7)
    names = [
        name
        for sitting in sittings(plan, {})
        for name in (sitting.name, *(g.name for g in sitting.games))
    ]
    public = folder.event.read_bytes() + folder.commitments.read_bytes() + "|".join(names).encode()
    assert len(published_commitments(folder.commitments)) == 5
    secret = secret_of(folder)
    for hidden in (secret, *(board_seed(secret, plan.name, board) for board in range(1, 6))):
        assert not [spelling for spelling in spellings(hidden) if spelling in public]


def test_every_spelling_would_be_found() -> None:
    secret = bytes(range(7, 39))
    all_spellings = list(spellings(secret))
    for public in (secret, secret.hex().encode(), base64.b64encode(secret), b"n 117967114"):
        assert [spelling for spelling in all_spellings if spelling in public]


def result(game: str, board: int, seats: Sequence[str]) -> Result:
    return Result(
        game=game, board=board, seats=tuple(seats), scores=(1, 0), places=(1, 2), rounds=1,
        why="target",
    )  # fmt: skip


def test_a_seed_is_shown_only_when_every_game_on_its_board_is_over(tmp_path: Path) -> None:
    plan, folder = event(3, boards=3), Folder(tmp_path)
    open_event(folder, plan, seed=None)
    results = {
        game.name: result(game.name, game.board, "ab")
        for s in sittings(plan, {})
        for game in s.games
    }
    last = [
        game.name for sitting in sittings(plan, {}) for game in sitting.games if game.board == 2
    ][-1]
    del results[last]
    reveal(folder, Book(folder, plan).seed_of, finished_boards(boards_left(plan, results)))
    secret = secret_of(folder)
    seeds = {board: board_seed(secret, plan.name, board) for board in (1, 3)}
    assert published_seeds(folder.seeds) == seeds
    assert board_seed(secret, plan.name, 2).hex() not in folder.seeds.read_text()


# --- numbers: no note about a board has a key under which another process finds it ---


def seed(board: int) -> bytes:
    return board_seed(bytes(32), "event", board)


def numbers_of(plan: PlannedSitting) -> dict[int, int]:
    return numbers(plan.names, plan.boards, seed)


def test_the_numbers_of_a_sitting_are_its_own_and_fit_into_32_bits() -> None:
    for plan in sittings(event(6, 2, 50), {}):
        game_numbers = list(numbers_of(plan).values())
        assert len(set(game_numbers)) == len(game_numbers) == len(plan.boards)
        assert min(game_numbers) >= 1
        assert (1 + max(game_numbers)) * QUESTIONS_A_GAME < 2**31


def test_neither_number_nor_turn_reveals_a_board() -> None:
    """Of 25 boards one has the same turn in two sittings by chance; a number nearly never."""
    plans = [plan for plan in sittings(event(5, 2, 25), {}) if plan.boards[0] == 1]
    assert len(plans) == 20
    same_number = same_turn = 0
    for left, right in combinations(map(numbers_of, plans), 2):
        same_number += sum(left[board] == right[board] for board in left)
        turns = zip(
            sorted(left, key=left.__getitem__), sorted(right, key=right.__getitem__), strict=True
        )
        same_turn += sum(a == b for a, b in turns)
    pairs = len(plans) * (len(plans) - 1) / 2
    assert same_number / pairs < 0.1
    assert same_turn / pairs < 1.5


def test_a_number_that_is_taken_is_drawn_again() -> None:
    """All of them, in the end, and no more."""
    assert sorted(numbers("a.b", range(1, 2002), seed).values()) == list(range(1, GAME_NUMBERS + 1))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an event whose files no test changes."""
    folder = tmp_path_factory.mktemp("numbers")
    run(folder, "first", "greedy", *SHORT, "--boards", "8", "--jobs", "2", "--seed", "1")
    return folder


def test_games_are_played_in_the_order_of_their_numbers(source: Path) -> None:
    folder = Folder(source)
    plan, secret = load_event(folder), secret_of(folder)
    orders = []
    for sitting in sittings(plan, {}):
        logged = [game.game for game in read_games(folder.log(sitting.name))]
        due = numbers(
            sitting.names, sitting.boards, lambda board: board_seed(secret, plan.name, board)
        )
        assert {game.board: game.number for game in logged} == due
        assert [game.number for game in logged] == sorted(due.values())
        orders.append([game.board for game in logged])
    assert orders[0] != orders[1]
    assert list(verify_folder(folder)) == []


def test_verify_finds_a_game_of_another_number(source: Path, tmp_path: Path) -> None:
    """An organiser could tell a friend's bot by it which board it plays."""
    folder = Folder(tmp_path / "event")
    shutil.copytree(source, folder.path)
    log = folder.logs()[0]
    checksummed.decompress(log)
    records = [entry.record for entry in read_records(log)]
    index = next(n for n, record in enumerate(records) if isinstance(record, GameRecord))
    before = records[index]
    assert isinstance(before, GameRecord)
    records[index] = replace(before, number=before.number + 1)
    write_sealed(log, map(encode_line, records))
    sentence = f"{before.game} has number {before.number + 1}; it must be {before.number}"
    assert [fault for fault in verify_folder(folder) if sentence in fault]
    assert [fault for fault in verify_log(log, None) if sentence in fault]


# Slow: no process meets a board twice, even over a stop.
@pytest.mark.slow
def test_no_process_meets_a_board_twice_even_when_the_run_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped by a failure of ours, and gone on with: its processes are fresh ones."""
    met: dict[BotProcess, list[int]] = {}
    spoilt: list[str] = []

    class Noting(Table):
        def __init__(
            self, poller: Poller, referee: Referee, bots: Sequence[BotProcess], log: GameLog
        ) -> None:
            assert len(set(bots)) == len(bots)
            for bot in bots:
                met.setdefault(bot, []).append(referee.setup.board)
            super().__init__(poller, referee, bots, log)

    class Spoiling(Referee):
        def receive(self, *answer: Any, **more: Any) -> None:
            if self.setup.board == 2 and not spoilt:
                spoilt.append(self.setup.game)
                raise ZeroDivisionError
            super().receive(*answer, **more)

    monkeypatch.setattr("tournaments.play.sittings.Table", Noting)
    monkeypatch.setattr("tournaments.play.sittings.Referee", Spoiling)
    words = ("first", "greedy", "random", "--boards", "3", "--jobs", "1")
    run(tmp_path, *words, code=1)
    before = len(met)
    run(tmp_path, *words)
    assert spoilt
    assert len(met) > before
    # The failure may void other games that its processes were playing.
    assert sum(map(len, met.values())) >= 2 * (18 + 1)
    for boards in met.values():
        assert len(set(boards)) == len(boards)


def test_logs_are_private_until_the_event_is_over(tmp_path: Path) -> None:
    """They show the deals of boards that others still have to play, long before the seeds do."""
    out = tmp_path / "out"
    out.mkdir(mode=0o755)
    bot, notes = peeking_bot(tmp_path, out)
    run(out, str(bot), "first", "--boards", "1", "--set", "target=1", "--sandbox", "off")
    assert set(notes.read_text().split()) == {"0o700"}
    assert stat.S_IMODE((out / "games").stat().st_mode) == 0o755


def test_logs_of_a_stopped_event_stay_private(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with kept_private(folder, lambda: False):
        (tmp_path / "games" / "from-1.jsonl").touch()
    make_folder(folder)
    (tmp_path / REPLAYS / "1.a.b.js").touch()
    for name in ("games", REPLAYS):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700
    with kept_private(folder, lambda: True):
        pass
    for name in ("games", REPLAYS):
        assert (tmp_path / name).stat().st_mode == tmp_path.stat().st_mode


def test_the_luck_of_games_is_as_private_as_their_logs(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    folder, records = (
        Folder(tmp_path),
        [
            LuckRecord(game, (1, 0), (1.0, -1.0), (0.1, -0.1), ((1.0, -1.0),))
            for game in ("1.first.greedy", "2.first.greedy")
        ],
    )
    store = LuckStore(folder, event(2), writes=True)

    def mode() -> int:
        return stat.S_IMODE(folder.luck.stat().st_mode)

    with kept_private(folder, lambda: False):
        (tmp_path / "games" / "from-1.jsonl").touch()
        store.add(records)
        assert mode() == 0o600
        store.drop_stale([])
        store.add(records)
        assert mode() == 0o600
    assert mode() == 0o600
    with kept_private(folder, lambda: True):
        pass
    assert mode() == 0o644
    with kept_private(folder, lambda: False):
        assert mode() == 0o600
