"""Tests of `arena/ui`."""
