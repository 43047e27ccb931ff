"""Tests of `tournaments/formats`."""
