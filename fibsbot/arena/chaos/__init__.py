"""Bots under faults: everything that a network, a server and a machine can do to them, from a seed (docs/chaos.md)."""
