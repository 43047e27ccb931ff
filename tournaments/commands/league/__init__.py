"""The command `league`: one use-case a file."""
