"""Worlds: tables that a seat could not tell from the real one, and the questions it was asked."""
