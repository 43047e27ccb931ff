"""Tests of the command `league`."""
