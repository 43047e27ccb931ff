"""Rows of states: arrays that are played out together, and games of the engine for rare rules."""
