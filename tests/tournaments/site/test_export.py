"""`boneyard publish --delay`: the state of an event some time ago, and nothing that helps a bot."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.logs.checksummed import compress
from arena.logs.gamelog import GameLog, LoggedGame, read_games
from protocol.codec import decode_json
from protocol.records import ChoiceRecord, DealRecord
from tests.support.events import boneyard, copied, copy_of, copy_part, go_on, laid_open, untouched
from tests.support.games import write
from tournaments.event.folder import Folder, load_event
from tournaments.plan.event import as_json
from tournaments.site.publish import SiteWriter, until_over
from tournaments.site.view import PublicSnapshot


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with untouched(
        laid_open(copy_of("round-robin", tmp_path_factory.mktemp("export") / "event"))
    ) as folder:
        yield folder


def snapshot(site: Path) -> PublicSnapshot:
    return decode_json((site / "live.json").read_bytes(), PublicSnapshot)


def export_site(folder: Path, site: Path, now: float, delay_s: float = 0) -> PublicSnapshot:
    """Return what a new process shows of an event."""
    SiteWriter(site, delay_s).follow(folder, now)
    return snapshot(site)


def is_empty(state: PublicSnapshot) -> bool:
    return not (state.playing or state.finished or state.fouls or state.covered)


def test_the_state_is_that_of_some_time_ago(event: Path, tmp_path: Path) -> None:
    folder, site = copy_part(event, tmp_path / "event"), tmp_path / "site"
    late = SiteWriter(site, 100)
    late.follow(folder, 1000)
    go_on(event, folder)
    late.follow(folder, 1050)
    assert (snapshot(site).played, is_empty(snapshot(site))) == (0, True)
    # Now the sittings are over; what is shown is the part that was there at first.
    late.follow(folder, 1102)
    state = snapshot(site)
    assert 0 < state.played < 12
    assert (state.complete, state.at, state.delay_s) == (False, 1002, 100)
    running = [game for game in state.playing if not game.over]
    assert running
    hands = [hand for game in running if not game.scene.pips for hand in game.scene.hands]
    assert hands
    assert all(isinstance(hand, int) for hand in hands)
    late.follow(folder, 1149)
    assert snapshot(site) == state
    late.follow(folder, 1153)
    assert (snapshot(site).played, snapshot(site).complete) == (12, True)


def test_a_run_that_has_ended_since_goes_on_in_what_is_shown(event: Path, tmp_path: Path) -> None:
    folder, late = Folder(copy_part(event, tmp_path / "event")), SiteWriter(tmp_path / "site", 100)
    folder.lock.touch()
    os.utime(folder.lock, (900, 900))
    late.follow(folder.path, 1000)
    go_on(event, folder.path)
    late.follow(folder.path, 1050)
    os.utime(folder.ledger, (1060, 1060))
    late.follow(folder.path, 1102)
    state = snapshot(tmp_path / "site")
    assert (state.complete, state.running, state.elapsed_s) == (False, True, 102)
    late.follow(folder.path, 1153)
    end = snapshot(tmp_path / "site")
    assert (end.complete, end.running, end.elapsed_s) == (True, False, 102)


def test_nothing_of_a_sitting_that_goes_on_is_shown(event: Path, tmp_path: Path) -> None:
    folder = copy_part(event, tmp_path / "event", 0.95)
    for log in Folder(folder).logs():
        os.utime(log, (0, 0))
    now = export_site(folder, tmp_path / "site", 1e10)
    assert (now.played, now.rows, is_empty(now)) == (0, [], True)


@pytest.mark.parametrize("sandbox", ["locked", "off"])
@pytest.mark.parametrize("network", [(), ("example.org:443",)])
def test_a_sitting_that_goes_on_is_shown_only_if_its_bots_cannot_read_it(
    event: Path, tmp_path: Path, sandbox: str, network: tuple[str, ...]
) -> None:
    """Greedy has a network or not; the sitting of the two others goes on as well."""
    folder = Folder(copied(event, tmp_path / "event"))
    plan = load_event(folder)
    entrants = [
        replace(bot, command=replace(bot.command, network=network if bot.name == "greedy" else ()))
        for bot in plan.entrants
    ]
    folder.event.write_bytes(as_json(replace(plan, entrants=tuple(entrants))))
    for log in folder.logs():
        games = [*read_games(log)]
        games[0] = replace(games[0], sitting=replace(games[0].sitting, sandbox=sandbox))
        log.unlink()
        write(log, *games)
        os.truncate(log, log.stat().st_size - 1)
    now = export_site(folder.path, tmp_path / "site", 1e10)
    names = {name for game in now.playing for name in game.about.names}
    if sandbox == "off":
        assert (names, now.played) == (set(), 0)
    else:
        assert names == set(BOTS) - ({"greedy"} if network else set())
        assert now.played == (4 if network else 12)


def test_a_sitting_that_goes_on_without_sandbox_is_not_shown(event: Path, tmp_path: Path) -> None:
    folder = Folder(copied(event, tmp_path / "event"))
    for log in folder.logs():
        game, _ = read_games(log)
        log.unlink()
        sitting = replace(game.sitting, sandbox="locked", boards=(1, 2))
        write(log, replace(game, sitting=sitting))
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:-1]))
    before = export_site(folder.path, tmp_path / "site", 1e10)
    assert before.played == 6
    for log in folder.logs():
        GameLog(
            log, replace(sitting, seats=next(read_games(log)).sitting.seats, sandbox="off")
        ).close()
    assert export_site(folder.path, tmp_path / "other", 1e10).played == 0


def test_of_open_boards_only_the_standings_and_names_are_shown(event: Path, tmp_path: Path) -> None:
    folder = Folder(copy_part(event, tmp_path / "event", 0.7))
    folder.seeds.write_bytes(folder.seeds.read_bytes().splitlines(keepends=True)[0])
    site = SiteWriter(tmp_path / "site", 100)
    site.follow(folder.path, 1000)
    go_on(event, folder.path)
    site.follow(folder.path, 1102)
    state = snapshot(tmp_path / "site")
    assert {game.about.game.partition(".")[0] for game in state.playing} <= {"1"}
    assert state.covered
    assert set(state.covered) <= {f"{a} – {b}" for a in BOTS for b in BOTS}
    site.follow(folder.path, 1204)
    now = snapshot(tmp_path / "site")
    assert (now.played, now.complete, len(now.finished)) == (12, True, 6)
    assert all(line.words.startswith("Board 1: ") for line in now.finished)
    folder.seeds.write_bytes(Folder(event).seeds.read_bytes())
    site.follow(folder.path, 1210)
    assert len(snapshot(tmp_path / "site").finished) == 12


BOTS = ("first", "greedy", "random")


def test_hidden_records_change_no_byte(event: Path, tmp_path: Path) -> None:
    """Spoil every deal and choice that may not be known: the files stay the same."""
    sites = []
    for spoil in (False, True):
        folder = Folder(copied(event, tmp_path / f"{spoil}"))
        folder.seeds.write_bytes(folder.seeds.read_bytes().splitlines(keepends=True)[0])
        first, *logs = folder.logs()
        for log in logs:
            games = [
                spoil_game(game) if spoil and game.game.board == 2 else game
                for game in read_games(log)
            ]
            log.unlink()
            write(log, *games)
        os.truncate(first, 3000 if spoil else first.stat().st_size - 1)
        site = tmp_path / f"site {spoil}"
        SiteWriter(site, 0).follow(folder.path, 5.0)
        sites.append([(site / name).read_bytes() for name in ("index.html", "live.json")])
        assert snapshot(site).played == 10
        assert len(snapshot(site).finished) == 5
    assert sites[0] == sites[1]


def spoil_game(game: LoggedGame) -> LoggedGame:
    """Return a game with the same winner, and without its tiles, its moves and its score."""
    assert game.result
    result = replace(game.result, scores=(1, 2), rounds=99)
    hidden = ChoiceRecord | DealRecord
    records = [record for record in game.records if not isinstance(record, hidden)]
    return replace(game, records=(*records[:-1], result), result=result)


def test_a_new_process_goes_on_and_never_back(event: Path, tmp_path: Path) -> None:
    folder, site = copy_part(event, tmp_path / "event", 0.7), tmp_path / "site"
    first = SiteWriter(site, 100)
    first.follow(folder, 1000)
    go_on(event, folder)
    first.follow(folder, 1102)
    before = (site / "live.json").read_bytes()
    (site / ".0123456789abcdef.new").write_bytes(b"torn")
    second = SiteWriter(site, 100)
    for now in (1110, 1150, 1209):
        second.follow(folder, now)
        assert (site / "live.json").read_bytes() == before
    second.follow(folder, 1215)
    assert snapshot(site).complete
    (site / "live.json").write_bytes(before[:99])
    assert export_site(folder, site, 1e10, 100).complete


def test_the_next_event_is_shown_once_the_delay_has_passed(event: Path, tmp_path: Path) -> None:
    successor, site = copied(event, tmp_path / "other"), tmp_path / "site"
    plan = replace(load_event(Folder(successor)), title="Round 2")
    Folder(successor).event.write_bytes(as_json(plan))
    writer = SiteWriter(site, 100)
    name = ""
    for folder, now in ((event, 1000), (successor, 1050), (successor, 1110), (successor, 1149)):
        writer.follow(folder, now)
        name = name or snapshot(site).name
        assert snapshot(site).name == name
    assert writer.is_over
    writer.follow(successor, 1153)
    assert snapshot(site).name == "Round 2"


def test_a_log_is_read_to_the_same_place_after_its_compression(event: Path, tmp_path: Path) -> None:
    folder, site = copy_part(event, tmp_path / "event"), tmp_path / "site"
    writer = SiteWriter(site, 100)
    writer.follow(folder, 1000)
    go_on(event, folder)
    writer.follow(folder, 1050)
    for log in Folder(folder).logs():
        compress(log)
    writer.follow(folder, 1102)
    assert 0 < snapshot(site).played < 12
    writer.follow(folder, 1153)
    assert snapshot(site).played == 12
    assert export_site(folder, tmp_path / "new", 1e10, 100).complete


def test_the_command_ends_when_the_end_is_shown(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = max(log.stat().st_mtime for log in Folder(event).logs())
    waits: list[float] = []
    monkeypatch.setattr("time.time", lambda: end + 1 + sum(waits))
    monkeypatch.setattr("time.sleep", waits.append)
    until_over(SiteWriter(tmp_path, 60), event)
    assert snapshot(tmp_path).complete
    assert 58 <= sum(waits) <= 66


def test_wrong_options_are_refused(event: Path, tmp_path: Path) -> None:
    def refusal(*words: str) -> str:
        return boneyard("publish", str(event), *words, code=2)

    assert "in one another" in refusal(str(event / "site"), "--delay", "10")
    assert "--url is for a whole site" in refusal(str(tmp_path), "--delay", "10", "--url", "x")
    assert "is not a delay" in refusal(str(tmp_path), "--delay", "10ms")
    (tmp_path / "index.html").touch()
    assert "holds something else: index.html" in refusal(str(tmp_path), "--delay", "10")


def test_the_page_of_a_run_becomes_the_site_of_its_event(event: Path, tmp_path: Path) -> None:
    """A kill between its two files does no harm."""
    (tmp_path / "live.json").touch()
    export_site(event, tmp_path, 1e10)
    assert "in the order of" not in boneyard("publish", str(event), str(tmp_path))
    assert "OK: " in boneyard("verify", str(tmp_path))
