"""Tests of `tournaments/schedule`."""
