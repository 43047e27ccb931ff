"""The steps of the walk, a file for each theme."""
