"""The rules of play without I/O, on a game changed in place: a file for each group of choices."""
