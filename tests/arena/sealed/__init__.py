"""Tests of `arena/sealed`."""
