"""English for explanations: sentences, and numbers and lists in words. No rules live here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple


class Sentence(NamedTuple):
    """A sentence that a player must know."""

    text: str
    """One or two sentences of plain English."""
    sources: tuple[str, ...] = ()
    """The clauses that say so, as in rules.md; none if our project or the user decided."""

    def fill(self, **words: str) -> "Sentence":
        """Return the sentence with these words in its gaps."""
        return self._replace(text=self.text.format(**words))


NUMBER_WORDS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
)  # fmt: skip


def number_word(n: int) -> str:
    """Write a small number in words."""
    return NUMBER_WORDS[n] if n < len(NUMBER_WORDS) else f"{n:,}"


def count_in_words(n: int, noun: str) -> str:
    """Count things in words: "one tile", "two tiles"."""
    return f"{number_word(n)} {noun}{'' if n == 1 else 's'}"


def count_points(n: int, noun: str = "point") -> str:
    """Count points in digits, as a score sheet shows them: "100 points"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def count_in_digits(n: int, noun: str, plural: str = "") -> str:
    """Count things in digits: "1 tile", "12 tiles"; `plural`: a plural that is not regular."""
    return f"{n} {noun if n == 1 else plural or noun + 's'}"


def ordinal_word(n: int) -> str:
    """Write an ordinal number: "first", "21st"."""
    if n <= len(ORDINALS):
        return ORDINALS[n - 1]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th") if n // 10 % 10 != 1 else "th"
    return f"{n}{ending}"


def join_words(words: Iterable[str], joint: str = "and") -> str:
    """Join words to a list: "two, three or four"."""
    *most, last = words
    return f"{', '.join(most)} {joint} {last}" if most else last


def by_table(values: Mapping[int, int], say: Callable[[int], str], joint: str = "and") -> str:
    """Write a value for each table: "seven tiles with two or three players and six with four"."""
    first, *others = dict.fromkeys(values.values())
    if not others:
        return say(first)
    # Only the first value has its unit: "six" follows "seven tiles", and "61" follows "100 points".
    phrases = [f"{say(first)} with {_tables(values, first)} players"]
    phrases += [f"{say(value).split()[0]} with {_tables(values, value)}" for value in others]
    return join_words(phrases, joint)


def _tables(values: Mapping[int, int], wanted: int) -> str:
    return name_range([seats for seats, value in values.items() if value == wanted])


def name_range(numbers: Sequence[int]) -> str:
    """Write numbers as a choice: "two", "two or three", "two to four"."""
    if len(numbers) > 2 and len(numbers) == numbers[-1] - numbers[0] + 1:
        return f"{number_word(numbers[0])} to {number_word(numbers[-1])}"
    return join_words(map(number_word, numbers), "or")


def clauses(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return all clauses of some sentences, each once, in the order of the sources."""
    return tuple(sorted({clause for group in groups for clause in group}, key=_place))


def _place(clause: str) -> tuple[str, int, str]:
    """Return the sort key of a clause: C.9 before C.10, clauses without a number before both."""
    letter, _, rest = clause.partition(".")
    return clause[0], int(rest) if rest.isdecimal() else 0, letter


def duration(minutes: float) -> str:
    """Write a duration, given in minutes, in a suitable unit."""
    if minutes < 2:
        return f"about {max(1, round(60 * minutes))} s"
    if minutes < 120:
        return f"about {round(minutes)} minutes"
    return f"about {minutes / 60:.1f} hours"
