"""Addresses of this machine: a port to serve on, and a page opened unseen by other users.

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
from typing import TYPE_CHECKING

from arena.files import describe_error, temporary_folder
from arena.ui.console import print_note
from protocol.errors import UserError

if TYPE_CHECKING:
    import trio

LOCAL_HOST = "127.0.0.1"
PORT_LOOK_S = 0.1
"""Seconds between two looks whether a port is free."""
NO_WEBSOCKETS = (
    "{what} takes the package websockets, which is not installed: "
    "pip install '.[live]' in the clone{instead}."
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


async def listen_here(port: int, patience_s: float = 0.0) -> "trio.SocketListener":
    """Listen on a port of this machine; wait this long for whoever has it.

    With port 0 the machine chooses one. Raises UserError if the port is not available.
    """
    import trio  # `replay` opens a page without it.

    give_up_at = trio.current_time() + patience_s
    while True:
        try:
            (listener,) = await trio.open_tcp_listeners(port, host=LOCAL_HOST)
        except (OSError, OverflowError) as error:
            if trio.current_time() >= give_up_at:
                reason = describe_error(error)
                raise UserError(
                    f"Cannot listen on port {port}: {reason}. Choose another --port."
                ) from error
            await trio.sleep(PORT_LOOK_S)
        else:
            return listener
