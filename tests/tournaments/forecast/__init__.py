"""Tests of `tournaments/forecast`."""
