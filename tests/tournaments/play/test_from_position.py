"""Games that go on from a position: hidden tiles drawn anew, logged, verified, and kept secret."""

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.analysis.alternative_deals import (
    RoundHistory,
    StopAt,
    _moves,
    _open_with,
    draw_opening,
    position_of,
)
from arena.analysis.timeline import Timeline, mismatches, setup_of
from arena.engine.shuffle import board_seed
from arena.engine.state import Opening
from arena.logs.gamelog import DamagedLogError, LoggedGame
from arena.match.referee import GameSetup, Referee
from arena.rules.variants import VARIANTS, find_variant
from arena.valuation.luck import luck_of_games
from protocol.messages import Clock
from protocol.position import Position, read_position, write_position
from protocol.records import DealRecord
from tests.support.events import boneyard, copied, games_of, run
from tests.support.fast_run import FAST_GAMES, slow_except
from tests.support.games import NAMES, Overheard, any_of, changed, overhear, positions, resampled

LINE = "bone1@draw@2@18,90@0@rotate@0s.0f00.1l50.0l15@-21413332655066-@1play"
"""A question to seat 1 in the second round of a game of draw."""


def play_on(line: str, board: int) -> Overheard:
    """Play a game from a position without processes, with random choices."""
    position = read_position(line)
    seed, names = board_seed(b"from", "event", board), NAMES[: len(position.scores)]
    opening = draw_opening(line, seed)
    clock = Clock(move_ms=1000, bank_ms=0, forced="ask")
    setup = GameSetup("1.game", 1, board, names, opening.start.rules, clock, opening=opening)
    game = overhear(setup, seed, any_of(board), iter(lambda: 1.5, None))
    sitting = replace(game.logged.sitting, position=line)
    return game._replace(logged=replace(game.logged, sitting=sitting))


def first_deal(game: LoggedGame) -> DealRecord:
    return next(record for record in game.records if isinstance(record, DealRecord))


def some_positions(name: str, count: int) -> list[Position]:
    rng = random.Random(name)
    all_positions = [position for position, _ in positions(find_variant(name), rng, 40)]
    return rng.sample(all_positions, count)


# --- one game ---


@pytest.mark.parametrize("name", slow_except(FAST_GAMES, VARIANTS))
def test_a_game_goes_on_from_the_very_question(name: str) -> None:
    """Its log leads to the same line, its seed to the same log; no position is luck."""
    for position in some_positions(name, 2):
        line = write_position(position.as_seen())
        game = play_on(line, 1).logged
        timeline = Timeline(game)
        first = next(moment for moment in timeline.moments if moment.question)
        assert first.history
        assert first.question
        assert first.question.seat == position.seat
        game_position = position_of(first.history, first.before)
        assert write_position(game_position.as_seen()) == line
        assert timeline.moments[0].before.scores == position.scores
        assert not [*mismatches(game, board_seed(b"from", "event", 1))]
        assert any(mismatches(game, board_seed(b"from", "event", 2)))
        opening = sum(moment.is_opening for moment in timeline.moments)
        luck = luck_of_games([timeline])[0] if name != "vietnamese" else None
        assert not luck or all(draw.record >= first.index for draw in luck.draws)
        assert opening == timeline.moments.index(first)


@pytest.mark.parametrize("name", slow_except(FAST_GAMES, VARIANTS))
def test_each_seat_is_sent_the_same_bytes_whatever_it_cannot_know(name: str) -> None:
    """The asked seat gets the same bytes on each board too; the tiles of other seats differ."""
    rng = random.Random(name)
    for position in some_positions(name, 2):
        line, lines, hands = write_position(position.as_seen()), set[bytes](), set[object]()
        for board in range(3):
            opening = draw_opening(line, bytes([board] * 32))
            lines.add(first_lines(opening)[position.seat])
            hands.add((opening.deals[-1].hands, opening.deals[0].lots))
            history = RoundHistory(opening.start, opening.deals, _moves(position.events))
            until = StopAt(position.seat, len(history.acts), position.phase)
            for seat in range(len(position.scores)):
                world = resampled(history, seat, rng, until)
                assert first_lines(_open_with(world, until))[seat] == first_lines(opening)[seat]
        assert len(lines) == 1
        hidden = sum(not hand for hand in position.as_seen().deals[-1].hands)
        assert len(hands) > 1 or not hidden or position.phase == "guess"


def first_lines(opening: Opening) -> dict[int, bytes]:
    """Return all that each seat is sent up to the first question."""
    start = opening.start
    names, clock = NAMES[: start.seats], Clock(forced="ask")
    referee = Referee(GameSetup("1.game", 1, 1, names, start.rules, clock, opening=opening), b"")
    lines = referee.take_outgoing()
    return {
        seat: b"".join(line for owner, line in lines if owner == seat)
        for seat in range(start.seats)
    }


def test_a_log_whose_deals_do_not_lead_to_the_position_is_damaged() -> None:
    game = play_on(LINE, 1).logged
    with pytest.raises(DamagedLogError, match="do not lead"):
        setup_of(changed(game, DealRecord, hands=first_deal(game).hands[::-1]))
    variant = replace(game.sitting, position=LINE.replace("draw@", "block@"))
    with pytest.raises(DamagedLogError, match="other rules"):
        setup_of(replace(game, sitting=variant))
    # A log that was cut off before the deals has no fault.
    assert setup_of(replace(game, records=())).opening


# --- events ---


def test_an_event_goes_on_from_a_position_in_every_rotation(tmp_path: Path) -> None:
    run(tmp_path, "greedy", "first", "--boards", "2", "--from", LINE)
    assert "OK: 4 games" in boneyard("verify", str(tmp_path))
    hands: dict[int, set[object]] = {1: set(), 2: set()}
    for game in games_of(tmp_path):
        hands[game.game.board].add(first_deal(game).hands)
        assert len(game.sitting.boards) == 1
        scores = Timeline(game).moments[0].before.scores
        assert scores == (18, 90)
    # A board has one deal, the same in both rotations; another board another.
    assert [len(dealt) for dealt in hands.values()] == [1, 1]
    assert hands[1] != hands[2]
    # A question of a game in it is a position again.
    log = sorted((tmp_path / "games").iterdir())[0]
    run(tmp_path / "again", "greedy", "first", "--boards", "1", "--from", f"{log}:5:1")
    assert "OK: 2 games" in boneyard("verify", str(tmp_path / "again"))


def test_verify_finds_another_position(tmp_path: Path) -> None:
    run(tmp_path / "event", "greedy", "first", "--boards", "1", "--from", LINE)
    forgery = copied(tmp_path / "event", tmp_path / "forged")
    plan = forgery / "event.json"
    plan.write_text(plan.read_text().replace("18,90", "90,18"))
    assert "the position differs from" in boneyard("verify", str(forgery), code=1)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--from", "nonsense"), "a position in one line, or GAME:QUESTION"),
        (("--from", LINE.replace("1l50", "1l55")), "No deal of the hidden tiles was found"),
        (("--from", LINE.replace("21413332655066", "2141")), "each tile once"),
        (("--from", LINE, "--rules", "draw"), "leave out --rules"),
        (("--from", LINE, "--set", "target=30"), "leave out --rules"),
        (("--from", LINE, "--seats", "3"), "2 seats, not 3"),
        (("--from", LINE, "--deals-with", "doubles>=4"), "the options of deals"),
    ],
)
@pytest.mark.usefixtures("few_tries")
def test_a_wrong_position_writes_nothing(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    out = tmp_path / "event"
    assert why in boneyard("run", "greedy", "first", *words, "--out", str(out), code=2)
    assert not out.exists()


@pytest.mark.usefixtures("few_tries")
def test_a_person_is_refused_a_wrong_position_too(tmp_path: Path) -> None:
    for words in (("nonsense",), (LINE.replace("1l50", "1l55"),), (LINE, "--seats", "3")):
        out = tmp_path / "games"
        assert boneyard("play", "greedy", "--from", *words, "--out", str(out), code=2)
        assert not out.exists()
