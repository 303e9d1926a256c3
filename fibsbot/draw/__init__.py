"""Boards and tables as people view at them."""
