"""Tests of `tournaments/site`."""
