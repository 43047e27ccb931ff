"""What `arena.explain` says of a ruleset: one file for each part of a game. Pure."""
