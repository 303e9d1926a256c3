"""What the simulated matches are for: everything that can happen in a match happens in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given

from fibsbot.match import CubeAction
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Ending
from fibsbot.transcript import Cube, Game, Gap, Resign, Throw, Transcript, decisions, walk
from tests.examples import examples
from tests.formats.simulated_matches import LENGTHS, simulate, transcripts


def happened(match: Transcript) -> Iterator[object]:
    """Yield a name for everything that happened."""
    yield match.length
    for game in match.games:
        if game.start.crawford:
            yield "Crawford"
        if game.start.post_crawford:
            yield "after Crawford"
        if game.result:
            yield game.result.how, game.result.level
        yield from happened_in(game)


def happened_in(game: Game) -> Iterator[object]:
    """Yield a name for everything that happened in a game."""
    for step in walk(game):
        match step.entry:
            case Throw(play=None):
                yield "thrown only"
            case Throw(play=play) if play is not None and not play.moves:
                yield "dance"
            case Throw() if any(decision.forced for decision in decisions(step)):
                yield "forced"
            case Cube(action=action):
                yield action
                if action is CubeAction.DOUBLE and step.before.owner is not None:
                    yield "redouble"
            case Resign(level=level, accepted=accepted):
                yield "resigned", level, accepted


@pytest.mark.slow
def test_everything_happens_in_50_matches() -> None:
    counts = Counter(what for seed in range(50) for what in happened(simulate(seed)))
    wanted = {
        *LENGTHS,
        *((Ending.BORNE_OFF, level) for level in Level),
        *((Ending.RESIGNED, level) for level in Level),
        (Ending.DROPPED, Level.SINGLE),
        *(("resigned", level, accepted) for level in Level for accepted in (True, False)),
        CubeAction.DOUBLE,
        CubeAction.TAKE,
        CubeAction.PASS,
        CubeAction.BEAVER,
        *("Crawford", "after Crawford", "thrown only", "dance", "forced", "redouble"),
    }
    assert {} == {what: counts[what] for what in wanted if counts[what] < 2}


@pytest.mark.slow
@given(transcripts())
@examples(15)
def test_a_simulated_match_can_be_walked_through(match: Transcript) -> None:
    for game in match.games:
        for step in walk(game):
            assert isinstance(step.entry, Gap) or step.before != step.after or isinstance(step.entry, Resign | Throw)


def test_the_same_seed_gives_the_same_match() -> None:
    assert simulate(7) == simulate(7)
    assert simulate(7) != simulate(8)


def test_a_match_may_break_off_and_have_gaps() -> None:
    assert simulate(1, 3, finished=False).games[-1].result is None
    assert any(not game.whole for seed in range(5) for game in simulate(seed, 5, gaps=True).games)
