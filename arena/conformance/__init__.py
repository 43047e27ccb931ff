"""The check of one bot against the protocol, step by step, with what to mend."""
