"""The formats: one module each, which says who meets whom; `registry` lists them."""
