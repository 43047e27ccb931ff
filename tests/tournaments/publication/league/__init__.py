"""Tests of `tournaments/publication/league`."""
