"""Tests of `tournaments/report/review`."""
