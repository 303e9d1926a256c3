"""Practice: a person's own decisions from analysed matches, as exercises.

exercises.py  a decision as an exercise: what is asked, the choices with their values, what was played
deck.py       the exercises of a person, and when each comes again
"""
