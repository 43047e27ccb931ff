"""Tests of `tournaments/live`."""
