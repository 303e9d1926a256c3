"""Engines as child processes: starting and restarting them, and the lines that are exchanged with them."""
