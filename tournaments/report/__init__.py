"""Reports of an event: Markdown, HTML, terminal tables, CSV and PGN."""
