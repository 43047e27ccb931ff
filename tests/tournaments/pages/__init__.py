"""Tests of the pages about many games."""
