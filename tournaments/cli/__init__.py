"""The program: its entry in `main`, and the commands about many games, a file for each theme."""
