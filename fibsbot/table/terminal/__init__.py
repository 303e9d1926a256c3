"""The table in a terminal, drawn by textual.

Its screen and inputs are in `app.py`, the board in any size in `board.py`, players and score sheet in `panel.py`, the
meaning of keys in `keys.py`.
"""
