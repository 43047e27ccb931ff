"""Values of states, draws and decisions, by playouts: what a tile was worth, what a choice cost."""

WORLDS = 64
"""Deals of the hidden tiles over which an option is valued, unless a user asks for another number.

Pages, reports and commands value a game over the same deals, so that they show the same numbers.
"""
