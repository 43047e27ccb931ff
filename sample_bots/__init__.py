"""Bots to copy from and to play against. Each file stands alone and imports nothing of ours."""
