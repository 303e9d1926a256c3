"""Commands of clients: one frozen attrs class per command (specification: sections from "Chat" to "Game Commands")."""

# ruff: noqa: F403 - this module re-exports all commands

from fibs_protocol.commands.base import Command as Command
from fibs_protocol.commands.information import *
from fibs_protocol.commands.matches import *
from fibs_protocol.commands.people import *
