"""Tests of `tournaments/formats/pairing`."""
