"""A chaos test of whole bots: faults of network, server and machine, chosen by a seed (docs/lab/chaos.md).

Run it with `python -m bench.chaos`.
"""
