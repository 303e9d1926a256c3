"""Duels of two strategies in this process, without a server: which is stronger, by how much, and how certain is that.

Everything is played in pairs: the same dice twice, the second time with swapped seats. A pair follows from the seed and
its own number alone, so any process may play any pair, in any order.

    games.py    the settings of a duel, the dice of a game, and games and matches as generators of questions
    pairs.py    the strategies, the pairs that they play, and the processes
    results.py  pairs summed up (means, intervals, times), and the file of results
    compiled_games.py  pairs of compiled games, for single games between the players that they have
"""
