"""Tests of `tournaments/publication`."""
