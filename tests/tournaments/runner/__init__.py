"""Tests of `tournaments/runner`."""
