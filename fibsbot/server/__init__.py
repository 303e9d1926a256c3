"""An embedded FIBS-compatible server.

Users and the network:

    server.py            the server on its port
    connection.py        a client's connection
    limits.py            limits that protect users from each other
    login.py             from the banner to a logged-in user
    sessions.py          logging in and out
    world.py             who is logged in, what is played, what is to be sent
    users.py             a user who is logged in, and a match that two users play
    user_settings.py     toggles and variables
    accounts.py          accounts and ratings
    database.py          the database

Matches:

    saved_match.py       what is kept of a match
    match_lines.py       what clients see of it: lines of backgammon, or of other games
    saved_games.py       how games are saved
    audience.py          who sees a match, and when
    game_flow.py         the course of a game
    dice.py              dice

Commands:

    dispatch.py          from a line to the handler of its command
    match_commands.py    invite, join, leave
    game_commands.py     roll, move, double, accept, resign and so on
    laws.py              `laws`, `rethrow`, matches by other laws
    chat.py              shout, tell, kibitz, mail, gag, away
    watchers.py          watch, look, blind
    who.py               lists of users, ratings and saved matches
    info.py              help, settings, statistics

The package `texts` has the texts for people, and `fibsbot/chouette` what happens at tables with more than two seats.
docs/reference/server.md says what the server does.
"""
