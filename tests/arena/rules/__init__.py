"""Tests of `arena/rules`."""
