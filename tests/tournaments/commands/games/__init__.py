"""Tests of `tournaments/commands/games`."""
