"""The command line: the program's entry in `main`, and the commands, one file for each theme."""
