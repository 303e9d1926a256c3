"""Matches in files: `read`, `write`, `analyse`, and `Match`."""

from __future__ import annotations

import html
import itertools
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from attrs import field, frozen

from fibsbot.analysis.model import AnalysedDecision, MatchAnalysis, PlayerStatistics
from fibsbot.formats import FormatError
from fibsbot.library.board import Board
from fibsbot.library.evaluations import DEFAULT_EVALUATOR, evaluator_of
from fibsbot.library.hints import MATCH_HINTS, missing
from fibsbot.library.json_values import JsonValue
from fibsbot.library.printed import Printed, short_name
from fibsbot.rules.state import Seat
from fibsbot.transcript import Game, Transcript, walk

if TYPE_CHECKING:
    from fibsbot.archive.sources import Source

__all__ = [
    "AnalysedMatch",
    "ErrorsByKind",
    "Match",
    "MatchError",
    "MatchErrors",
    "UnreadableFileWarning",
    "analyse",
    "read",
    "write",
]


class UnreadableFileWarning(UserWarning):
    """A file of a folder, or of a zip or tar file, is left out; the text says why."""


@frozen(repr=False)
class Match:
    """A match that was played, of any game. Where it was read from makes no difference to whether two are equal."""

    transcript: Transcript
    """All of it: games, entries, times."""
    source: str = field(default="", eq=False)
    """The file that it was read from."""

    @property
    def players(self) -> tuple[str, str]:
        """The names of the players."""
        first, second = self.transcript.players
        return first.name, second.name

    @property
    def length(self) -> int:
        """Points; 0 is an unlimited match."""
        return self.transcript.length

    @property
    def score(self) -> tuple[int, int]:
        """Points of the players at the end, as far as they are known."""
        return self.transcript.scores

    @property
    def winner(self) -> str | None:
        """The name of the winner; None for an unfinished or unlimited match."""
        winner = self.transcript.winner
        return None if winner is None else self.players[winner]

    @property
    def game(self) -> str:
        """The name of the game that is played."""
        return self.transcript.rules.name

    @property
    def games(self) -> tuple[Game, ...]:
        """The games: each with its number, start, entries and result, as `fibsbot.transcript.walk` takes it."""
        return self.transcript.games

    @property
    def boards(self) -> list[Board]:
        """The board after each entry, and that before the first one of each game. Raises TranscriptError."""
        found = []
        for game in self.games:
            found.append(Board.of(game.start))
            found += [Board.of(step.after) for step in walk(game)]
        return found

    def __str__(self) -> str:
        """Return players, length, number of games and score in a line."""
        return str(self.transcript)

    def __repr__(self) -> str:
        """Return the same, for a prompt."""
        return f"<Match {self}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the match in a line, and its games."""
        return f"<p>{html.escape(str(self))}</p>{_Games(self)._repr_html_()}"

    def to_json(self) -> str:
        """Return the match as JSON, in one line: the format `json` of files."""
        from fibsbot.formats.transcript_json import write_json  # noqa: PLC0415 - a program may only read

        return write_json(self.transcript).rstrip("\n")

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the match that `to_json` has written. Raises FormatError, a ValueError, with one line of text."""
        from fibsbot.formats.transcript_json import iter_json  # noqa: PLC0415 - as above

        transcripts = list(iter_json(text))
        if len(transcripts) != 1:
            raise FormatError(f"expected one match, got {len(transcripts)}")
        return cls(transcripts[0])

    if not TYPE_CHECKING:  # type checkers shall report names that are not there

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError, with a hint for a name that somebody may expect."""
            if name in MATCH_HINTS:
                raise missing(self, "'Match' object", name, MATCH_HINTS[name])
            return object.__getattribute__(self, name)  # the error of Python, or of a property


@frozen(repr=False)
class _Games(Printed):
    """The games of a match, a row each."""

    match: Match

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        return (" game", "winner", " points", " score")

    def rows(self) -> Sequence[Sequence[str]]:
        """Return a row for each game."""
        names = [short_name(name) for name in self.match.players]
        return [
            [
                str(game.number),
                names[game.result.winner] if game.result else "",
                str(game.result.points) if game.result else "",
                "{}-{}".format(*game.scores),
            ]
            for game in self.match.games
        ]


def read(*places: Path | str) -> Iterator[Match]:
    """Yield the matches of files, folders, zip and tar files: `.mat`, SGF, `.xg`, `.bgf`, logs and others.

    Raises FormatError for what does not exist and for a folder without files, at once, and for a file that is named and
    cannot be read, when it is its turn; one that is found in a folder or a packed file is left out with an
    UnreadableFileWarning.
    """
    from fibsbot.archive.sources import sources_of  # noqa: PLC0415 - a program may only write

    paths = [Path(place) for place in places]
    for path in paths:
        try:
            path.stat()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FormatError(f"expected a file or folder with matches, got {str(path)!r}: {reason}") from None
    sources = (source for source in sources_of(paths) if source.name)
    first = next(sources, None)
    if first is None:
        raise FormatError(f"expected files with matches, got none in {', '.join(map(repr, map(str, paths))) or '()'}")
    return _matches_of(itertools.chain((first,), sources))


def _matches_of(sources: Iterable[Source]) -> Iterator[Match]:
    """Yield the matches in the content of files."""
    from fibsbot.replay.log_reading import CaptureError  # noqa: PLC0415 - as above
    from fibsbot.replay.match_files import read_content  # noqa: PLC0415 - as above

    for source in sources:
        problem = source.problem
        try:
            found = iter(()) if problem else read_content(source.name, source.parts)[1]
            for transcript in found:
                yield Match(transcript, source.name)
        except (FormatError, CaptureError) as error:
            problem = str(error)
        if problem and source.explicit:
            raise FormatError(f"{source.name}: {problem}")
        if problem:
            warnings.warn(f"{source.name}: {problem}", UnreadableFileWarning, stacklevel=2)


def write(path: Path | str, matches: Match | Iterable[Match], form: str | None = None) -> None:
    """Write matches into a file; the format is that of its extension, `.mat`, `.sgf`, `.json`, ..., or named.

    Raises FormatError for a match of a game that the format cannot say, ValueError for an unknown format.
    """
    from fibsbot.files import replacing  # noqa: PLC0415 - a program may only read
    from fibsbot.formats.conversion import write_matches  # noqa: PLC0415 - as above

    place = Path(path)
    chosen = [matches] if isinstance(matches, Match) else matches
    pieces = write_matches(form or place.suffix.removeprefix("."), (match.transcript for match in chosen))
    with replacing(place) as part, part.open("w", encoding="utf-8") as file:
        file.writelines(pieces)


# -- analysis -------------------------------------------------------------------------------------------------------


@frozen(repr=False)
class AnalysedMatch(JsonValue, Printed):
    """The analysis of a match: errors and luck of both players."""

    analysis: MatchAnalysis
    """All of it: each decision with the values of its alternatives."""

    @property
    def players(self) -> tuple[str, str]:
        """The names of the players."""
        first, second = self.analysis.transcript.players
        return first.name, second.name

    @property
    def pr(self) -> tuple[float | None, float | None]:
        """The performance ratings; None without a decision."""
        first, second = self.analysis.figures
        return first.pr, second.pr

    @property
    def figures(self) -> tuple[PlayerStatistics, PlayerStatistics]:
        """The totals of both players: losses by kind, error rates and levels, luck."""
        return self.analysis.figures

    @property
    def estimated_ratings(self) -> tuple[float | None, float | None]:
        """The ratings at FIBS that their errors stand for; None in an unlimited match, and in other games."""
        first, second = (self.analysis.estimated_rating(seat) for seat in Seat)
        return first, second

    @property
    def has_luck(self) -> bool:
        """Whether the luck of the rolls was analysed: it is not known after `analyse(match, luck=False)`."""
        return any(one.luck is not None for game in self.analysis.games for one in game.decisions)

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        return ("player", " decisions", " lost", " PR", " luck", "level")

    def rows(self) -> Sequence[Sequence[str]]:
        """Return a row for each player."""
        return [
            [
                short_name(name),
                *_cells(figures),
                f"{figures.luck:+.3f}" if self.has_luck else "-",
                figures.level.value if figures.level else "-",
            ]
            for name, figures in zip(self.players, self.figures, strict=True)
        ]

    def note(self) -> str:
        """Return who has analysed it."""
        return f"by {self.analysis.evaluator}"

    def errors(self, player: Literal[0, 1] | None = None, at_least: float = 0.02) -> MatchErrors:
        """Return the decisions that cost at least this much, the worst first; of one player, or of both."""
        found = [
            MatchError.of(decision, self.players)
            for game in self.analysis.games
            for decision in game.decisions
            if decision.loss >= at_least and player in {None, decision.decision.seat}
        ]
        return MatchErrors(tuple(sorted(found, reverse=True)))

    def by_kind(self) -> ErrorsByKind:
        """Return the errors by the kind of position: race, holding game, prime and so on; in backgammon.

        The kinds are those of `fibsbot archive` (docs/how-to/archive.md). In games with other boards all are "other".
        """
        from fibsbot.analysis.position_classes import classes_of  # noqa: PLC0415 - loads the engine's arrays

        found: dict[str, tuple[_Sums, _Sums]] = defaultdict(lambda: (_Sums(), _Sums()))
        analysed = [one for game in self.analysis.games for one in game.decisions]
        for kind, one in zip(classes_of(one.decision for one in analysed), analysed, strict=True):
            found[kind][one.decision.seat].add(one)
        both = [(kind, (first.figures, second.figures)) for kind, (first, second) in found.items()]
        return ErrorsByKind(self.players, tuple(sorted(both, key=_by_frequency)))


class _Sums:
    """What a player has lost in positions of a kind."""

    def __init__(self) -> None:
        self.figures = PlayerStatistics()

    def add(self, one: AnalysedDecision) -> None:
        from fibsbot.analysis.decision_statistics import statistics_of  # noqa: PLC0415 - loads the engine's arrays

        self.figures += statistics_of(one)


def _by_frequency(kind: tuple[str, tuple[PlayerStatistics, PlayerStatistics]]) -> tuple[int, str]:
    name, figures = kind
    return -sum(one.decisions for one in figures), name


@frozen(repr=False, order=True)
class MatchError(JsonValue):
    """A decision that cost something. Errors are ordered by what they cost."""

    loss: float
    """The equity that it cost, above 0."""
    board: Board = field(order=False)
    """The board that the player decided on."""
    played: str = field(order=False)
    """The decision as people write it: a play, `double`, `take`, ..."""
    best: str = field(order=False)
    """The best decision."""
    player: str = field(order=False)
    """Who decided."""
    game: int = field(order=False)
    """Number of the game, from 1."""
    turn: int = field(order=False)
    """Number of the turn in the game, from 1."""

    @classmethod
    def of(cls, analysed: AnalysedDecision, players: tuple[str, str]) -> Self:
        """Return a decision of an analysis."""
        decision = analysed.decision
        return cls(
            analysed.loss,
            Board.of(decision.state),
            decision.text,
            analysed.best,
            players[decision.seat],
            decision.step.game,
            decision.step.turn,
        )

    def __str__(self) -> str:
        """Return who has lost how much by what."""
        return f"{self.player}: {self.played} instead of {self.best}, -{self.loss:.3f}"

    def __repr__(self) -> str:
        """Return the same, for a prompt."""
        return f"<MatchError {self}>"


@frozen(repr=False)
class MatchErrors(JsonValue, Printed, Sequence[MatchError]):
    """Decisions that cost something, the worst first."""

    errors: tuple[MatchError, ...]

    @overload
    def __getitem__(self, index: int) -> MatchError: ...
    @overload
    def __getitem__(self, index: slice) -> MatchErrors: ...
    def __getitem__(self, index: int | slice) -> MatchError | MatchErrors:
        """Return an error by its place from 0, or some of them."""
        return MatchErrors(self.errors[index]) if isinstance(index, slice) else self.errors[index]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.errors)

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        return ("player", " game", " turn", "dice", "played", "best", " loss")

    def rows(self) -> Sequence[Sequence[str]]:
        """Return a row for each error."""
        return [
            [
                short_name(one.player),
                str(one.game),
                str(one.turn),
                "".join(map(str, one.board.dice or ())),
                one.played,
                one.best,
                f"{one.loss:.3f}",
            ]
            for one in self.errors
        ]


@frozen(repr=False)
class ErrorsByKind(JsonValue, Printed, Mapping[str, tuple[PlayerStatistics, PlayerStatistics]]):
    """What both players have lost, by the kind of position, the most frequent first."""

    players: tuple[str, str]
    kinds: tuple[tuple[str, tuple[PlayerStatistics, PlayerStatistics]], ...]

    def __getitem__(self, kind: str) -> tuple[PlayerStatistics, PlayerStatistics]:
        """Return the figures of both players in one kind of position."""
        return dict(self.kinds)[kind]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the kinds."""
        return (kind for kind, _ in self.kinds)

    def __len__(self) -> int:
        """Return how many kinds there were."""
        return len(self.kinds)

    def columns(self) -> Sequence[str]:
        """Return the headings."""
        first, second = map(short_name, self.players)
        return ("kind", f" {first}: count", " lost", " PR", f" {second}: count", " lost", " PR")

    def rows(self) -> Sequence[Sequence[str]]:
        """Return a row for each kind."""
        return [[kind, *_cells(first), *_cells(second)] for kind, (first, second) in self.kinds]


def _cells(figures: PlayerStatistics) -> list[str]:
    return [str(figures.decisions), f"{figures.loss:.3f}", "" if figures.pr is None else f"{figures.pr:.2f}"]


def analyse(match: Match, evaluator: str = DEFAULT_EVALUATOR, *, luck: bool = True) -> AnalysedMatch:
    """Return the analysis of every decision of a match, and of the luck of every roll, which takes most of the time.

    Raises TranscriptError for an illegal match, AnalysisError if the evaluator fails.
    """
    if not isinstance(match, Match):
        raise TypeError(f"expected one Match, as read(...) yields them, got {match!r}")
    from fibsbot.analysis.match_analysis import analyse_match  # noqa: PLC0415 - a program may only read

    return AnalysedMatch(analyse_match(match.transcript, evaluator_of(evaluator), luck=luck))
