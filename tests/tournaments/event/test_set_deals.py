"""Deals that the organiser sets, or draws by a filter: played, kept private, bound, verified."""

from pathlib import Path

import pytest

from arena.engine.shuffle import SEED
from arena.logs.catalog import published_seeds
from protocol.records import DealRecord
from tests.support.events import boneyard, copied, records_of, run, write_deals
from tournaments.event.folder import Folder, load_event
from tournaments.verification.event import verify_folder
from tournaments.verification.logs import LogTask, Promises, check_log

BOTS = ("first", "greedy", "--set", "target=20")
DOUBLES = [[n, n] for n in range(6)]
LINES = ({"hands": [DOUBLES], "leader": 1}, {"rounds": [{"hands": [[], DOUBLES]}] * 2})


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("set")
    run(place / "event", *BOTS, "--deals", str(write_deals(place, *LINES)))
    return place / "event"


def faults(folder: Path) -> list[str]:
    return list(verify_folder(Folder(folder)))


def test_set_deals_are_played_in_every_seating_and_reported(event: Path) -> None:
    deals = [deal for deal in records_of(event, DealRecord) if deal.round == 1]
    first = [deal for deal in deals if [*map(list, deal.hands[0][:6])] == DOUBLES]
    assert len(deals) == 4
    assert len(first) == 2
    assert {deal.leader for deal in first} == {1}
    assert load_event(Folder(event)).boards == len(LINES)
    assert "set by the organiser, **who knew them;**" in (event / "report.md").read_text()
    assert "set by the organiser, who knew them" in boneyard("verify", str(event))


def test_the_deals_stay_private_until_their_seeds_are_public(event: Path) -> None:
    path = event / "private/deals.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert published_seeds(path) == published_seeds(event / "seeds.jsonl")
    assert all(len(seed) > SEED for seed in published_seeds(path).values())
    assert "deals.jsonl" not in (event / "event.json").read_text()


def test_other_deals_are_refused_and_more_are_played(event: Path, tmp_path: Path) -> None:
    folder = copied(event, tmp_path / "event")
    more = write_deals(tmp_path, *LINES, {"hands": [[[6, 6]]]})
    run(folder, *BOTS, "--deals", str(more))
    assert len(published_seeds(folder / "seeds.jsonl")) == 3
    assert faults(folder) == []
    deals = write_deals(tmp_path, *LINES, LINES[0])
    for words, part in (
        (("--deals", str(deals)), "other deals than those given now"),
        ((), "where the deals come from cannot change"),
        (("--deals", str(deals), "--boards", "4"), "has the deals of 3 boards, but the event"),
        (("--deals", str(deals), "--deals-with", "doubles>=4"), "only one of deals and deals_with"),
    ):
        assert part in run(folder, *BOTS, *words, code=2)


def test_a_bot_that_can_read_the_deals_is_refused(tmp_path: Path) -> None:
    write_deals(tmp_path, *LINES)
    (tmp_path / "bot.py").touch()
    (tmp_path / "event.toml").write_text(
        'deals = "deals.jsonl"\nbots = ["first", { name = "mine", run = ["{python}", "bot.py"], '
        'folder = "." }]\n'
    )
    output = boneyard("run", str(tmp_path / "event.toml"), "--out", "/tmp/none", code=2)
    assert "Bot mine can read " in output
    assert "which has the event's deals" in output


# Slow: set deals are tested beside it.
@pytest.mark.slow
def test_deals_are_taken_from_logs_with_and_without_seeds(event: Path, tmp_path: Path) -> None:
    private = copied(event, tmp_path / "private")
    (private / "seeds.jsonl").unlink()
    run(tmp_path / "from", *BOTS, "--deals-from", str(private), "all")
    before, after = (records_of(folder, DealRecord) for folder in (event, tmp_path / "from"))

    def deals_of(records: list[DealRecord]) -> set[object]:
        # Chance decides the lots, but the leader is the same.
        return {(deal.hands, deal.stock, deal.leader) for deal in records if deal.round == 1}

    assert deals_of(after) == deals_of(before)
    run(tmp_path / "one", *BOTS, "--deals-from", str(event), "2.first.greedy")
    (seed,) = published_seeds(tmp_path / "one/seeds.jsonl").values()
    assert seed == published_seeds(event / "seeds.jsonl")[2]


def test_a_filter_draws_only_deals_that_satisfy_it_and_verify_knows(tmp_path: Path) -> None:
    run(tmp_path, *BOTS, "--deals-with", "doubles>=4", "--boards", "2", "--seed", "1")
    deals = [deal for deal in records_of(tmp_path, DealRecord) if deal.round == 1]
    assert all(max(sum(a == b for a, b in hand) for hand in deal.hands) >= 4 for deal in deals)
    assert faults(tmp_path) == []
    plan = tmp_path / "event.json"
    plan.write_text(plan.read_text().replace("doubles>=4", "doubles>=7"))
    assert "board 1: its first deal does not satisfy doubles>=7" in faults(tmp_path)[0]


def test_tiles_in_a_seed_of_drawn_deals_are_found(event: Path, tmp_path: Path) -> None:
    folder = copied(event, tmp_path)
    plan = folder / "event.json"
    plan.write_text(plan.read_text().replace('"deals_set": true', '"deals_set": false'))
    assert any("sets tiles, but the event's deals are drawn" in fault for fault in faults(folder))


def test_impossible_tiles_in_a_strangers_seed_are_found(event: Path) -> None:
    seed = bytes(SEED + 28)
    log = event / "games/from-1.first.greedy.jsonl"
    promises = Promises({}, {1: seed, 2: seed}, frozenset((1, 2)))
    faults_of = [game.faults[0] for game in check_log(LogTask(log, promises)).games]
    assert len(faults_of) == 2
    assert all("are not a set of its rules" in fault for fault in faults_of)


def test_boards_that_repeat_a_deal_are_reported_and_checked(tmp_path: Path) -> None:
    deal = {"hands": [[[6, n] for n in range(7)], [[5, n] for n in range(5)] + [[4, 4], [4, 3]]]}
    mirrored_deal = {"hands": deal["hands"][::-1]}
    folder = tmp_path / "again"
    words = run(folder, *BOTS, "--deals", str(write_deals(tmp_path, deal, mirrored_deal, LINES[0])))
    sentence = "1 of 3 boards repeat a deal"
    assert sentence in words
    assert sentence in (folder / "report.md").read_text()
    assert sentence in boneyard("verify", str(folder))
    assert load_event(Folder(folder)).repeats == ((2, 1),)
    mirror = tmp_path / "other"
    run(mirror, "suit", *BOTS[1:], "--deals", str(write_deals(tmp_path, mirrored_deal)))
    assert "2 of 4 boards repeat a deal" in boneyard("show", str(mirror), str(folder))
    plan = folder / "event.json"
    plan.write_text(
        plan.read_text().replace('"repeats": [\n    [\n      2,', '"repeats": [\n    [\n      3,')
    )
    assert any("repeats names other boards" in fault for fault in faults(folder))
