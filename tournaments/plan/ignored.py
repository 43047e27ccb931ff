"""The files in a bot's folder that no program reads: they make no new version of it.

A league's copy of a bot has none of them, so no bot there plays by a file that its fingerprint
leaves out. On one's own machine they stay visible: who reads one deceives nobody but themselves.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase

LEFT = frozenset((
    ".git", ".gitignore", ".gitattributes", ".hg", ".svn", ".idea", ".vs", ".vscode",
    ".editorconfig", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache",
    ".DS_Store", ".directory", "Thumbs.db", "desktop.ini",
))  # fmt: skip
"""Names that version control, editors, desktops and Python leave behind."""
BEGINNINGS = (".#", "#", "._", ".nfs")
ENDINGS = ("~", ".swp", ".swo", ".bak", ".orig")
TEXTS = frozenset(
    f"{name}{ending}"
    for name in ("readme", "license", "licence", "copying")
    for ending in ("", ".md", ".rst", ".txt")
)
"""Names of texts for people, in small letters."""


def is_ignored(name: str) -> bool:
    """Tell whether a name is one that no program reads, wherever the file or folder is."""
    is_leftover = name in LEFT or name.startswith(BEGINNINGS) or name.endswith(ENDINGS)
    return is_leftover or name.lower() in TEXTS


def is_left_out(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path in a bot's folder, or a folder on it, is ignored or matches a pattern.

    A pattern is that of a name, as `*.log`, or of a path, as `notes/*.txt`.
    """
    parts = path.split("/")
    paths = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    return any(map(is_ignored, parts)) or any(
        fnmatchcase(text, pattern.strip("/")) for pattern in patterns for text in (*parts, *paths)
    )
