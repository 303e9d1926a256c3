"""The compiled kernel for the tables games of `fibsbot.games`: plays, self-play and networks for every ruleset.

`parameters` describes a ruleset by small integers, `moves` and `plays` find the boards that a part of a turn leads to,
`turns` divides rolls and ends games, `network` evaluates, `evaluator` looks ahead, `game_loop` plays whole games, and
`fibsbot.engine.training.rulesets` learns from them. The reference for all of it is `fibsbot.games`.
"""
