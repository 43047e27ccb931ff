"""The check of one bot against the protocol, step by step, with advice on how to fix faults."""
