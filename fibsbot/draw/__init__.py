"""Boards and tables as people look at them."""
