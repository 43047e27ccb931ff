"""Verification of events and logs from their published files."""
