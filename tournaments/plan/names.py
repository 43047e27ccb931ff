"""Names of bots and files, which become files of an event on whatever system."""

import unicodedata
from collections.abc import Iterable
from itertools import chain, count
from pathlib import Path

from tournaments.formats.base import Entrant

LONGEST_SLUG = 32
"""Characters of a name made from a file's: a number or version may follow."""
_CYRILLIC = "а a б b в v г g д d е e ж zh з z и i к k л l м m н n о o п p р r с s т t у u ф f х kh"
_CYRILLIC += " ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya ђ dj ј j љ lj њ nj ћ c џ dz є ye і i"
_GREEK = "α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f"
_GREEK += " χ ch ψ ps ω o"
_LATIN = "ß ss æ ae œ oe ø o ł l đ d ð d þ th ħ h ı i ŋ ng"
_WORDS = f"{_CYRILLIC} {_GREEK} {_LATIN}".split()
LETTERS = {letter: text.strip("-") for letter, text in zip(_WORDS[::2], _WORDS[1::2], strict=True)}
"""Letters that do not decompose into one of a to z and its accents, with their usual spelling."""


def slug(name: str) -> str:
    """Return a name in characters that entrants and folders may have; `bot` if none has any.

    Accents go, Greek and Cyrillic are spelt in Latin letters, letters of other scripts become their
    numbers: 日本 is u65e5u672c, so that two names stay two.
    """
    text = "".join(map(_spell, unicodedata.normalize("NFKD", name)))
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "-" for c in text)
    plain = plain.lstrip("-")[:LONGEST_SLUG]
    return plain if plain.strip("_-") else "bot"


def _spell(char: str) -> str:
    if char.isascii():
        return char
    if unicodedata.combining(char):
        return ""
    if (text := LETTERS.get(char.lower())) is not None:
        return text.capitalize() if char != char.lower() else text
    return f"u{ord(char):x}" if char.isalnum() else "-"


def unique_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number appended if another bot has it, also in other capitals."""
    names = {other.casefold() for other in taken}
    numbered = (f"{name}-{number}" for number in count(2))
    return next(free for free in chain([name], numbered) if free.casefold() not in names)


def file_title(entrant: Entrant) -> str:
    """Return the name of an entrant's file or folder where its own name had to be spelt."""
    command = entrant.command
    for path in map(Path, (*command.argv, command.folder)):
        if not path.name.isascii() and entrant.name.startswith(slug(path.stem)):
            return unicodedata.normalize("NFC", path.name)
    return ""
