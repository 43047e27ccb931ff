"""The rating model, the sequential test and their statistics. Pure."""
