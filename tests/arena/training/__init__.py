"""Tests of `arena/training`."""
