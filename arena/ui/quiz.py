"""The quiz of dear decisions: a page that asks them again, and cards for programs that learn them.

A card is made from its question's position alone, as its seat knew it: so the values shown after
the answer, too, tell nothing of hidden tiles. A review begins its deals with the real one.
"""

from collections.abc import Iterator, Sequence
from html import escape

from msgspec import Struct
from msgspec.structs import replace

from arena.analysis import text
from arena.analysis.alternative_deals import find_round, position_of, reach_question
from arena.analysis.frames import SPECTATOR, PassesAndDraws, frame_at, with_ends
from arena.analysis.timeline import Moment, Timeline, question_at
from arena.engine import values, view
from arena.engine.state import Game
from arena.ui.html import TABLE_SCRIPTS, page
from arena.ui.replay_page import GameInfo, Scene, SceneBuilder, logged_game_info
from arena.valuation.terms import USUAL_WORLDS
from protocol.errors import UserError
from protocol.messages import Drew, Option, Passed, Play, PlayTwo
from protocol.position import write_position
from protocol.ruleset import Tile

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
    """What the best option does that the chosen one does not, to be remembered."""
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
        history = find_round(position)
    except UserError:
        return None  # Of very many tiles no deal may be found.
    question = question_at(history, reach_question(history, position))
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
