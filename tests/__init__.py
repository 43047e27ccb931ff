"""Tests of the whole; they mirror the rooms."""
