"""The steps of the check, one module for each part of the protocol."""
