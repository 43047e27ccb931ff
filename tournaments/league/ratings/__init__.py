"""Ratings of a league's divisions: tables, histories, regressions and cycles. Pure."""
