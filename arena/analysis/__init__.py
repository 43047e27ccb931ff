"""Conclusions from a log alone: replay, decisions, review, re-asking, alternative deals."""
