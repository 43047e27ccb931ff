"""Tests of the commands about events that were played."""
