"""Tests of `tournaments/plan`."""
