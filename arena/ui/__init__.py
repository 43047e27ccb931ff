"""Ways to show games to people: consoles, replay pages, a local web server, and human players."""
