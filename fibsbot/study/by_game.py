"""Studies matches on all cores, game by game, so that a single match does not leave cores idle."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from attrs import evolve

from fibsbot.study.many import Studied, study_all
from fibsbot.study.model import MatchStudy, summed
from fibsbot.transcript import Transcript


def study_by_game(
    transcripts: Iterable[Transcript],
    judge: str,
    *,
    luck: bool = True,
    cores: int | None = None,
    tick: Callable[[], object] = lambda: None,
) -> Iterator[Studied]:
    """Yield what `study_all` yields, and call `tick` for each game that has been studied."""
    waiting: deque[Transcript] = deque()
    studies = study_all(_games(transcripts, waiting), judge, luck=luck, cores=cores)
    parts: list[Studied] = []
    for part in studies:
        tick()
        parts.append(part)
        if len(parts) == max(1, len(waiting[0].games)):
            yield _joined(waiting.popleft(), parts)
            parts = []


def _games(transcripts: Iterable[Transcript], waiting: deque[Transcript]) -> Iterator[Transcript]:
    """Yield each game as a match of its own, and note which matches they come from."""
    for transcript in transcripts:
        waiting.append(transcript)
        if not transcript.games:
            yield transcript
        yield from (evolve(transcript, games=(game,)) for game in transcript.games)


def _joined(transcript: Transcript, parts: list[Studied]) -> Studied:
    studies = []
    for part in parts:
        if not isinstance(part, MatchStudy):
            return part
        studies.append(part)
    games = tuple(game for study in studies for game in study.games)
    return MatchStudy(transcript, studies[0].judge, games, summed(game.figures for game in games))
