"""The site of a league: pages and rounds, for any static web server."""
