"""Tests of `tournaments/commands`."""
