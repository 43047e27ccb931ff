"""Tests of `tournaments/league`."""
