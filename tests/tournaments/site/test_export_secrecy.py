"""No byte of an exported page tells of an open board, in whatever form the byte may be."""

import base64
import re
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from arena.analysis.frames import frames
from arena.analysis.timeline import walk_log
from arena.logs.board_promises import published_seeds
from arena.logs.gamelog import LoggedGame, is_over, read_games
from arena.ui.replay_page import pack_game
from arena.ui.scenes import SceneBuilder
from protocol.codec import decode_json, encode_json
from tests.support.events import BONEYARD, FOUR, logs, wait_for_games
from tournaments.site import writer
from tournaments.site.delayed import PublicSnapshot
from tournaments.site.snapshot import LiveView
from tournaments.site.writer import SiteWriter
from tournaments.storage.folder import Folder, board_seeds, load_event, secret_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

RUN = 5
"""Tiles in a row by which a hand, a line or a boneyard is recognised."""
State = tuple[set[int], set[str]]
"""The boards whose seeds were revealed, and the sittings that went on."""


# Slow: a whole event of partners at four tables, with kills of the run and of the command.
@pytest.mark.slow
def test_no_byte_tells_of_an_open_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search every state of the files while a run plays, is killed in its games, and goes on."""
    folder, sites = Folder(tmp_path / "event"), (tmp_path / "inside", tmp_path / "outside")
    about = (*FOUR, "--rules", "partnership", "--boards", "3", "--jobs", "4", "--sandbox", "off")
    play = ("run", *about, "--out", str(folder.path))
    watch = ("publish", str(folder.path), str(sites[1]), "--delay", "1s")
    states: dict[bytes, State] = {}
    monkeypatch.setattr(writer, "EVERY_S", 0.05)
    inside = SiteWriter(sites[0], 0.5)
    with ExitStack() as processes:
        playing = start(processes, *play)
        wait_for_games(folder.path, 4)
        watching = start(processes, *watch)
        for games in (8, 16, 24, 10**6):
            while playing.poll() is None or not inside.is_over:
                inside.follow(folder.path, time.time())
                note_states(folder, sites, states)
                if sum(log.count(b'"type":"result"') for log in logs(folder.path)) >= games:
                    playing.kill()
                    watching.kill()
                    assert playing.wait(120) == watching.wait(120) == -signal.SIGKILL
                    playing, watching = start(processes, *play), start(processes, *watch)
                    break
                time.sleep(0.02)
        assert watching.wait(120) == 0
    note_states(folder, sites, states)
    finals = [decode_json((site / "live.json").read_bytes(), PublicSnapshot) for site in sites]
    assert all(one.over for one in finals)
    assert {one.words for one in finals[0].finished} == {one.words for one in finals[1].finished}
    assert len(states) > 6
    search(folder, states)


def start(processes: ExitStack, *words: str) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        (*BONEYARD, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    processes.callback(process.wait, 60)
    processes.callback(process.kill)
    return process


def note_states(folder: Folder, sites: Sequence[Path], states: dict[bytes, State]) -> None:
    """Keep the files' bytes, and what was open after they were read: it was open before too."""
    found = [path.read_bytes() for site in sites for path in site.glob("*.[hj]*[ln]")]
    boards = {*published_seeds(folder.seeds)}
    sittings = {log.stem for log in folder.logs() if not is_over(log)}
    for data in found:
        states.setdefault(data, (boards, sittings))


def search(folder: Folder, states: dict[bytes, State]) -> None:
    event = load_event(folder)
    seed_of, secret = board_seeds(folder, event), secret_of(folder)
    games = [game for log in folder.logs() for game in read_games(log)]
    assert any(game.result is None for game in games), "no kill came in a game"
    tiles: dict[int, set[str]] = {board: set() for board in range(1, event.all_boards + 1)}
    for game in games:
        tiles[game.game.board] |= tiles_in(scenes_of(game))
    check_that_the_search_finds(folder, games, set[str]().union(*tiles.values()))
    for data, (boards, sittings) in states.items():
        public = set[str]().union(*(tiles[board] for board in boards))
        closed = [board for board in tiles if board not in boards]
        secrets = [secret, *map(seed_of, closed)]
        assert data[:1] == b"<" or decode_json(data, PublicSnapshot), "a torn file"
        for form in forms_of(data):
            seen = tiles_in(form)
            assert not any(seen & (tiles[board] - public) for board in closed)
            for one in secrets:
                assert one not in form
                assert one.hex().encode() not in form.lower()
                assert base64.b64encode(one)[:40] not in form
            assert not any(f'"{sitting}"'.encode() in form for sitting in sittings)


def check_that_the_search_finds(folder: Folder, games: list[LoggedGame], tiles: set[str]) -> None:
    """Search a log, a replay and a live page, each as it is and packed."""
    everything = LiveView(folder, everything=True)
    assert everything.look()
    packed = next(encode_json(pack_game(game)) for game in games if game.result)
    for data in (logs(folder.path)[0], packed, encode_json(everything.now())):
        for form in (data, zstd.compress(data), zlib.compress(data), base64.b64encode(data)):
            assert any(tiles_in(one) & tiles for one in forms_of(form))


def scenes_of(game: LoggedGame) -> bytes:
    """Return all moments of a game with everything that nobody or one seat alone can see."""
    sitting = game.sitting
    made = SceneBuilder(sitting.seats, sitting.seat_clocks, partners=sitting.rules.deal.partners)
    return encode_json([*map(made.scene, frames(walk_log(game), None))])


def tiles_in(data: bytes) -> set[str]:
    """Return the tiles that stand in a row, as digits or as lists, in the given order or sorted."""
    listed = re.sub(rb"\[([0-6]),([0-6])\],?", rb"\1\2", data)
    found = set()
    for text in re.findall(rb"(?:[0-6]{2}){%d,}" % RUN, data + b" " + listed):
        row = [tuple(sorted(text[at : at + 2])) for at in range(0, len(text), 2)]
        for tiles in (row, sorted(row)):
            for at in range(len(tiles) - RUN + 1):
                found.add("".join(f"{a - 48}{b - 48}" for a, b in tiles[at : at + RUN]))
    return found


def forms_of(data: bytes) -> Iterator[bytes]:
    """Yield the bytes as they are, and whatever is packed in them."""
    yield data
    for unpack in (lambda one: zlib.decompress(one, 47), zstd.decompress):
        with suppress(zlib.error, zstd.ZstdError):
            yield from forms_of(unpack(data))
    for text in re.findall(rb"[A-Za-z0-9+/]{40,}={0,2}", data):
        with suppress(ValueError):
            yield from forms_of(base64.b64decode(text))
