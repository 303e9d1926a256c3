"""Runs Debian's gnubg, to check how it reads our files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import pytest
from attrs import frozen

from fibsbot.match import CubeAction
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Ending, Seat
from fibsbot.transcript import Cube, Game, Resign, Throw, Transcript, walk

Kind: TypeAlias = Literal["mat", "sgf", "oldmoves"]
Action: TypeAlias = tuple[object, ...]

GNUBG: Final = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")

SECONDS: Final = 120
"""How long gnubg may take for everything that it is asked at once."""


def requires_gnubg(test: Any) -> Any:
    """Mark a test that needs gnubg; where it is missing the test says so."""
    missing = pytest.mark.skipif(GNUBG is None, reason="gnubg is not installed: apt-get install gnubg")
    return pytest.mark.requires_gnubg(missing(test))


@frozen
class GnubgMatch:
    """What gnubg made of a file."""

    match: dict[str, Any]
    """As its own scripts get it, with lists for rows; empty where it understood nothing."""
    exports: dict[str, str]
    """The same match in gnubg's own words, by format: `mat`, `sgf`."""
    output: str
    """What it said while it read."""


_SCRIPT: Final = """
import json
import gnubg
gnubg.command("set confirm new off")
gnubg.command("set confirm save off")
gnubg.command("set automatic game off")
asked = json.load(open("asked.json"))
for number, (jacoby, command) in enumerate(asked["files"]):
    gnubg.command("set jacoby " + jacoby)
    print("\\n=== FILE %d ===" % number, flush=True)
    gnubg.command(command)
    try:
        found = gnubg.match(0, 0, 0, 0)
    except Exception as error:
        found = {"error": str(error)}
    for kind in asked["exports"]:
        gnubg.command({"mat": "export match mat", "sgf": "save match"}[kind] + ' "%d.out.%s"' % (number, kind))
    json.dump(found or {}, open("%d.json" % number, "w"))
"""

_IMPORT: Final = {"mat": "import mat", "sgf": "load match", "oldmoves": "import oldmoves"}


def ask_gnubg(kind: Kind, texts: Sequence[str], *, exports: Sequence[Literal["mat", "sgf"]] = ()) -> list[GnubgMatch]:
    """Let one gnubg read all these files.

    A `.mat` file and `oldmoves` cannot tell gnubg whether the Jacoby rule is in force, so it is told by hand where our
    header in the text says so.
    """
    assert GNUBG is not None
    with tempfile.TemporaryDirectory(prefix="gnubg-") as name:
        folder = Path(name)
        files = []
        for number, text in enumerate(texts):
            (folder / f"{number}.{kind}").write_text(text, encoding="utf-8")
            jacoby = "on" if '[Jacoby "On"]' in text else "off"
            files.append((jacoby, f'{_IMPORT[kind]} "{number}.{kind}"'))
        (folder / "asked.json").write_text(json.dumps({"files": files, "exports": exports}))
        (folder / "script.py").write_text(_SCRIPT)
        ran = subprocess.run(
            [GNUBG, "-t", "-q", "-p", "script.py"],
            cwd=folder,
            env={**os.environ, "HOME": name, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        outputs = ran.stdout.decode("utf-8", "replace").split("\n=== FILE ")[1:]
        assert len(outputs) == len(texts), f"gnubg gave up: {ran.stdout[-2000:]!r}"
        return [
            GnubgMatch(
                match=json.loads((folder / f"{number}.json").read_text()),
                exports={it: (folder / f"{number}.out.{it}").read_text(encoding="utf-8") for it in exports},
                output=output,
            )
            for number, output in enumerate(outputs)
        ]


def gnubg_match(kind: Kind, text: str) -> dict[str, Any]:
    """Return what gnubg makes of one file."""
    return ask_gnubg(kind, [text])[0].match


def assert_same(
    transcript: Transcript, match: dict[str, Any], *, resigned_sizes: bool = True, fills_in: bool = True
) -> None:
    """Check that gnubg understood the match that was meant; X has to be the player at seat A.

    `oldmoves` cannot say how much was resigned: there the points of resigned games are not compared. SGF tells dice
    that were only thrown, so that gnubg fills nothing in.
    """
    assert match, "gnubg understood nothing"
    info = match["match-info"]
    assert [player.name for player in transcript.players] == [info[side]["name"] for side in "XO"]
    assert transcript.length == info["match-length"]
    assert len(transcript.games) == len(match["games"])
    for game, found in zip(transcript.games, match["games"], strict=True):
        place = f"game {game.number}"
        assert _expected_info(game, points=resigned_sizes) == _info(found["info"], points=resigned_sizes), place
        assert list(_expected_actions(game, fills_in=fills_in)) == list(_actions(game, found["game"])), place


def _expected_info(game: Game, *, points: bool) -> dict[str, object]:
    result = game.result
    resigned = result is not None and result.how is Ending.RESIGNED
    return {
        "scores": game.start.scores,
        "crawford": game.start.crawford,
        "winner": None if result is None else result.winner,
        "points": result.points if result and (points or not resigned) else None,
        "resigned": resigned,
    }


def _info(info: dict[str, Any], *, points: bool) -> dict[str, object]:
    resigned = info.get("resigned", False)
    return {
        "scores": (info["score-X"], info["score-O"]),
        "crawford": info.get("crawford", False),
        "winner": None if info["winner"] is None else _seat(info["winner"]),
        "points": info.get("points-won") if points or not resigned else None,
        "resigned": resigned,
    }


def _seat(letter: str) -> Seat:
    return Seat.A if letter == "X" else Seat.B


_WORDS: Final = {
    CubeAction.DOUBLE: "double",
    CubeAction.BEAVER: "double",
    CubeAction.TAKE: "take",
    CubeAction.PASS: "drop",
}


def _expected_actions(game: Game, *, fills_in: bool) -> Iterator[Action]:
    """Yield what should have been understood: every throw with the position after it, cube actions, resignations.

    A rejected resignation is in no file, and dice that a rejected one has interrupted are thrown once. gnubg makes the
    only legal play itself.
    """
    steps = list(walk(game))
    for number, step in enumerate(steps):
        match step.entry:
            case Throw(seat=seat, dice=dice, play=None):
                if any(isinstance(later.entry, Throw) for later in steps[number + 1 :]):
                    continue
                position = step.after.position_for(seat)
                plays = legal_plays(position, (max(dice), min(dice))) or (Play(),)
                after = position.play(plays[0]) if len(plays) == 1 and fills_in else None
                yield "move" if after else "set", seat, tuple(sorted(dice)), after
            case Throw(seat=seat, dice=dice):
                yield "move", seat, tuple(sorted(dice)), step.after.position_for(seat)
            case Cube(seat=seat, action=action):
                yield _WORDS[action], seat
            case Resign(seat=seat, accepted=True):
                yield "resign", seat


def _actions(game: Game, actions: list[dict[str, Any]]) -> Iterator[Action]:
    """Yield the same from gnubg's list."""
    boards = {Seat.A: game.start.position}
    boards[Seat.B] = game.start.position.swapped()
    for action in actions:
        seat = _seat(action["player"])
        match action["action"]:
            case "move":
                play = Play.of(*((source, target) for source, target in action["move"] or ()))
                after: Position = boards[seat].play(play)
                boards = {seat: after, seat.other: after.swapped()}
                yield "move", seat, tuple(sorted(action["dice"])), after
            case "set":
                yield "set", seat, tuple(sorted(action["dice"])), None
            case word:
                yield word, seat
