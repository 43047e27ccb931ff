"""While a run plays, is killed and goes on, its public page names no open board and no secret."""

import base64
import re
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.logs.catalog import published_seeds
from arena.logs.gamelog import is_over, read_games
from protocol.codec import decode_json
from tests.support.events import BONEYARD, FOUR, logs, wait_for_games
from tournaments.event.book import Book
from tournaments.event.folder import Folder, load_event, secret_of
from tournaments.site import publish
from tournaments.site.publish import SiteWriter
from tournaments.site.view import PublicSnapshot

BOARD_NUMBER = re.compile(rb"(?<![\d.-])(\d+)\.(?:%s)\." % "|".join(FOUR).encode())
"""The board in the name of a game, wherever it stands; a sitting is named after its first board."""
State = tuple[set[int], set[str]]
"""The boards whose seeds were revealed, and the sittings that went on."""


# Slow: a whole event of partners at four tables, with kills of the run and of the command.
@pytest.mark.slow
def test_no_byte_names_an_open_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search names; tiles and moves are the matter of `test_hidden_records_change_no_byte`."""
    folder, sites = Folder(tmp_path / "event"), (tmp_path / "inside", tmp_path / "outside")
    options = (*FOUR, "--rules", "partnership", "--boards", "3", "--jobs", "4", "--sandbox", "off")
    play = ("run", *options, "--out", str(folder.path))
    watch = ("publish", str(folder.path), str(sites[1]), "--delay", "1s")
    states: dict[bytes, State] = {}
    monkeypatch.setattr(publish, "EVERY_S", 0.05)
    writer = SiteWriter(sites[0], 0.5)
    with ExitStack() as processes:
        playing = start(processes, *play)
        wait_for_games(folder.path, 4)
        watching = start(processes, *watch)
        games, kills, is_cut = 8, 0, False
        while playing.poll() is None or not writer.is_over:
            writer.follow(folder.path, time.time())
            note_states(folder, sites, states)
            results = sum(log.count(b'"type":"result"') for log in logs(folder.path))
            # Twice, and then until a kill came in a game: some come between two.
            if results >= games and (kills < 2 or not is_cut):
                playing.kill()
                watching.kill()
                assert playing.wait(120) == watching.wait(120) == -signal.SIGKILL
                is_cut = is_cut or has_cut_game(folder)
                playing, watching = start(processes, *play), start(processes, *watch)
                games, kills = results + (3 if kills else 12), kills + 1
            time.sleep(0.02)
        assert watching.wait(120) == 0
    note_states(folder, sites, states)
    finals = [decode_json((site / "live.json").read_bytes(), PublicSnapshot) for site in sites]
    assert all(final.complete for final in finals)
    first, second = ({line.words for line in final.finished} for final in finals)
    assert first == second
    assert has_cut_game(folder), "no kill came in a game"
    assert len(states) > 6
    check_states(folder, states)


def has_cut_game(folder: Folder) -> bool:
    return any(game.result is None for log in folder.logs() for game in read_games(log))


def start(processes: ExitStack, *words: str) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(
        (*BONEYARD, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    processes.callback(process.wait, 60)
    processes.callback(process.kill)
    return process


def note_states(folder: Folder, sites: tuple[Path, Path], states: dict[bytes, State]) -> None:
    """Keep the files' bytes, and what was open after they were read: it was open before too."""
    contents = [path.read_bytes() for site in sites for path in site.glob("*.[hj]*[ln]")]
    boards = {*published_seeds(folder.seeds)}
    sittings = {log.stem for log in folder.logs() if not is_over(log)}
    for data in contents:
        states.setdefault(data, (boards, sittings))


def check_states(folder: Folder, states: dict[bytes, State]) -> None:
    event = load_event(folder)
    seed_of, secret = Book(folder, event).seed_of, secret_of(folder)
    assert any(BOARD_NUMBER.search(data) for data in states)
    for data, (boards, sittings) in states.items():
        assert data[:1] == b"<" or decode_json(data, PublicSnapshot), "a torn file"
        assert {int(board) for board in BOARD_NUMBER.findall(data)} <= boards
        assert not any(f'"{sitting}"'.encode() in data for sitting in sittings)
        closed = {*range(1, event.all_boards + 1)} - boards
        for hidden in (secret, *map(seed_of, closed)):
            assert hidden not in data
            assert hidden.hex().encode() not in data.lower()
            assert base64.b64encode(hidden)[:40] not in data
