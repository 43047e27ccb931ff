"""The steps of the check, a module for each part of the protocol."""
