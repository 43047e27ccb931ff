"""Tests of `tournaments/storage`."""
