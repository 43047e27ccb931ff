"""Tests of `tournaments/verification`."""
