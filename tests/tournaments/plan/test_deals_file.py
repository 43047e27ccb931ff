"""Files of deals: every mistake is one sentence with its line and place; what is set is dealt."""

from itertools import chain
from pathlib import Path

import pytest

from arena import engine
from arena.engine.deal import begin, chance_decides
from arena.engine.turn import draw_tile
from arena.rules.variants import derive, find_variant
from protocol.errors import UserError
from protocol.messages import Drew
from protocol.ruleset import set_of_tiles
from tests.support.events import write_deals
from tournaments.plan.read_plan import read_deals

DRAW = find_variant("draw")
SCATTERED = derive(DRAW, "scattered", {"order": "scattered"})
SEED = bytes(range(32))


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ({"hand": []}, "line 2: Unknown field hand: did you mean hands?"),
        ({"hands": [[[9, 1]]]}, "line 2: hands[0][0] is 9-1, which draw's set lacks."),
        ({"hands": [[[6, 1], [1, 6]]]}, "hands[0][1] is 1-6, as hands[0][0] is already."),
        ({"hands": [[1]]}, "line 2: hands[0][0] must be a list, not 1."),
        ({"hands": [[[6, n] for n in range(7)] + [[0, 0]]]}, "8 tiles, but draw deals 7 there."),
        ({"hands": [[], [], [[1, 1]]]}, "hands has 3 lists, but the table 2 seats."),
        ({"hands": [[[1, 1]]], "boneyard": [[1, 1]]}, "boneyard[0] is 1-1, as hands[0][0] is"),
        ({"rounds": [{"hands": [[[6, 6]], [[6, 6]]]}]}, "rounds[0].hands[1][0] is 6-6, as rounds"),
        ({"hands": [[[6, 6]]], "leader": 2}, "leader cannot be 2: the seats are 0 to 1."),
        ({"seed": "00" * 32, "leader": 1}, "leader cannot be 1: the seed decides it."),
        ({"seed": "00" * 32, "hands": [[[6, 6]]]}, 'A board needs either "hands"'),
        ({"seed": "00" * 40}, "seed sets tiles that are not a whole set of draw."),
        ({"draws": [[], [], [[1, 1]]]}, "draws has 3 lists, but the table 2 seats."),
        ({"draws": [[[1, 1]]], "boneyard": [[0, 0]]}, "draws[0][0] has the place of boneyard[0]."),
        ({"seed": "00"}, "seed must be 64 or more hex digits in lower case, in pairs, not"),
        ({}, 'A board needs either "hands"'),
        ({"rounds": [{"hands": [[[0, 0]]]}] * 101}, "rounds has 101 entries; at most 100 can be"),
    ],
)
def test_mistakes_are_reported_with_line_and_place(tmp_path: Path, line: object, part: str) -> None:
    path = write_deals(tmp_path, {"hands": [[[6, 6]]]}, line)
    with pytest.raises(UserError) as error:
        read_deals(path, DRAW, 2)
    assert f"{error.value}".startswith(f"{path}, line 2: ")
    assert part in f"{error.value}"


def test_a_missing_an_empty_and_a_broken_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "deals.jsonl"
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_deals(path, DRAW, 2)
    path.write_text("\n")
    with pytest.raises(UserError, match="has no deals"):
        read_deals(path, DRAW, 2)
    path.write_text("\n[")
    with pytest.raises(UserError, match="line 2: "):
        read_deals(path, DRAW, 2)


def test_set_tiles_are_dealt_to_their_places_and_chance_fills_the_others(tmp_path: Path) -> None:
    tiles = [[1, 6], [5, 5], [0, 0]]
    path = write_deals(
        tmp_path,
        {"rounds": [{"hands": [tiles[:1], tiles[1:2]], "boneyard": tiles[2:]}, {"hands": []}]},
    )
    placement = read_deals(path, DRAW, 2).boards[0].placed
    for rules in (DRAW, SCATTERED):
        game = engine.new_game(rules, 2)
        dealt = chance_decides(game, SEED + placement)
        assert (dealt.hands[0][0], dealt.hands[1][0], dealt.stock[0][0]) == ((6, 1), (5, 5), (0, 0))
        all_tiles = [*chain(*dealt.hands, *dealt.stock)]
        assert sorted(all_tiles) == [*set_of_tiles(rules.deal)]
        plain = chance_decides(game, SEED)
        chance_tiles = list(chain(*plain.hands, *plain.stock))
        left = [tile for tile in all_tiles if tile not in ((6, 1), (5, 5), (0, 0))]
        assert left == [tile for tile in chance_tiles if tile in left]
        assert (dealt.leader, dealt.lots) == (plain.leader, plain.lots)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_each_seat_draws_the_tiles_that_are_set_for_it(tmp_path: Path, seats: int) -> None:
    draws = [[[6, 6]], [[5, 5]], [[4, 4]], [[3, 3]]][:seats]
    path = write_deals(tmp_path, {"draws": draws})
    game = engine.new_game(SCATTERED, seats)
    placement = read_deals(path, SCATTERED, seats).boards[0].placed
    begin(game, chance_decides(game, SEED + placement))
    for seat, tiles in enumerate(draws):
        for tile in tiles:
            draw_tile(game, game.playing, seat)
            assert game.playing.history[-1] == Drew(seat, (tile[0], tile[1]))
