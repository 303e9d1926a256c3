"""A table for a person: you against the bot.

model.py            what is shown, what may be done, what an input means; no input or output
bot_match.py        a match against a bot
hosts.py            who answers, and who is told that something changed
page_server.py      the pages in browsers: states as events, and inputs
page_state.py       what a page shows
assets/             the page: table.js has the connection, board.js the board, panel.js what is beside it
"""
