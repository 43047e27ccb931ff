"""The answers of versus and tune in words and tables."""
