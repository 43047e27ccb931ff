"""Pages about many games: their templates and what fills them."""
