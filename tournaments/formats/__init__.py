"""The formats: one module each, which decides the pairings; `registry` lists them."""
