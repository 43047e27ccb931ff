"""Commands about bots: make one, check it, examine it."""
