"""Sealed bots: modules and Python inside WebAssembly, whose time is work."""
