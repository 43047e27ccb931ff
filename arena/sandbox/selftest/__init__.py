"""Small programs that try what a cheat would, and the guarantees that they prove or disprove."""
