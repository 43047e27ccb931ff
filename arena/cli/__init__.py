"""Commands about one game, a file each. Thin: each asks a room for the answer."""
