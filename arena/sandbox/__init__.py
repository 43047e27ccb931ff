"""What a bot may see, touch and use: the levels, their parts, and the probes that prove them."""
