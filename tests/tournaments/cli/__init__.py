"""Tests of `tournaments/cli`."""
