"""A table for a person: you against the bot.

model.py            what is shown, what may be done, what an input means; no input or output
page_server.py      the table in a browser
"""
