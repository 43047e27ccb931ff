"""Tests of `arena/conformance`."""
