"""Tests of the sample bots."""
