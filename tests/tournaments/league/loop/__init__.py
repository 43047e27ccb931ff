"""Tests of `tournaments/league/loop`."""
