"""Use cases, one a file: the work of each command after its arguments are parsed."""
