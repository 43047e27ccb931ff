"""Commands that concern single games: play one, replay it, explain it."""
