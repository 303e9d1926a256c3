"""What a server says: one frozen attrs class a message kind, in files by subject."""

# ruff: noqa: F403 - gathering the files is what this module is for

from protocol.messages.base import Message as Message
from protocol.messages.base import Refusal as Refusal
from protocol.messages.base import Unknown as Unknown
from protocol.messages.clip import *
from protocol.messages.game import *
from protocol.messages.game_refusals import *
from protocol.messages.information import *
from protocol.messages.login import *
from protocol.messages.matches import *
from protocol.messages.people import *
from protocol.messages.refusals import *
