"""Deals that are not just drawn: set by the organiser, or drawn until a filter is satisfied."""
