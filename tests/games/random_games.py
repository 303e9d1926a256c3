"""Random games of any ruleset, and a search that tries everything."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.game import TableGame, choices, name, play, roll, roll_contest, roll_opening, start_match
from fibsbot.games.plays import legal_plays, make_move
from fibsbot.games.ruleset import Numbers, Part, Ruleset
from fibsbot.games.table import HAND, OFF, Table
from fibsbot.position import Play
from fibsbot.rules.state import Stage

MOST_STEPS = 5_000
"""Boards that the search looks at before it gives a position up."""
MOST_DECISIONS = 8_000
"""More than any random game of any ruleset has been seen to need."""


def variants() -> Iterator[str]:
    """Yield every game, and every game with each of its options."""
    for game in GAMES:
        yield game
        yield from (f"{game}:{option.name}" for option in load_ruleset(game).options)


def random_game(rules: Ruleset, rng: random.Random) -> Iterator[TableGame]:
    """Yield the states of a game in which everything is decided at random."""
    state = start_match(rules, 1)
    for _ in range(MOST_DECISIONS):
        yield state
        if state.stage is Stage.OVER:
            return
        state = advance(state, rng)
    raise AssertionError(f"{rules.full_name}: no end after {MOST_DECISIONS} decisions")


def advance(state: TableGame, rng: random.Random) -> TableGame:
    """Return the state after a random roll or decision."""
    if state.stage is Stage.OPENING:
        return roll_opening(state, rng.randint(1, 6), rng.randint(1, 6))
    if state.stage is Stage.CONTEST:
        return roll_contest(state, rng.randint(2, 12), rng.randint(2, 12))
    seat = state.decides
    assert seat is not None
    if state.stage is Stage.ROLL:
        return roll(state, seat, tuple(rng.randint(1, 6) for _ in range(state.rules.dice)))
    if state.stage is Stage.NAME:
        return name(state, seat, rng.choice(choices(state)))
    plays = legal_plays(state.rules, state.table, state.part)
    return play(state, seat, rng.choice(plays) if plays else Play())


def every_way(rules: Ruleset, table: Table, part: Part) -> Iterator[tuple[Table, int, int, bool]]:
    """Yield every board that any moves in any order lead to: board, moves, sum of the numbers, whether it is over."""
    steps = 0
    stack: list[tuple[Table, Numbers, int, int, int]] = [(table, part.numbers, 0, 0, 0)]
    while stack:
        board, left, at, moves, total = stack.pop()
        steps += 1
        if steps > MOST_STEPS:
            raise OverflowError
        for index, number in enumerate(left[:1] if part.ordered else left):
            for source in range(1, HAND + 1):
                if part.one_checker and at and source != at:
                    continue
                made = make_move(rules, board, source, number)
                if isinstance(made, tuple):
                    target, after = made
                    ended = after.own.all_off or any(end(rules, board, after) for end in rules.ends_at_once)
                    yield after, moves + 1, total + number, ended
                    if not ended and not (part.one_checker and target == OFF):
                        rest = left[:index] + left[index + 1 :]
                        stack.append((after, rest, target, moves + 1, total + number))


def brute_force(rules: Ruleset, table: Table, part: Part) -> set[Table]:
    """Return the legal results of a part, found by trying everything."""
    best: dict[Table, tuple[int, int]] = {}
    over: set[Table] = set()
    for board, moves, total, ended in every_way(rules, table, part):
        if ended:
            over.add(board)
        elif any(law.forbids(table, board) for law in rules.play_laws):
            continue
        best[board] = max(best.get(board, (0, 0)), (moves, total))
    for law in rules.preferences:
        most = max(best.values(), default=(0, 0))
        if any(worth == most and not law.forbids(table, board) for board, worth in best.items()):
            best = {board: worth for board, worth in best.items() if not law.forbids(table, board)}
    most = max(best.values(), default=(0, 0))
    return {board for board, worth in best.items() if worth == most or board in over}


def decisions(game: str, positions: int) -> Iterator[tuple[Table, Part]]:
    """Yield boards and parts of random games, more of them late in a game."""
    rng = random.Random(game)
    found = 0
    while found < positions:
        for state in random_game(load_ruleset(game), rng):
            if state.stage is Stage.MOVE and rng.random() < 0.1:
                yield state.table, state.part
                found += 1
                if found == positions:
                    return
