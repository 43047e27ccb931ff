"""Tests of `tournaments/report`."""
