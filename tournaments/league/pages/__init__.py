"""The site of a league: pages, feeds, badges and rounds, for any static web server."""
