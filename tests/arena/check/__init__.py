"""Tests of the walk that checks one bot."""
