"""Opening a page in the browser tells nobody else its address."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from arena.ui.local_address import open_in_browser

ADDRESS = "http://127.0.0.1:1/a-key-that-is-secret/?a&b"


def test_the_browser_is_given_a_file_that_only_its_user_can_read() -> None:
    commands: list[str] = []

    def show(words: str) -> bool:
        commands.append(words)
        return True

    with open_in_browser(ADDRESS, show):
        (command,) = commands
        # The command line is what all users of the machine can see.
        assert "key" not in command
        leads = Path(unquote(urlsplit(command).path))
        assert "url=http://127.0.0.1:1/a-key-that-is-secret/?a&amp;b" in leads.read_text()
        assert leads.parent.stat().st_mode & 0o077 == 0
    assert not leads.parent.exists()
