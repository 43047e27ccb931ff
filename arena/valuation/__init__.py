"""Values of states, draws and decisions, by playouts: what a tile was worth, what a choice cost."""
