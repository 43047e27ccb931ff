"""The sandbox, against bots that try to leave it."""
