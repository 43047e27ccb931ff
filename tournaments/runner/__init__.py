"""Sittings side by side on this machine, and the moment at which a result counts."""
