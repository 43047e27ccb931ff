"""Tests of many games."""
