"""Each finished match in a file of its own; a full disk costs nothing but the file."""

from __future__ import annotations

import asyncio
import errno
import re
from pathlib import Path

import pytest
from attrs import evolve
from structlog.testing import capture_logs

from fibsbot.formats import Format
from fibsbot.formats.conversion import read_matches
from fibsbot.replay.events import MatchEnded
from fibsbot.rules.state import Seat
from fibsbot.server.server import Server
from fibsbot.service import match_files
from fibsbot.service.match_files import MatchFiles
from fibsbot.service.service import Service
from fibsbot.strategies.questions import LastResort
from fibsbot.transcript import Transcript
from tests.bot.live_bots import CHEAP
from tests.patience import SOON
from tests.service.accounts import opponent, plan, process_settings


@pytest.mark.slow
async def test_matches_are_written_as_they_end(tmp_path: Path) -> None:
    async with Server(seed=3, limits=CHEAP) as server, opponent(server.port, "ford"):
        one = evolve(plan(server.port, "marvin", invite="ford", matches=2), match_directory=tmp_path / "matches")
        async with asyncio.timeout(SOON):
            await Service([one], process_settings(), lambda _: LastResort(), environment={}).run()
    names = sorted(path.name for path in (tmp_path / "matches").iterdir())
    assert 2 == len(names)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d_\d{6}_marvin_ford_1(-2)?\.mat", name) for name in names), names
    for name in names:
        (match,) = read_matches(Format.MAT, (tmp_path / "matches" / name).read_text())
        assert ["marvin", "ford"] == [player.name for player in match.players]
        assert match.winner is not None


class Won:
    """A match that is over."""

    def __init__(self) -> None:
        """Read it."""
        text = Path(__file__).parents[1] / "data"
        path = next(iter(sorted(text.rglob("*.mat"))))
        (match, *_) = read_matches(Format.MAT, path.read_text(encoding="utf-8", errors="replace"))
        players = tuple(
            evolve(player, name=name) for player, name in zip(match.players, ("marvin", "ford"), strict=True)
        )
        self.match: Transcript = evolve(match, players=players, user=Seat.A)  # type: ignore[arg-type]  # two of them


def written(folder: Path, *matches: Transcript) -> tuple[MatchFiles, list[str]]:
    """Write matches; return what has done it, and the files."""
    files = MatchFiles({"marvin": folder})
    for match in matches:
        files.on_match_event("marvin", MatchEnded(1, match))
    files.close()
    return files, sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_only_finished_matches_of_our_own_are_written_and_none_twice(tmp_path: Path) -> None:
    match = Won().match
    if match.winner is None:
        match = evolve(match, length=max(match.scores))
    watched, unfinished = evolve(match, user=None), evolve(match, length=99)
    assert [] == written(tmp_path / "a", watched, unfinished)[1]
    _, names = written(tmp_path / "b", match, match)
    assert 2 == len(names)
    assert names[0].replace("-2.mat", ".mat") == names[1].replace("-2.mat", ".mat")


def test_a_full_disk_costs_a_line_and_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    match = Won().match
    if match.winner is None:
        match = evolve(match, length=max(match.scores))

    def replacing(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(match_files, "replacing", replacing)
    with capture_logs() as logs:
        files, names = written(tmp_path, match)
    assert [] == names
    assert (files.error or "").endswith(": No space left on device")
    assert ["match is not written"] == [log["event"] for log in logs]
