"""Tests of `arena/analysis`."""
