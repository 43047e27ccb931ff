"""The rules of play as pure functions on values, without I/O: a file for each group of choices."""
