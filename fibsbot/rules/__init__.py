"""The rules core: short plain Python that a backgammon player can read beside the laws.

    laws.py     which options are in force, and the sets of options that have a name: 1931, 1970, modern, fibs
    plays.py    the legal plays of a position and a throw, and which law an illegal play breaks
    cube.py     who may raise the count, and when
    scoring.py  what a game counts
    state.py    one game in a match as an immutable value
    game.py     what changes it: throws, plays, doubles, resignations, the next game
    perft.py    exact counts of positions, which pin plays.py
    errors.py   every way in which a play or an action can be wrong

Backgammon is one of the tables games, and others are to stand beside it. What belongs to all of them is in state.py and
game.py: two seats, an opening throw, turns, a cube, resignations, matches. What makes a game backgammon is asked for by
name in few places: `Position.start` (the set-up), `check_play` and `legal_plays` (how checkers move), `has_won`,
`level_of` and `men_left` (what ends it and what that counts). A second game brings its own answers to these questions
in a file of its own, with a position of its own where checkers can be pinned or both sides go the same way.
docs/rules.md says more.
"""
