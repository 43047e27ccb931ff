"""Sealed bots: WebAssembly modules that see their stdin and stdout, and whose time is work."""
