"""Tests of `tournaments/league/registry`."""
