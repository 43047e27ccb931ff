"""Ratings of a league's divisions: tables, histories and regressions. Pure."""
