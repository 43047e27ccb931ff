"""Read the plan of an event from the command line: its bots, and the deals that are set for it."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from arena import engine
from arena.analysis.alternative_deals import draw_opening
from arena.analysis.find import logs, refuse_others, require_one_game, require_path
from arena.engine.deal import DRAWN, arrange_stock, chance_decides, first_hands, is_seed
from arena.engine.shuffle import SEED, board_seed
from arena.logs.catalog import SEEDS, published_seeds
from arena.logs.gamelog import LoggedGame, read_games
from arena.rules.english import count_in_digits, join_words
from arena.rules.load import load_ruleset, read_user_file
from arena.ui.console import shown_path
from protocol.codec import DamagedRecordError, decode_json, encode_json
from protocol.errors import UserError
from protocol.messages import Clock
from protocol.records import DealRecord, Seed
from protocol.ruleset import Ruleset, Tile, check_seats, hand_size, high_first, set_of_tiles
from protocol.validation import convert_or_explain
from tournaments.formats.base import Entrant
from tournaments.formats.entrant import OwnClock, fill, starts
from tournaments.formats.tables import ChallengeFormat, RoundRobin
from tournaments.formats.tune import GROUP, Tune, optimiser_here
from tournaments.formats.versus import Versus
from tournaments.plan.bots import PLACEHOLDERS, parse_bots, prepare_entrant, resolve_command
from tournaments.plan.event import (
    EVENT_SUFFIX,
    Event,
    WrittenBot,
    WrittenEvent,
    parse_filter,
    written_event,
)

# Deals that the organiser sets, by a file or by game logs, and seeds that satisfy a filter.


LONGEST_DEALS_FILE = 1 << 26
"""The most bytes of a file of deals: more than a hundred thousand boards take."""
MOST_ROUNDS = 100
"""The most rounds of a board that a file sets."""


class SetBoard(NamedTuple):
    """The part of a board that the organiser sets; the board's own seed decides the rest."""

    seed: bytes = b""
    """A whole seed, which decides everything; empty: there is none."""
    placed: bytes = b""
    """For each round the tile of each place, as `arena.engine.deal` reads it after a seed."""
    leader: int | None = None
    """The seat that leads the first round, or guesses for it, if chance decides that."""


class SetDeals(NamedTuple):
    """The deals that the organiser sets."""

    source: Path
    """The file or folder that has them, which no bot may read."""
    boards: tuple[SetBoard, ...]


def too_few_deals(deals: SetDeals, boards: int) -> UserError:
    """Return the error for an event with more boards than are set."""
    count = count_in_digits(len(deals.boards), "board")
    return UserError(
        f"{deals.source} has the deals of {count}, but the event plays {boards} in all. Add deals, "
        "or choose fewer boards (boards)."
    )


class WrittenRound(Struct, frozen=True, forbid_unknown_fields=True):
    """A round in a file of deals."""

    hands: tuple[tuple[Tile, ...], ...] = ()
    """The tiles of each seat; a shorter hand is filled by chance."""
    boneyard: tuple[Tile, ...] = ()
    """The tiles of the boneyard, from the front; chance decides the others."""
    draws: tuple[tuple[Tile, ...], ...] = ()
    """For each seat the tiles that it draws first, from its own row of the boneyard."""


class WrittenBoard(WrittenRound, frozen=True, forbid_unknown_fields=True):
    """A line of a file of deals."""

    rounds: tuple[WrittenRound, ...] = ()
    """Several rounds, in place of `hands` and `boneyard`."""
    leader: int | None = None
    """The seat that leads the first round, if chance decides that."""
    seed: Seed | None = None
    """The seed of the board, in place of all others: a line of a `seeds.jsonl`."""
    board: int | None = None
    """The board's number where the seed comes from; it has no effect."""


def read_deals(path: Path, rules: Ruleset, seats: int) -> SetDeals:
    """Read a file of deals for a table. Raises UserError with the file, the line and the path."""
    boards: list[SetBoard] = []
    for number, line in enumerate(read_user_file(path, LONGEST_DEALS_FILE).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            board = convert_or_explain(decode_json(line, Any), WrittenBoard, "")
            boards.append(_board(board, rules, seats))
        except (DamagedRecordError, UserError) as error:
            end = "" if f"{error}".endswith((".", "?")) else "."
            raise UserError(f"{path}, line {number}: {error}{end}") from None
    if not boards:
        raise UserError(f"{path} has no deals. Write a line for each board; see `help events`.")
    return SetDeals(path, tuple(boards))


def _board(board: WrittenBoard, rules: Ruleset, seats: int) -> SetBoard:
    """Return what a line sets. Raises UserError with the path inside it."""
    tiles = board.hands or board.boneyard or board.draws
    if sum(map(bool, (board.seed, board.rounds, tiles))) != 1:
        raise UserError('A board needs either "hands" (with "boneyard"), "rounds" or "seed".')
    if board.leader is not None and (board.seed or not 0 <= board.leader < seats):
        reason = "the seed decides it" if board.seed else f"the seats are 0 to {seats - 1}"
        raise UserError(f"leader cannot be {board.leader}: {reason}.")
    if board.seed:
        seed = bytes.fromhex(board.seed)
        if not is_seed(rules, seed):
            raise UserError(f"seed sets tiles that are not a whole set of {rules.name}.")
        return SetBoard(seed)
    if len(board.rounds) > MOST_ROUNDS:
        raise UserError(
            f"rounds has {len(board.rounds)} entries; at most {MOST_ROUNDS} can be set."
        )
    if tiles:
        return SetBoard(b"", _placed(board, rules, seats, ""), board.leader)
    rounds = (_placed(entry, rules, seats, f"rounds[{n}].") for n, entry in enumerate(board.rounds))
    return SetBoard(b"", b"".join(rounds), board.leader)


def _placed(entry: WrittenRound, rules: Ruleset, seats: int, prefix: str) -> bytes:
    """Return the tile of each place of a round, by its place in the set."""
    tiles = set_of_tiles(rules.deal)
    places = [DRAWN] * len(tiles)
    before: dict[int, str] = {}
    for path, room, part in _parts(entry, rules, seats, prefix):
        if len(part) > len(room):
            tiles_given = count_in_digits(len(part), "tile")
            raise UserError(f"{path} has {tiles_given}, but {rules.name} deals {len(room)} there.")
        for n, tile in enumerate(part):
            if high_first(tile) not in tiles:
                raise UserError(f"{path}[{n}] is {_text(tile)}, which {rules.name}'s set lacks.")
            index = tiles.index(high_first(tile))
            if index in before:
                raise UserError(f"{path}[{n}] is {_text(tile)}, as {before[index]} is already.")
            before[index] = f"{path}[{n}]"
            if places[room[n]] != DRAWN:
                raise UserError(f"{path}[{n}] has the place of {before[places[room[n]]]}.")
            places[room[n]] = index
    return bytes(places)


def _parts(
    entry: WrittenRound, rules: Ruleset, seats: int, prefix: str
) -> Iterator[tuple[str, Sequence[int], Sequence[Tile]]]:
    """Yield each list of tiles with its path and the places of the order that it fills."""
    for name, lists in (("hands", entry.hands), ("draws", entry.draws)):
        if len(lists) > seats:
            raise UserError(f"{prefix}{name} has {len(lists)} lists, but the table {seats} seats.")
    size = hand_size(rules.deal, seats) or 0
    for seat, hand in enumerate(entry.hands):
        yield f"{prefix}hands[{seat}]", range(seat * size, (seat + 1) * size), hand
    tiles = set_of_tiles(rules.deal)
    yield f"{prefix}boneyard", range(seats * size, len(tiles)), entry.boneyard
    # Rows of the unshuffled set: a tile there stands for its place, which any order has.
    rows = arrange_stock(rules.boneyard, tuple(tiles[seats * size :]), seats)
    settings = engine.new_game(rules, seats).settings
    for seat, drawn in enumerate(entry.draws):
        row = [tiles.index(tile) for tile in rows[settings.own_row[seat]]]
        yield f"{prefix}draws[{seat}]", row[::-1] if settings.from_back[seat] else row, drawn


def _text(tile: Tile) -> str:
    return "{}-{}".format(*tile)


ALL_GAMES = "all"
"""The word that stands for all games of a folder."""


def read_logged_deals(source: Path, game: str, rules: Ruleset, seats: int) -> SetDeals:
    """Return the deals of a game, or of all boards, for a table.

    `source`: an event's folder, or a log. Raises UserError, DamagedFileError.
    """
    require_path(source)
    refuse_others(source)
    folder = source if source.is_dir() else source.resolve().parent.parent
    seeds = published_seeds(folder / SEEDS)
    if game == ALL_GAMES:
        games = _longest(source, seeds)
    else:
        logged_game = require_one_game(source, game)
        games = {logged_game.game.board: logged_game}
        seeds = {board: seed for board, seed in seeds.items() if board in games}
    boards = {board: SetBoard(seed) for board, seed in seeds.items()}
    for board, logged in games.items():
        if board not in boards:
            boards[board] = _dealt(logged, rules, seats)
    for board, seed in seeds.items():
        if not is_seed(rules, seed):
            raise UserError(f"{source}: the deals of board {board} are of another set of tiles.")
    if not boards:
        raise UserError(f"{source} has no deals: no game has begun there.")
    return SetDeals(source, tuple(boards[board] for board in sorted(boards)))


def _longest(source: Path, public: Mapping[int, bytes]) -> dict[int, LoggedGame]:
    """Return the game with the most rounds on each board whose seed is not public."""
    games: dict[int, LoggedGame] = {}
    for logged in chain.from_iterable(map(read_games, logs(source))):
        board = logged.game.board
        if board not in public and len(_rounds(logged)) > len(_rounds(games.get(board))):
            games[board] = logged
    return games


def _rounds(logged: LoggedGame | None) -> list[DealRecord]:
    """Return the deals that counted, one a round."""
    deals = (deal for deal in logged.records if isinstance(deal, DealRecord)) if logged else ()
    return [*{deal.round: deal for deal in deals if deal.deal}.values()]


def _dealt(logged: LoggedGame, rules: Ruleset, seats: int) -> SetBoard:
    """Return the deals of a game and its first leader. Raises UserError."""
    tiles, rounds = set_of_tiles(rules.deal), _rounds(logged)
    orders = [[*chain(*deal.hands, *deal.stock)] for deal in rounds]
    if any(sorted(order) != sorted(tiles) for order in orders):
        raise UserError(
            f"{logged.game.game} was played with another set of tiles than {rules.name} has."
        )
    if not rounds:
        raise UserError(f"{logged.game.game} has no deals: it had not begun.")
    placed = bytes(tiles.index(tile) for order in orders for tile in order)
    leader = rounds[0].leader if rounds[0].leader < seats else None
    return SetBoard(b"", placed, leader)


MOST_ATTEMPTS = 200_000
"""Seeds that are tried for a board: some 5 s."""


def draw_seed(event: Event, secret: bytes, board: int, preset: SetBoard) -> bytes:
    """Return the seed of a board: the first from the secret that satisfies what is wanted.

    Raises UserError if no attempt does.
    """
    if preset.seed:
        return preset.seed
    new = engine.new_game(event.rules, event.seats)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        seed = board_seed(secret, event.name, board, attempt)
        leader = None if preset.leader is None else chance_decides(new, seed).leader
        if leader == preset.leader and (leader is not None or satisfies(event, seed)):
            return seed + preset.placed
    raise UserError(
        f"None of {MOST_ATTEMPTS:,} deals of {event.rules.name} satisfies "
        f"{' and '.join(event.deals_with)}. Choose a weaker filter (--deals-with)."
    )


def satisfies(event: Event, seed: bytes) -> bool:
    """Tell whether a board's first deal satisfies all filters of the event."""
    filters = [parse_filter(text) for text in event.deals_with]
    if not filters:
        return True
    hands = first_hands(event.rules, event.seats, seed)
    return all(deal_filter.accepts(hands) for deal_filter in filters)


# Read the plan of an event from the words and options of the command line, and build its bots.


TUNED = "-tuned"
"""The end of the name of the bot with the values that a tune found."""
LONGEST_TUNED_NAME = 40 - len(TUNED)
"""The longest name of a bot that is tuned."""


def expand_tune(config: WrittenEvent, base: Path) -> WrittenEvent:
    """Return an event file with parameters as the event that is played.

    Its bots are the bot as it is, a group of candidates, and the tuned bot; all begin with the
    start values. Raises UserError.
    """
    if len(config.bots) != 1:
        raise UserError(f"A tune has one bot, and this event file has {len(config.bots)} (bots).")
    if config.format != RoundRobin() or config.teams or config.withdrawn:
        raise UserError("An event file with [tune] has no format, teams or withdrawn of its own.")
    (bot,) = config.bots
    if len(bot.name) > LONGEST_TUNED_NAME:
        raise UserError(
            f"The name of a tuned bot has at most {LONGEST_TUNED_NAME} characters: {bot.name!r}."
        )
    words, values = resolve_command(bot, base)[0].run, starts(config.tune)
    for name in config.tune:
        place = f"{{{name}}}"
        if not any(place in word for word in words[1:]):
            raise UserError(
                f"tune.{name}: the command of bot {bot.name} has no {place}. Put it where the "
                "bot reads the value."
            )
    for word in words:
        if any(place in word for place in PLACEHOLDERS) and fill((word,), values) != (word,):
            raise UserError(
                f"{word!r}: a word with a parameter cannot have {{build}} or {{python}}."
            )
    first = replace(bot, run=fill(bot.run, values), arguments=fill(bot.arguments, values))
    names = (bot.name, *(f"{bot.name}-{n}" for n in range(1, GROUP + 1)), f"{bot.name}{TUNED}")
    # A listed bot is listed by its name.
    first = first if first.run else replace(first, bot=first.bot or first.name)
    form = Tune(tuple(config.tune.items()), words, _entry(bot), optimiser_here())
    return replace(config, bots=tuple(replace(first, name=name) for name in names), format=form)


def _entry(bot: WrittenBot) -> str:
    """Return the lines of an event file that say how a bot starts."""
    parts = (
        {"run": bot.run} if bot.run else {"bot": bot.bot or bot.name, "arguments": bot.arguments}
    )
    return "\n".join(f"{key} = {encode_json(value).decode()}" for key, value in parts.items())


class EventPlan(NamedTuple):
    """A written event, with the rules and deals that it names: all but the files of its bots."""

    config: WrittenEvent
    base: Path
    """The folder where the bots' relative paths start."""
    file: Path | None
    """The event file; None for bots on the command line."""
    rules: Ruleset
    boards: int
    predictable: bool
    deals: SetDeals | None
    """The deals that the organiser sets; None: they are drawn."""

    def event(self, entrants: Sequence[Entrant]) -> Event:
        """Return the event with these bots. Raises UserError if it cannot be played."""
        event = self._with(self.boards, entrants)
        if event.format.takes_luck_out:
            from arena.valuation.batch import mask_tables  # It needs numpy.

            mask_tables(event.rules, event.seats)  # It refuses rules without values.
        if self.deals is None:
            return event
        most = len(self.deals.boards)
        if event.all_boards > most and self.config.boards is None:
            # Each round of a Swiss or a knockout has boards of its own.
            spans = range(1, most + 1)
            fit = bisect_right(spans, most, key=lambda n: self._with(n, entrants).all_boards)
            event = self._with(max(1, fit), entrants)
        if event.all_boards > most:
            raise too_few_deals(self.deals, event.all_boards)
        return event

    def _with(self, boards: int, entrants: Sequence[Entrant]) -> Event:
        config = self.config
        shared = {*Event.__struct_fields__} & {*WrittenEvent.__struct_fields__}
        shared_fields = {name: getattr(config, name) for name in shared}
        own_fields: dict[str, Any] = {
            "name": config.name or ("event" if self.file else "run"),
            "rules": self.rules,
            "seats": config.seats_at_table(self.rules),
            "boards": boards,
        }
        return Event(
            **shared_fields | own_fields,
            # Whoever plays a position again in one process knows the tiles that it states.
            boards_a_sitting=1 if config.position else config.format.BOARDS_A_SITTING,
            entrants=tuple(entrants),
            predictable=self.predictable,
            deals_set=self.deals is not None,
        )

    def with_boards_of(self, old: Event) -> "EventPlan":
        """Return the plan with at least the boards of an event that it continues."""
        if self.boards >= old.boards:
            return self
        form, boards = self.config.format.with_boards(old.boards, None)
        return self._replace(config=replace(self.config, format=form), boards=boards)

    def build(self, folder: Path, withdrawn: Mapping[str, Entrant] = {}) -> Event:
        """Return the whole event: find and build its bots. `folder`: where to build.

        `withdrawn`: those of its bots, by name, that nobody starts any more. Raises UserError.
        """
        event = self.event(
            [
                withdrawn.get(bot.name) or prepare_entrant(bot, self.base, folder)
                for bot in self.config.bots
            ]
        )
        event.format.check_size(event)
        return event


def read_plan(
    words: Sequence[str],
    overrides: Mapping[str, Any] | None = None,
    *,
    choices: Sequence[str] = (),
    predictable: bool = False,
) -> EventPlan:
    """Read an event file or bots, and the rules; touch no bot. Raises UserError.

    `overrides`: fields in the place of the file's. `choices`: CHOICE=VALUE of the rules.
    """
    overrides = dict(overrides or {})
    # Relative paths of the command line start in the working folder, those of a file beside it.
    if "deals" in overrides:
        overrides["deals"] = f"{Path.cwd() / overrides['deals']}"
    if "deals_from" in overrides:
        source, game = overrides["deals_from"]
        overrides["deals_from"] = (f"{Path.cwd() / source}", game)
    config, base = parse_event(words, overrides)
    if config.position:
        settings = choices, config.deals, config.deals_from, config.deals_with, config.tune
        if any(settings) or "rules" in overrides or config.rules != WrittenEvent(()).rules:
            words = "leave out --rules, --set, the options of deals, and tune"
            raise UserError(f"A position has rules and tiles: {words}.")
        rules, seats = check_position(config.position)
        if config.seats not in (None, seats):
            raise UserError(f"The position is of {seats} seats, not {config.seats} (seats).")
        config = replace(config, seats=seats)
    elif "rules" in overrides:
        rules = load_ruleset(overrides["rules"], Path.cwd(), choices)
    else:
        rules = load_ruleset(config.rules, base, choices, place=f"{words[0]}: rules")
    if config.tune and rules.deal.partners:
        config = replace(config, teams=tuple((bot.name, bot.name) for bot in config.bots))
    deals = _set_deals(config, base, rules)
    if config.tune and deals:
        raise UserError("A tune draws its deals: those of a file or a log are too few (deals).")
    form, boards = config.format.with_boards(overrides.get("boards"), config.boards)
    if deals and not config.boards:
        most = len(deals.boards)
        # A versus without a number plays until it is decided, within its own bound.
        most = min(boards, most) if isinstance(form, Versus) else most
        form, boards = form.with_boards(most, None)
    config = replace(config, format=form)
    file = Path(words[0]) if Path(words[0]).suffix == EVENT_SUFFIX else None
    predictable = predictable or config.seed is not None
    return EventPlan(config, base, file, rules, boards, predictable, deals)


def check_position(line: str) -> tuple[Ruleset, int]:
    """Return the rules and the seats of a position from which games can go on. Raises UserError."""
    start = draw_opening(line, bytes(SEED)).start
    return start.rules, start.seats


def _set_deals(config: WrittenEvent, base: Path, rules: Ruleset) -> SetDeals | None:
    """Read the deals that the organiser sets; None if they are drawn. Raises UserError."""
    ways = [name for name in ("deals", "deals_from", "deals_with") if getattr(config, name)]
    if len(ways) > 1:
        raise UserError(f"Give only one of {join_words(ways)}: each says which deals are played.")
    seats = config.seats_at_table(rules)
    check_seats(rules, seats)
    if config.deals:
        return read_deals(Path(shown_path(base / config.deals)), rules, seats)
    if config.deals_from:
        source, game = config.deals_from
        return read_logged_deals(Path(shown_path(base / source)), game, rules, seats)
    return None


def parse_event(words: Sequence[str], overrides: Mapping[str, Any]) -> tuple[WrittenEvent, Path]:
    """Read an event file, or bots as words; return it with the folder where its paths start.

    `overrides`: fields in the place of the file's. Raises UserError.
    """
    first = Path(words[0])
    in_file = first.suffix == EVENT_SUFFIX
    if in_file and len(words) > 1:
        raise UserError(f"Give one event file or bots, not {first} and {words[1]!r}.")
    config = written_event(first if in_file else None, overrides)
    base = first.resolve().parent if in_file else Path.cwd()
    if config.tune:
        config = expand_tune(config, base)
    bots = config.bots if in_file else parse_bots(words)
    if config.sealed:
        bots = tuple(replace(bot, sealed=True) for bot in bots)
    return _name_clocks(replace(config, bots=bots)), base


# --- clocks of bots' own ---


def _name_clocks(config: WrittenEvent) -> WrittenEvent:
    """Return the plan with each bot with a clock of its own called after it, as `mine@200ms`.

    So no table, file or other program mistakes it for the bot at another clock. Teams and anchor
    may name the bot without its clock where only one has that name, and challengers always: they
    are the bot at all its clocks. Raises UserError.
    """
    if not any(bot.clock for bot in config.bots):
        return config
    bots = [_name_bot(bot, config.clock) for bot in config.bots]
    plain = [bot.name for bot in config.bots]
    names = {old: new.name for old, new in zip(plain, bots, strict=True) if plain.count(old) == 1}
    form, anchor = config.format.renamed(names), config.anchor
    if isinstance(form, ChallengeFormat):
        versions = [
            [new.name for new, old in zip(bots, plain, strict=True) if old == name] or [name]
            for name in form.challengers
        ]
        form = replace(form, challengers=tuple(chain(*versions)))
    return replace(
        config,
        bots=tuple(bots),
        format=form,
        teams=tuple((names.get(a, a), names.get(b, b)) for a, b in config.teams),
        withdrawn=tuple(names.get(name, name) for name in config.withdrawn),
        anchor=anchor and replace(anchor, name=names.get(anchor.name, anchor.name)),
    )


def _name_bot(bot: WrittenBot, clock: Clock) -> WrittenBot:
    if bot.clock is None:
        return bot
    if bot.clock == OwnClock():
        raise UserError(f"The clock of bot {bot.name} is empty. Write move_ms, bank_ms or effort.")
    return replace(
        bot,
        name=f"{bot.name}@{bot.clock.name(clock)}",
        bot=bot.bot or (None if bot.run else bot.name),
        clock=bot.clock.complete(clock),
    )
