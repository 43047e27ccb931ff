"""Tools for training agents: options as numbers, questions as vectors, and an environment."""
