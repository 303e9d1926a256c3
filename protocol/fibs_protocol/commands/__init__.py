"""Commands of clients: one frozen attrs class per command (specification: sections from "Chat" to "Game Commands").

The modules:

    base.py        the base class
    people.py      login and chat
    matches.py     invitations, watching, play
    information.py settings, users, the server
"""

# ruff: noqa: F403 - this module re-exports all commands

from fibs_protocol.commands.base import Command as Command
from fibs_protocol.commands.information import *
from fibs_protocol.commands.matches import *
from fibs_protocol.commands.people import *
