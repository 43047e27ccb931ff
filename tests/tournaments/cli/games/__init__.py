"""Tests of `tournaments/cli/games`."""
