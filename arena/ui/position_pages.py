"""Pages of positions: the quiz of dear decisions, and the editor in which a round is laid by hand.

The quiz asks dear decisions again, on a page or as cards for programs that learn them.

A card is made from its question's position alone, as its seat knew it: so the values shown after
the answer, too, tell nothing of hidden tiles. A review begins its deals with the real one.
"""

from collections.abc import Callable, Iterator, Sequence
from html import escape

from msgspec import Struct
from msgspec.structs import replace

from arena.analysis import text
from arena.analysis.alternative_deals import lead_methods, name_rules, position_of
from arena.analysis.frames import SPECTATOR, PassesAndDraws, frame_at, with_ends
from arena.analysis.timeline import Moment, Timeline, question_of
from arena.engine import values, view
from arena.engine.state import Game
from arena.rules.variants import VARIANTS, find_variant
from arena.ui.html import TABLE_SCRIPTS, page
from arena.ui.replay_page import GameInfo, Scene, SceneBuilder, logged_game_info
from arena.valuation.terms import USUAL_WORLDS, why_no_values
from protocol.codec import encode_json
from protocol.errors import UserError
from protocol.messages import Drew, Option, Passed, Play, PlayTwo
from protocol.position import read_position, write_position
from protocol.ruleset import Ruleset, Tile, hand_size, playable_seat_counts

MOST_CARDS = 10
"""The cards of a quiz: more tire, and the next ones cost little."""
LIGHTER_PIPS = 3
"""Pips by which a play is so much lighter that a hint says so."""
ANKI_HEAD = "#separator:tab\n#html:true\n#columns:Question\tAnswer\tPosition\n"
"""The first lines of a file of cards, as Anki's text import reads them."""


class QuizCard(Struct, frozen=True):
    """A question to answer again, and its answer."""

    title: str
    about: GameInfo
    seat: int
    scene: Scene
    """The table as the seat saw it; it has the options."""
    table: str
    """The same in words."""
    options: tuple[str, ...]
    """The options in words."""
    leads: tuple[float, ...]
    """The value of each option, in points of lead; see `OptionValue`."""
    widths: tuple[float, ...]
    """Half of each value's 95 % interval."""
    fair: tuple[bool, ...]
    """True of each option that is not clearly (95 %) worse than the best."""
    chosen: int
    """The option that the seat took."""
    hint: str
    """The merit of the best option that the chosen one lacks, to be remembered."""
    position: str

    @property
    def best(self) -> int:
        """The option with the highest value."""
        return self.leads.index(max(self.leads))


def make_card(timeline: Timeline, seat: int, number: int) -> QuizCard | None:
    """Return the card of a seat's question; None if by what it knew its choice was not clearly bad.

    Raises UserError for rules without values, or which no position can name.
    """
    from arena.valuation.decision_loss import option_values  # It needs numpy.

    asked = timeline.questions(seat)[number - 1]
    if asked.choice is None:
        return None
    position = position_of(asked.history, asked.game).as_seen()
    try:
        question = question_of(position)
    except UserError:
        return None  # Of very many tiles no deal may be found.
    leads = [outlook.lead for outlook in option_values(question, asked.choice, USUAL_WORLDS)]
    best = leads.index(max(leads))
    outlooks = option_values(question, best, USUAL_WORLDS)
    fair = tuple(outlook.beyond + outlook.beyond_half_width >= 0 for outlook in outlooks)
    if fair[asked.choice]:
        return None
    game, sitting, options = question.game, timeline.logged.sitting, question.options
    frame = frame_at(Moment(game, game, (), None, None, 0), seat)
    events = tuple(view.history(game.playing, seat))
    frame = replace(frame, turn=seat, options=options, events=events)
    partners = game.rules.deal.partners
    builder = SceneBuilder(sitting.seats, sitting.seat_clocks, partners=partners, seat=SPECTATOR)
    look = text.Look(sitting.seats, partners=partners)
    return QuizCard(
        title=f"Game {timeline.logged.game.game}, round {asked.round}, question {number}",
        about=logged_game_info(timeline.logged, seat),
        seat=seat,
        scene=replace(builder.scene(frame), laid=(0, 0)),
        table=text.draw_frame(frame, look).plain,
        options=tuple(map(text.option_words, options)),
        leads=tuple(round(outlook.lead, 1) for outlook in outlooks),
        widths=tuple(round(outlook.half_width, 1) for outlook in outlooks),
        fair=fair,
        chosen=asked.choice,
        hint=", ".join(_merits(game, options[best], options[asked.choice])),
        position=write_position(position),
    )


def quiz_page(cards: Sequence[QuizCard]) -> str:
    """Return the HTML of a page that asks these questions again."""
    return page(
        "quiz.html.j2",
        "quiz",
        "Quiz of dear decisions",
        styles=("table.css", "game.css", "play.css", "quiz.css"),
        scripts=(*TABLE_SCRIPTS, "choices.js", "panels.js", "quiz.js"),
        data=cards,
    )


def anki_cards(cards: Sequence[QuizCard]) -> str:
    """Return the cards as a text file that Anki imports: question, answer, position."""
    return ANKI_HEAD + "".join(map(_anki_card, cards))


def _anki_card(card: QuizCard) -> str:
    rows = zip(card.options, card.leads, card.widths, strict=True)
    valued = "\n".join(f"{option}: {lead:+.1f} ± {width:.1f}" for option, lead, width in rows)
    loss = card.leads[card.best] - card.leads[card.chosen]
    answer = f"{card.options[card.best]}\n\nYou chose {card.options[card.chosen]}: {loss:.1f} lost."
    hint = f"\nThe better choice {card.hint}." if card.hint else ""
    question = f"{card.title}\n{card.table}\n\n{' · '.join(card.options)}"
    sides = (question, f"{answer}{hint}\n\n{valued}", card.position)
    # A tab or the end of a line ends a field.
    fields = (escape(side).replace("\t", " ").replace("\n", "<br>") for side in sides)
    return "\t".join(f"<pre>{field}</pre>" for field in fields) + "\n"


# --- what to remember ---


def _merits(game: Game, best: Option, chosen: Option) -> Iterator[str]:
    """Yield what the better of two choices does, by what the seat knows."""
    tiles, others = _tiles(best), _tiles(chosen)
    if not (tiles and others):
        yield "plays a tile now" if tiles else "keeps the tiles in hand"
        return
    if any(high == low for high, low in tiles) and not any(high == low for high, low in others):
        yield "gets rid of a double"
    lighter = sum(map(sum, tiles)) - sum(map(sum, others))
    if lighter >= LIGHTER_PIPS:
        yield f"sheds {lighter} pips more"
    fits, fewer = (_count_fitting(game, option) for option in (best, chosen))
    if fits > fewer:
        yield f"keeps {fits} playable, not {fewer}"
    if _shut_seats(game, best) - _shut_seats(game, chosen):
        yield "leaves an end on which another seat has passed"


def _tiles(option: Option) -> tuple[Tile, ...]:
    match option:
        case Play():
            return (option.tile,)
        case PlayTwo():
            return (option.left, option.right)
        case _:
            return ()


def _count_fitting(game: Game, option: Option) -> int:
    """Count the seat's other tiles that fit the line after a play."""
    after = values.act_unchecked(game, option).playing
    ends = {after.ends.left, after.ends.right}
    return sum(not ends.isdisjoint(tile) for tile in after.hand(game.playing.turn))


def _shut_seats(game: Game, option: Option) -> set[tuple[int, int]]:
    """Return each other seat with each end after a play on which it has passed since it drew."""
    bits = PassesAndDraws([0] * game.seats, [0] * game.seats)
    for event, ends in with_ends(game.playing.events):
        mask = sum(1 << end for end in {*ends})
        if isinstance(event, Drew):
            bits.add_draw(event.seat, mask)
        elif isinstance(event, Passed):
            bits.add_pass(event.seat, mask)
    after = values.act_unchecked(game, option).playing
    rivals = {*range(game.seats)} - {game.playing.turn}
    open_ends = {after.ends.left, after.ends.right}
    return {(seat, end) for seat in rivals for end in open_ends if bits.passed[seat] >> end & 1}


# --- the editor ---


MOST_EDITED_SEATS = 4
"""The seats up to which the editor lays a round; a line for more is written by hand."""


class EditedGame(Struct, frozen=True):
    """A game of the editor."""

    words: str
    """The rules as a position names them."""
    rules: Ruleset
    tables: dict[int, int]
    """Tiles dealt to each seat, by the number of seats."""
    first: tuple[str, ...]
    """The methods that may decide who leads the first round."""
    later: tuple[str, ...]
    """The same for a later round."""


def editor_page(rules: Ruleset, *, is_served: bool = False) -> str:
    """Return the HTML of a page that writes the line of a round laid by hand.

    It offers these rules first, then the named games. `is_served`: a server values its lines.
    Raises UserError for rules that it cannot follow.
    """
    if not (name_rules(rules) and _is_editable(rules)):
        raise UserError(
            "The editor follows plays of one tile, draws and passes at 2 to 4 seats, by rules that "
            "words can name: write the line of another round by hand."
        )
    named = filter(_is_editable, map(find_variant, VARIANTS))
    return page(
        "editor.html.j2",
        "editor",
        "Editor of positions",
        styles=("table.css", "game.css", "editor.css"),
        scripts=(*TABLE_SCRIPTS, "panels.js", "round.js", "editor.js"),
        data=[*map(_edited_game, dict.fromkeys((rules, *named)))],
        connect="'self'" if is_served else "'none'",
        is_served=is_served,
    )


class ValuedLine(Struct, frozen=True):
    """The values of a position's options, as the page of the editor shows them."""

    note: str
    """The way in which the values were computed, or the reason why there are none."""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


VALUES, JSON = "values/", ".json"
"""The beginning and the end of an address of values; between them is the position's line."""


def find_study_page(editor: str, name: str) -> Callable[[], str] | None:
    """Look up a page of a study: the editor, or the values of a line as JSON; None: no page."""
    if name.startswith(VALUES) and name.endswith(JSON):
        line = name[len(VALUES) : -len(JSON)]
        return lambda: encode_json(value_line(line)).decode()
    return None if name else lambda: editor


def value_line(line: str) -> ValuedLine:
    """Value the options of a position, in about a second."""
    from arena.valuation.decision_loss import option_values  # It needs numpy.

    try:
        question = question_of(read_position(line))
    except UserError as error:
        return ValuedLine(f"{error}")
    if why := why_no_values(question.game.rules):
        return ValuedLine(f"The options have no values: {why}.")
    outlooks = option_values(question, 0, USUAL_WORLDS)
    head, rows = text.option_value_table(question, outlooks, 0, None).plain()
    played_on = text.PLAYED_ON.format(deals=USUAL_WORLDS)
    return ValuedLine(text.SOLVED if outlooks[0].exact else played_on, head, rows)


def _is_editable(rules: Ruleset) -> bool:
    """Tell whether a round has only plays of one tile, draws and passes."""
    return (
        rules.turn.tiles == 1
        and not rules.boneyard.auction
        and not rules.stakes.chips
        and not rules.deal.refuse_doubles
        and rules.end.blocked != "call"
        and "odd_even" not in (*lead_methods(rules.lead, 1), *lead_methods(rules.lead, 2))
        and playable_seat_counts(rules)[0] <= MOST_EDITED_SEATS
    )


def _edited_game(rules: Ruleset) -> EditedGame:
    sizes = [seats for seats in playable_seat_counts(rules) if seats <= MOST_EDITED_SEATS]
    return EditedGame(
        words=name_rules(rules),
        rules=rules,
        tables={seats: hand_size(rules.deal, seats) or 0 for seats in sizes},
        first=lead_methods(rules.lead, 1),
        later=lead_methods(rules.lead, 2),
    )
