"""For people who train agents: options as numbers, questions as vectors, an environment."""
