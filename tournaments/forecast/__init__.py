"""Estimates of what an event will take and what it can tell."""
