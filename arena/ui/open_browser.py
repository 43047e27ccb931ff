"""Opens one of our pages in the user's browser and keeps its address secret from other users.

A command's arguments are visible to every user of the machine, in the list of processes, and the
address contains the key. So the command names a file that only this user can read, and the file
redirects to the page.
"""

import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib.util import find_spec
from pathlib import Path

from arena.sandbox.temporary import temporary_folder
from arena.ui.console import print_note

NO_WEBSOCKETS = (
    "{what} takes the package websockets, which is not installed: "
    "pip install 'boneyard-arena[live]'{instead}."
)
LEADS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Boneyard</title>
<meta http-equiv="refresh" content="0; url={address}">
</head><body><p><a href="{address}">Continue to the page</a></p></body></html>
"""


def has_browser() -> bool:
    """Tell whether the package that serves pages is installed."""
    return find_spec("websockets") is not None


def show_page(page: Path) -> None:
    """Show a page of a file in the browser; say so if there is none."""
    if not webbrowser.open(page.resolve().as_uri()):
        print_note(f"No browser was found. Open {page} in one.")


@contextmanager
def open_in_browser(address: str, show: Callable[[str], bool] = webbrowser.open) -> Iterator[None]:
    """Have the browser open an address; remove the redirecting file when the block ends.

    Raises OSError if the file cannot be written.
    """
    with temporary_folder("open", shared=False) as folder:
        leads = folder / "open.html"
        leads.write_text(LEADS.format(address=escape(address)))
        show(leads.as_uri())
        yield
