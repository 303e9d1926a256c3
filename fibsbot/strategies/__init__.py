"""Strategies: programs that decide in a match. This module has only their names, and imports nothing.

What a strategy is, and how it is asked:

    base.py             the interface, also of those that value positions; whether to reject the first roll
    questions.py        questions and answers
    loader.py           finds and loads strategies, and keeps them for piece after piece in a worker
    pool.py             asks them in threads, with deadlines and fallbacks

The strategies, besides the packages `heuristic` and `gnubg`:

    engine_strategy.py  `engine`
    backgammon_player.py  what it does in backgammon and games that are like it
    network_player.py  what it does in other games
    engine_options.py   its options, and those of `gnubg`
    simple_players.py   `pips` and `blots`
    random_play.py      `random`
    ubgi.py             `ubgi:COMMAND`

The package `child_process` runs engines as child processes.
"""

from __future__ import annotations

from typing import Final

DEFAULT_STRATEGY: Final = "engine"
"""The strategy that plays and evaluates unless another one is named."""
FALLBACK_STRATEGY: Final = "heuristic"
"""The strategy that decides if the chosen one fails: fast, and without files or programs that might be missing."""
FAST_ENGINE: Final = "engine:0"
"""The engine without looking ahead."""

PORTABLE: Final = frozenset({"engine", "heuristic", "random", "pips", "blots"})
"""Strategies that decide the same on any machine: their code is ours, and they need no other program."""


FILE_SUFFIX: Final = ".py"
"""What the path of a strategy in a file ends with, before the colon and the name of its class."""


def split_name(name: str) -> tuple[str, str | None]:
    """Return a strategy's own name and the text that is passed to it, None if there is none.

    `ubgi:engine --fast` is `ubgi` and its command, `my.py:Careful:TEXT` the class `my.py:Careful` of a file and TEXT.
    """
    file, suffix, rest = name.partition(FILE_SUFFIX + ":")
    if suffix and ":" not in file.removeprefix(file[:2] if file[1:2] == ":" else ""):
        class_name, colon, text = rest.partition(":")
        own = file + suffix + class_name
    else:
        own, colon, text = name.partition(":")
    return own, text if colon else None


def base_name(name: str) -> str:
    """Return the own name of a strategy, without the text after it: `ubgi` of `ubgi:engine --fast`."""
    return split_name(name)[0]


def is_file(name: str) -> bool:
    """Return whether a strategy is a class in a file, FILE.py:CLASS."""
    return FILE_SUFFIX + ":" in base_name(name)


def luck_evaluator(name: str) -> str:
    """Return the evaluator to use for luck, which takes very many evaluations.

    It is the given one, except that our engine, with the same networks, does not look ahead: the luck is no less fair,
    and takes a twentieth of the time.
    """
    own, options = split_name(name)
    if own != DEFAULT_STRATEGY:
        return name
    networks = [option for option in (options or "").split(",") if option.strip().startswith("networks")]
    return ",".join([FAST_ENGINE, *networks])
