"""Tests of the commands about bots."""
