"""The registry of a league: pushes of bots, which are read, copied, built, checked, entered."""
