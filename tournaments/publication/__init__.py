"""The site of an event: what may be shown of it, for any static web server."""
