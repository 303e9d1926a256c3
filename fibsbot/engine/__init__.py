"""Evaluation: generator, inputs, networks, bear-off tables, match equity, cube, search, and how they are trained.

Nothing here is imported by a command that needs no engine: numpy and numba take a moment to load.
"""
