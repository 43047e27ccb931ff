"""Tests of `tournaments/dataset`."""
