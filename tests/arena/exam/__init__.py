"""Tests of `arena/exam`."""
