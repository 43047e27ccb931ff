"""Tests of the choice of a league's tables."""
