"""How long tests wait."""

from typing import Final

SOON: Final = 240.0
"""Seconds after which what should happen soon is taken never to happen.

A test that succeeds does not wait for it. It is far more than a busy machine needs: on one with six times as many
processes as cores, a minute was not enough.
"""
