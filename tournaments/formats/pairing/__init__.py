"""Pairing algorithms, on numbers: designs for fixed tables, matching for a Swiss."""
