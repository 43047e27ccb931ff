"""Tests of `arena/valuation`."""
