"""The decisions of many games as one table, for programs that learn from them."""
