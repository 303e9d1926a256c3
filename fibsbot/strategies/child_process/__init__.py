"""Engines that are other programs: the process, its restarts, and how positions and plays are written to it."""
