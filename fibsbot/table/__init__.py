"""A table for a person: you against the bot.

model.py            what is shown, what may be done, what an input means; no input or output
bot_match.py        a match against a bot
hosts.py            who answers, and who is told that something changed
learning.py         what only a table against a bot offers: hints, tutor, steps back, positions, reports
hints.py            the values of choices, before a decision stands
set_up.py           positions to play from
match_report.py     the report of a match, while it is made
practice_model.py   an exercise on the board
practice_host.py    a person who practises: exercises, answers, verdicts
study_host.py       positions of a report, or pasted ones, in which a person tries plays
page_server.py      the pages in browsers: states and their changes as events, and inputs
page_state.py       what a page shows
assets/             the page: table.js has the connection, board.js the board, panel.js what is beside it,
                    learning.js the lessons, practice.js exercises, choices.js the values of choices,
                    set_up.js the dialog for positions, dialogs.js those that ask
"""
