"""Random games of any ruleset, and a search that tries everything."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import islice, permutations, product

from fibsbot.games import GAMES, load_ruleset
from fibsbot.position import Move, Play
from fibsbot.rules.game import choices, name, play, roll, roll_contest, roll_opening, start_match_of
from fibsbot.rules.general_plays import legal_plays, make_move
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.sides import HAND, OFF, Sides
from fibsbot.rules.state import GameState, Stage

MOST_DECISIONS = 8_000
"""More than any random game of any ruleset has been seen to need."""
MOST_STATES_WITH_AN_OPTION = 60


def variants() -> Iterator[str]:
    """Yield every game, and every game with each of its options."""
    for game in GAMES:
        yield game
        yield from (f"{game}:{option.name}" for option in load_ruleset(game).options)


def random_game(rules: Ruleset, rng: random.Random) -> Iterator[GameState]:
    """Yield the states of a game in which everything is decided at random."""
    state = start_match_of(rules, 1)
    for _ in range(MOST_DECISIONS):
        yield state
        if state.stage is Stage.OVER:
            return
        state = advance(state, rng)
    raise AssertionError(f"{rules.full_name}: no end after {MOST_DECISIONS} decisions")


@cache
def states(game: str) -> list[GameState]:
    """Return the states of a random game, of a game with an option the first ones; read by several tests."""
    most = MOST_STATES_WITH_AN_OPTION if ":" in game else None
    return list(islice(random_game(load_ruleset(game), random.Random(game)), most))


def rolled(state: GameState, rng: random.Random) -> GameState | None:
    """Return the state after a random roll; None where a player decides something else first."""
    if state.stage is Stage.OPENING:
        return roll_opening(state, rng.randint(1, 6), rng.randint(1, 6))
    if state.stage is Stage.CONTEST:
        return roll_contest(state, rng.randint(2, 12), rng.randint(2, 12))
    if state.stage is not Stage.ROLL:
        return None
    assert state.decides is not None
    return roll(state, state.decides, tuple(rng.randint(1, 6) for _ in range(state.rules.dice)))


def advance(state: GameState, rng: random.Random) -> GameState:
    """Return the state after a random roll or decision."""
    if (after := rolled(state, rng)) is not None:
        return after
    seat = state.decides
    assert seat is not None
    if state.stage is Stage.NAME:
        return name(state, seat, rng.choice(choices(state)))
    plays = legal_plays(state.rules, state.sides, state.part)
    return play(state, seat, rng.choice(plays) if plays else Play())


def every_way(rules: Ruleset, sides: Sides, part: Part) -> Iterator[tuple[Sides, tuple[int, int], bool]]:
    """Yield every board that any moves lead to: board, how many numbers and their sum, whether the game is over there.

    Every order of the numbers is tried, and for each number every checker. Nothing is left out.
    """
    for order in {part.numbers} if part.ordered else set(permutations(part.numbers)):
        boards = {(sides, 0)}
        for played, number in enumerate(order, 1):
            following: set[tuple[Sides, int]] = set()
            for (board, at), source in product(boards, range(1, HAND + 1)):
                made = make_move(rules, board, source, number)
                if isinstance(made, tuple) and (not part.one_checker or at in {0, source}):
                    target, after = made
                    ended = after.own.all_off or any(end(rules, board, after) for end in rules.ends_at_once)
                    yield after, (played, sum(order[:played])), ended
                    if not ended and not (part.one_checker and target == OFF):
                        following.add((after, target if part.one_checker else 0))
            boards = following


def brute_force(rules: Ruleset, sides: Sides, part: Part) -> set[Sides]:
    """Return the legal results of a part, found by trying everything."""
    best: dict[Sides, tuple[int, int]] = {} if part.compulsory else {sides: (0, 0)}
    over: set[Sides] = set()
    for board, worth, ended in every_way(rules, sides, part):
        if ended:
            over.add(board)
        elif any(law.forbids(sides, board) for law in rules.play_laws):
            continue
        best[board] = max(best.get(board, (0, 0)), worth)
    for law in rules.preferences:
        most = max(best.values(), default=(0, 0))
        if any(worth == most and not law.forbids(sides, board) for board, worth in best.items()):
            best = {board: worth for board, worth in best.items() if not law.forbids(sides, board)}
    most = max(best.values(), default=(0, 0))
    return {board for board, worth in best.items() if worth == most or board in over or not part.compulsory}


@cache
def decisions(game: str, positions: int, share: float = 0.1) -> list[tuple[Sides, Part]]:
    """Return boards and parts of random games, a share of those that come up."""
    rng = random.Random(game)
    found: list[tuple[Sides, Part]] = []
    while len(found) < positions:
        for state in random_game(load_ruleset(game), rng):
            if state.stage is Stage.MOVE and rng.random() < share:
                found.append((state.sides, state.part))
                if len(found) == positions:
                    break
    return found


def mutated(play: Play, rng: random.Random) -> Play:
    """Return the play with a move more, a move less, or another source or target."""
    moves = list(play.moves)
    at = rng.randrange(len(moves))
    kind = rng.randrange(4)
    if kind == 0:
        moves.pop(at)
    elif kind == 1:
        moves.append(moves[at])
    elif kind == 2:
        moves[at] = Move(rng.randint(1, HAND), moves[at].target)
    else:
        moves[at] = Move(moves[at].source, rng.randint(OFF, 24))
    return Play(tuple(moves))
