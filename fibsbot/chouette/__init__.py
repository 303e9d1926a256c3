"""Chouette: three to six players at one table, one of them in the box against all others.

    rules.py      the rules: box, team, captain, doubles, the ledger
    table.py      a table on the server, and the match at its board
    flow.py       the course of a chouette there, and who comes and goes
    commands.py   the command `chouette`, and those that mean something else at a table
    server.py     what the server takes from these three
    bot.py        what the bot decides in the box, as captain or in the team, and when it leaves
    replay.py     the games of a chouette in a log
    demo.py       players for `fibsbot demo --game chouette`, and what is shown of them

Server, bot and replay know none of this: `fibsbot/extensions.py` loads what they take. The lines of the protocol are in
`fibs_protocol/messages/chouettes.py`.
"""

from typing import Final

FEWEST_PLAYERS: Final = 3
MOST_PLAYERS: Final = 6
