"""Match analysis: errors, luck, performance, dice and results.

The modules:

    match_analysis.py      a match, or many handed out to workers
    decision_analysis.py   a decision: the value of it and of its alternatives
    decision_statistics.py what a decision adds to the statistics of its player
    skill.py               levels, classes and estimated ratings for error rates
    luck.py                the luck of rolls, and results adjusted for it
    dice.py                statistics of rolls, with tests of fairness
    results.py             wins and losses of an account in a store
    model.py               what an analysis returns
    selection.py           which decisions are asked for: by player, date, kind, class and loss
    position_classes.py    the class of a position: race, holding game, prime and so on
"""
