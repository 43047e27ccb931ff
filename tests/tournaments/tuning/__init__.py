"""Tests of tournaments/tuning: parameters, the search, the answer."""
