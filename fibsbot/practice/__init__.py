"""Practice: a person's own decisions from analysed matches, as exercises.

exercises.py   a decision as an exercise: what is asked, the choices with their values, what was played
wording.py     kinds, buttons and where an exercise is from, in words
deck.py        the exercises of a person, and when each comes again
anki_notes.py  an exercise as a note of Anki: pictures, question, answer
anki.py        the file that Anki imports
"""
