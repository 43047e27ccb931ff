"""The HTML page of an event: its values, its template, its script and its styles."""


def link_to_games(*names: str) -> str:
    """Return the link to the page's part about an entrant, or to the games of several of them."""
    return ("#games/" if len(names) > 1 else "#bot/") + "/".join(names)
