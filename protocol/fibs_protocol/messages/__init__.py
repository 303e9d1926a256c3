"""Messages of a server: one frozen attrs class per kind, in files by subject.

The modules:

    base.py          the base classes
    clip.py          the numbered lines
    login.py         login, registration, settings
    people.py        chat and other users
    information.py   answers about users and the server
    matches.py       invitations, saved matches, reports
    chouettes.py     games of three to six players
    game.py          turns, boards, the cube, ends of games
    other_games.py   games other than backgammon
    refusals.py      refusals outside of games
    game_refusals.py refusals in games
"""

# ruff: noqa: F403 - this module re-exports all messages

from fibs_protocol.messages.base import Message as Message
from fibs_protocol.messages.base import Refusal as Refusal
from fibs_protocol.messages.base import Unknown as Unknown
from fibs_protocol.messages.chouettes import *
from fibs_protocol.messages.clip import *
from fibs_protocol.messages.game import *
from fibs_protocol.messages.game_refusals import *
from fibs_protocol.messages.information import *
from fibs_protocol.messages.login import *
from fibs_protocol.messages.matches import *
from fibs_protocol.messages.other_games import *
from fibs_protocol.messages.people import *
from fibs_protocol.messages.refusals import *
