"""Debian's gnubg reads what we write as the match that was meant, and we read what it writes of it.

The same simulated matches for every format: of various lengths and unlimited, with doubles, beavers, drops,
resignations of every size, gammons, backgammons, the Crawford rule and dances (test_simulating.py counts them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve

from fibsbot.formats.mat import write_mat
from fibsbot.formats.oldmoves import write_oldmoves
from fibsbot.formats.sgf import write_sgf
from fibsbot.match import CubeAction
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Ending
from fibsbot.transcript import Cube, Game, Resign, Throw, Transcript
from tests.formats.gnubg import GnubgMatch, Kind, ask_gnubg, assert_same, requires_gnubg
from tests.formats.one_match import read_mat, read_sgf
from tests.formats.simulated_matches import simulate

MATCHES: Final = 50
WRITERS: Final[dict[Kind, Callable[[Transcript], str]]] = {
    "mat": write_mat,
    "sgf": write_sgf,
    "oldmoves": write_oldmoves,
}
GOLDEN: Final = sorted((Path(__file__).parents[1] / "data" / "formats" / "mat").glob("*.mat"))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def matches() -> list[Transcript]:
    """Return the matches."""
    return [simulate(seed) for seed in range(MATCHES)]


@requires_gnubg
@pytest.mark.parametrize("kind", WRITERS)
def test_gnubg_understands_matches_as_they_were_played(kind: Kind, matches: list[Transcript]) -> None:
    found = ask_gnubg(kind, [WRITERS[kind](match) for match in matches])
    for match, understood in zip(matches, found, strict=True):
        meant = as_listed(match) if kind == "oldmoves" else match
        assert_same(meant, understood.match, resigned_sizes=kind != "oldmoves", fills_in=kind == "mat")


def as_listed(match: Transcript) -> Transcript:
    """Return a match as `oldmoves` shows it to gnubg.

    Unlimited matches are played with the Jacoby rule there, and every resignation is one of a single game. Where scores
    do not fit to that, gnubg swaps them now and then: it takes them for those that FIBS once told the wrong way round.
    """
    games: list[Game] = []
    expected = None
    for game in map(_as_listed, match.games):
        scores = game.start.scores
        if expected and (scores[0] == expected[1] or scores[1] == expected[0]):
            scores = (scores[1], scores[0])
        expected = list(scores)
        if game.result:
            level = game.result.level if game.result.how is Ending.RESIGNED else 1
            expected[game.result.winner] += game.result.points // level
        games.append(evolve(game, start=evolve(game.start, scores=scores)))
    return evolve(match, games=tuple(games))


def _as_listed(game: Game) -> Game:
    """Leave out dice that were not played; where there was no play at all gnubg sees no end either."""
    entries = tuple(it for it in game.entries if not (isinstance(it, Throw) and it.play is None))
    if game.result is None or not any(isinstance(it, Throw) for it in entries):
        return evolve(game, entries=(), result=None)
    turned = any(isinstance(it, Cube) and it.action is CubeAction.TAKE for it in entries)
    points = game.result.points if turned or game.start.length else 1
    return evolve(game, entries=entries, result=evolve(game.result, points=points))


@pytest.fixture(scope="module")
def exports(matches: list[Transcript]) -> list[GnubgMatch]:
    """Return the matches as gnubg understands and writes them."""
    return ask_gnubg("mat", [write_mat(match) for match in matches], exports=["mat", "sgf"])


@requires_gnubg
@pytest.mark.parametrize("kind", ["mat", "sgf"])
def test_matches_rewritten_by_gnubg_read_the_same(
    kind: Kind, matches: list[Transcript], exports: list[GnubgMatch]
) -> None:
    for match, understood in zip(matches, deepcopy(exports), strict=True):
        read = read_mat(understood.exports["mat"]) if kind == "mat" else read_sgf(understood.exports["sgf"])
        if kind == "mat" and match.games[-1].start.laws.jacoby:
            # gnubg writes that a gammon without a double counts 2, and goes on with scores for which it counted 1.
            read = evolve(read, games=read.games[:-1])
            understood.match["games"].pop()
        assert_same(read, understood.match, fills_in=kind == "mat")
        assert [game.start.scores for game in read.games] == [
            game.start.scores for game in match.games[: len(read.games)]
        ]


@requires_gnubg
@pytest.mark.parametrize("kind", ["mat", "sgf"])
def test_one_format_becomes_the_other_without_a_difference_for_gnubg(kind: Kind, matches: list[Transcript]) -> None:
    few = matches[:20]
    texts = [write_mat(read_sgf(write_sgf(it))) if kind == "mat" else write_sgf(read_mat(write_mat(it))) for it in few]
    for match, understood in zip(few, ask_gnubg(kind, texts), strict=True):
        assert_same(match, understood.match, fills_in=kind == "mat")


@requires_gnubg
def test_gnubg_reads_what_is_left_of_matches_with_gaps() -> None:
    played = [simulate(seed, gaps=True, finished=seed % 2 == 0) for seed in range(25)]
    texts = [write_mat(match) for match in played]
    for text, understood in zip(texts, ask_gnubg("mat", texts), strict=True):
        read = read_mat(text)
        games = tuple(as_gnubg_ends(game, read.tags) for game in read.games)
        assert_same(evolve(read, games=games), understood.match, resigned_sizes=False)


def as_gnubg_ends(game: Game, tags: Mapping[str, str]) -> Game:
    """Return a game as gnubg takes it that is not seen to its end: somebody resigned, if anything was seen at all."""
    if not any(isinstance(it, Throw) for it in game.entries):
        return evolve(game, entries=(), result=None)
    if f"Gap {game.number}" not in tags or game.result is None:
        return game
    resigned = Resign(seat=game.result.winner.other, level=Level.SINGLE, accepted=True)
    return evolve(game, entries=(*game.entries, resigned))


@requires_gnubg
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_gnubg_reads_the_golden_files_to_their_last_move(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (understood,) = ask_gnubg("mat", [text])
    for game, found in zip(read_mat(text).games, understood.match["games"], strict=True):
        throws = [it for it in game.entries if isinstance(it, Throw)]
        assert len(throws) == sum(action["action"] in {"move", "set"} for action in found["game"])
        assert game.start.scores == (found["info"]["score-X"], found["info"]["score-O"])
