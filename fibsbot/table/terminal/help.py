"""What keys and mouse do, to be read at the table."""

from __future__ import annotations

from typing import Final

_PLAYING: Final = """\
click, Enter     move a checker by the left die
right click, o   by the other die
drag             from its point to where it goes
digits           move from that point (25: from the bar, or the hand)
Tab, arrows      go from checker to checker
/                type a whole play, such as 8/5 6/5
click on dice    roll; swap the dice; done
space            roll; done (nothing is played before); next game
u undo   s swap the dice   d double   t take   p pass   b beaver
r resign   y accept, n reject a resignation   x reject the roll
n next game   q quit

Left to the table:
a rolls   f makes plays without a choice   g bears off with all
"""
_SIGNS: Final = """
l light or dark   w moves in words, for screen readers

[8] can move, {8} is the checker that Enter moves, >5< where it can
go; <○> is where the opponent has just moved, < > from where.
"""
_LESSONS: Final = """
Against the bot alone:
?  hint: equity, loss, chances: W wins, G gammons, LG lost gammons
c  tutor, who speaks before a blunder stands
Backspace  take the last move or decision back
r report, n new match, when the match is over
"""
_ON_SERVER: Final = """
On a server:
m  say something; Tab: to the opponent, to all at the match
   (kibitz), to its watchers (whisper), to everybody (shout)
e  leave the match, which the server saves; stop watching
Escape  lobby; n plays again when the match is over
"""
AGAINST_BOT: Final = _PLAYING + _LESSONS + _SIGNS
ON_SERVER: Final = _PLAYING + _ON_SERVER + _SIGNS
LOBBY: Final = """\
arrows, PgUp, PgDn, Home, End, wheel, click   choose a line
Enter, another click   accept, resume, invite, or watch
x  decline an invitation
i invite   w watch   m message (Tab: to whom)
g gag, so that you do not hear them   b blind, so that they
cannot watch you; both again to undo it

/ search   o order by rating, experience, name
p everybody, those who are ready, those who play
c chat: all, tells, the match (kibitz, whisper), shouts
, and .  older and newer lines of the chat
r others may invite you, or not   a away, back
e leave the match, which the server saves; stop watching
n connect again, when the server has ended the session
Escape board   l light or dark   q quit
"""
