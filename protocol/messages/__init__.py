"""What a server says: one frozen attrs class a message kind, in four files by subject."""

# ruff: noqa: F403 - gathering the four files is what this module is for

from protocol.messages.base import Message as Message
from protocol.messages.base import Refusal as Refusal
from protocol.messages.base import Unknown as Unknown
from protocol.messages.clip import *
from protocol.messages.game import *
from protocol.messages.lobby import *
from protocol.messages.refusals import *
