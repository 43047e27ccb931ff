"""Tests of `arena/match`."""
