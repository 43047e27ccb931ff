"""Attack suite: 175 attempts of a bot, run through the code that starts bots."""
