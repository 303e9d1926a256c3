"""`python -m fibsbot`."""

from fibsbot.cli import run

run()
