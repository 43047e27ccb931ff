"""Tuning: the parameters of a bot, and the search for better values of them."""
