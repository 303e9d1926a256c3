"""The rules core: short plain Python that a backgammon player can read beside the laws.

    laws.py     options, the named sets of options (1931, 1970, modern, fibs), and scoring
    plays.py    the legal plays of a position and a roll, the law that an illegal play breaks, perft counts
    state.py    one game in a match as an immutable value
    game.py     the actions that change it: rolls, plays, doubles, resignations, the next game
    chouette.py three to six players at one board: box, team, captain, ledger
    errors.py   the errors of illegal plays and actions
    law_words.py laws as words, in invitations, options and files

Backgammon is one of the tables games; the others are in `fibsbot.games`, with a board of their own, as checkers can be
pinned or both sides move the same way. What all share is here: `MatchGame` in state.py has the players, the score, the
cube and what is offered, and the functions of game.py about doubles, resignations and who may act take the state of any
game. What is backgammon alone is `GameState` in state.py, plays.py, and the rolls and plays of game.py.
See docs/rules.md.
"""
