"""The loop of a league: turns that admit, play, value and publish."""
