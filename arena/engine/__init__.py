"""What a ruleset does, without I/O: one file for each group of rules."""
