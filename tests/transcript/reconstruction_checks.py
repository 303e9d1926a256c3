"""Checks that a transcript of a game has the entries that were played, or gaps in their place, and nothing else."""

from __future__ import annotations

from attrs import evolve

from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Resign, Step, Throw, Transcript, walk


def state_summary(state: GameState) -> tuple[object, ...]:
    """Return what two views of a game have in common."""
    position = state.position_for(Seat.A).points
    return position, state.turn if state.stage is not Stage.OPENING else None, state.cube, state.owner, state.scores


def entry_summary(step: Step) -> tuple[object, ...]:
    """Return what an entry says, however it was come by."""
    entry = step.entry
    match entry:
        case Throw(seat=seat, dice=dice, play=play):
            said: tuple[object, ...] = (seat, tuple(sorted(dice)), play is None)
        case Cube(seat=seat, action=action):
            said = (seat, action)
        case Resign(seat=seat, level=level, accepted=accepted):
            said = (seat, level, accepted)
        case _:
            raise TypeError(f"expected something that happened, got {entry!r}")
    return type(entry), *said, state_summary(step.after)


def assert_nothing_wrong(played: Game, paper: Game, *, rebuilt: bool = True) -> None:
    """Make sure that a paper says nothing that did not happen, and names a gap wherever something is missing.

    An offer to resign that was rejected leaves no trace, nor does a throw before it: they may be missing.
    Where several turns are missing what is `rebuilt` is the shortest way, which need not be the right one.
    """
    steps = [entry_summary(step) for step in walk(played)]
    traceless = {entry_summary(step) for step in walk(played) if _leaves_no_trace(step.entry)}
    place, lost = 0, False
    for step in walk(paper):
        if isinstance(step.entry, Gap) or not rebuilt:
            lost = True
        if isinstance(step.entry, Gap) or (step.entry.rebuilt and not rebuilt):
            continue
        said = entry_summary(step)
        while not lost and said != steps[place] and steps[place] in traceless:
            place += 1
        end = len(steps) if lost else place + 1
        assert said in steps[place:end], f"{step.entry} did not happen there"
        place, lost = steps.index(said, place) + 1, False
    if paper.result is not None:
        assert paper.result == played.result or (paper.result.winner, paper.result.points) == (
            played.result and played.result.winner,
            played.result and played.result.points,
        )
        assert lost or place == len(steps), "the end is missing"


def _leaves_no_trace(entry: Entry) -> bool:
    return (isinstance(entry, Resign) and not entry.accepted) or (isinstance(entry, Throw) and entry.play is None)


def swapped(entry: Entry) -> Entry:
    """Return an entry as whoever sits at the other seat tells it, without what only one of the two can know."""
    plain = evolve(entry, at=None, seconds=None, equity=None, rebuilt=False)
    if isinstance(plain, Gap):
        raise TypeError("expected a game without gaps")
    return evolve(plain, seat=plain.seat.other) if isinstance(plain, Throw | Cube | Resign) else plain


def comparable_entries(transcript: Transcript, *, swap: bool = False) -> list[tuple[list[Entry], object]]:
    """Return the entries and results of all games; `swap` shows them from the other seat."""
    games: list[tuple[list[Entry], object]] = []
    for game in transcript.games:
        entries = [swapped(swapped(it)) if not swap else swapped(it) for it in game.entries]
        result = game.result and (game.result.winner.other if swap else game.result.winner, game.result.points)
        games.append((entries, result))
    return games


def from_other_seat(game: Game) -> Game:
    """Return a game without gaps as the other player's account tells it."""
    result = game.result and evolve(game.result, winner=game.result.winner.other)
    return evolve(game, start=_turned(game.start), entries=tuple(map(swapped, game.entries)), result=result)


def _turned(state: GameState) -> GameState:
    turned = evolve(state, scores=state.scores[::-1], owner=state.owner.other if state.owner is not None else None)
    return turned if state.stage is Stage.OPENING else evolve(turned, turn=state.turn.other)
