"""The rules core: short plain Python that a backgammon player can read beside the laws.

    laws.py     options, the named sets of options (1931, 1970, modern, fibs), and scoring
    plays.py    the legal plays of a position and a roll, the law that an illegal play breaks, perft counts
    state.py    one game in a match as an immutable value
    game.py     the actions that change it: rolls, plays, doubles, resignations, the next game
    chouette.py three to six players at one board: box, team, captain, ledger
    errors.py   the errors of illegal plays and actions
    law_words.py laws as words, in invitations, options and files

Backgammon is one of the tables games, and others may follow. state.py and game.py hold what all of them share: two
players, an opening roll, turns, a cube, resignations, matches. Backgammon itself is called by name in few places:
`Position.start` (the set-up), `check_play` and `legal_plays` (how checkers move), `has_won`, `win_level` and
`point_game_score` (the end of a game and its score). A second game would bring its own versions of these in a file of
its own, with its own position class if checkers can be pinned or both sides move the same way. See docs/rules.md.
"""
