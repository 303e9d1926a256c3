"""Handing out work: independent pieces, done by processes of this machine or by a Dask cluster.

Names are imported from the modules; importing this package imports nothing slow.
"""
