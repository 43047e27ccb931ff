"""Tests of `tournaments/league/pages`."""
