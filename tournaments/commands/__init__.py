"""Use cases, one a file: what a command does once its arguments are understood."""
