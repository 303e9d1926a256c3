"""The rules core: short plain Python that a player can read beside the laws.

    dice.py           rolls of two dice, and how likely each is
    laws.py           options, the named sets of options (1931, 1970, modern, fibs), and scoring
    ruleset.py        what makes one tables game different from another, declared in one value
    shared_laws.py    laws that several rulesets share
    sides.py          the board of any game: two sides, each in its own numbering
    general_plays.py  the legal plays of any ruleset, and why a play is illegal
    partial_plays.py  plays as a person makes them, checker by checker
    backgammon.py     backgammon as a ruleset, and which games have its compact board, a `Position`
    plays.py          the same as general_plays.py for these games, much faster
    state.py          one game of any ruleset in a match as an immutable value
    game.py           the actions that change it: rolls, plays, doubles, resignations, the next game
    game_plays.py     the legal plays in it, and those that a player may leave to the program
    permissions.py    what is allowed just now
    turns.py          what follows in a turn, and how a game ends
    errors.py         the errors of illegal plays and actions
    law_words.py      laws as words, in invitations, options and files

The games themselves are in `fibsbot.games`. See docs/reference/rules.md and docs/reference/games.md.
"""
