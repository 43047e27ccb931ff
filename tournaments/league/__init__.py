"""A standing league: its settings, its register of bots, its rounds, and decisions about them."""
