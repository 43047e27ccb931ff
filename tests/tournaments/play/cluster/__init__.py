"""Tests of events on many machines."""
