"""The proof of a level: what a bot could try, tried, and judged from outside too."""
