"""Games shown to people: consoles, replay pages, the local web server, and people who play."""
