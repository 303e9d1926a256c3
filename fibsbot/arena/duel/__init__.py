"""Two strategies against each other in process, without a server: who is stronger, by how much, and how sure is that.

Everything is played in pairs: the same dice twice, the seats swapped in between. A pair follows from the seed and its
own number alone, so pairs may be played by any process in any order.

    plan.py     what is played: who, how long, with which cube; what a file of results has to agree with
    dice.py     the dice of a game, from seed, pair and game
    playing.py  a game and a match as a course of questions; does not know who answers
    asking.py   a strategy in a thread of its own: deadline, faults, fallback, times
    pairs.py    one pair: both games or matches, and the luck that was in them
    workers.py  pairs on all cores
    record.py   the file to which pairs are appended, and from which a run goes on
    tally.py    pairs summed up: means, intervals, times

A course asks and takes answers, and does nothing else. So whoever can answer many questions at once may hold as many
courses side by side as it likes; `pairs.answered` is the plain way, one course to its end.
"""
