"""Tests of `arena/engine`."""
