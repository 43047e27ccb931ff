"""Tests of `arena/logs`."""
