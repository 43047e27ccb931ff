"""The engine before it was changed in place: pure functions on values, kept as an oracle."""
