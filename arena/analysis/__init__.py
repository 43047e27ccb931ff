"""Conclusions from a log alone: replay, decisions, review, asking again, other deals."""
