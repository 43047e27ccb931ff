"""Tests of `tournaments/rating`."""
