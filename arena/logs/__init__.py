"""Game logs: append-only, checksummed, compressed when finished. Nothing here knows the rules."""
