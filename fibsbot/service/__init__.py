"""Bots that are left running: several accounts in one process, and what an operator sees of them."""
