"""Results of the library as JSON, and back."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Self

from attrs import fields

from fibsbot.formats import FormatError
from fibsbot.library.board import Board

if TYPE_CHECKING:
    from cattrs import Converter

    from fibsbot.analysis.model import AnalysedDecision, MatchAnalysis
    from fibsbot.transcript import Decision


class JsonValue:
    """A value that can be written as JSON: an object with the names of its fields."""

    __slots__ = ()

    def to_json(self) -> str:
        """Return it as JSON, in one line."""
        return json.dumps(_converter_for(type(self)).unstructure(self), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the value that `to_json` has written. Raises ValueError, with one line of text."""
        from fibsbot.formats.transcript_values import structured  # noqa: PLC0415 - needs cattrs

        values = json.loads(text)
        if not isinstance(values, dict):
            raise FormatError(f"expected a JSON object, got {text[:40]!r}")
        return structured(_converter_for(cls), values, cls, cls.__name__)


_KNOWN: Final[dict[type[JsonValue], Converter]] = {}
"""Converters by the class that they know."""


def _converter_for(kind: type[JsonValue]) -> Converter:
    """Return the converter, which takes this class by its fields, though it may be a sequence or a mapping, too."""
    if kind in _KNOWN:
        return _KNOWN[kind]
    from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn  # noqa: PLC0415 - as above

    converter = _KNOWN[kind] = _converter()
    converter.register_unstructure_hook(kind, make_dict_unstructure_fn(kind, converter))
    converter.register_structure_hook(kind, make_dict_structure_fn(kind, converter, _cattrs_forbid_extra_keys=True))
    return converter


@cache
def _converter() -> Converter:
    """Return what turns results into values of JSON and back; it knows plays, states and transcripts."""
    from fibsbot.analysis.model import MatchAnalysis  # noqa: PLC0415 - a program may need no JSON
    from fibsbot.formats.transcript_values import make_converter  # noqa: PLC0415 - needs cattrs
    from fibsbot.games.state_json import state_from_json, state_to_json  # noqa: PLC0415 - as above

    converter = make_converter()
    converter.register_unstructure_hook(Board, lambda board: state_to_json(board.state))
    converter.register_structure_hook(Board, lambda values, _: Board.of(state_from_json(values)))
    converter.register_unstructure_hook(MatchAnalysis, lambda analysis: _write_analysis(converter, analysis))
    converter.register_structure_hook(MatchAnalysis, lambda values, _: _read_analysis(converter, values))
    return converter


# -- analyses: what was decided is not written again, as the match says it ---------------------------------------------


def _write_analysis(converter: Converter, analysis: MatchAnalysis) -> dict[str, Any]:
    games = [
        {
            "figures": converter.unstructure(game.figures),
            "decisions": [_write_decision(converter, decision) for decision in game.decisions],
        }
        for game in analysis.games
    ]
    return {
        "match": converter.unstructure(analysis.transcript),
        "evaluator": analysis.evaluator,
        "details": analysis.details,
        "figures": converter.unstructure(analysis.figures),
        "games": games,
    }


def _write_decision(converter: Converter, analysed: AnalysedDecision) -> dict[str, Any]:
    values = {field.name: getattr(analysed, field.name) for field in fields(type(analysed)) if field.eq}
    del values["decision"]
    return {name: converter.unstructure(value) for name, value in values.items() if value not in (None, "", ())}


def _read_analysis(converter: Converter, values: Any) -> MatchAnalysis:
    from fibsbot.analysis.model import GameAnalysis, MatchAnalysis, PlayerStatistics  # noqa: PLC0415 - as above
    from fibsbot.transcript import Transcript, decisions, walk  # noqa: PLC0415 - as above

    try:
        transcript = converter.structure(values["match"], Transcript)
        games = []
        for game, found in zip(transcript.games, values["games"], strict=True):
            decided = [decision for step in walk(game) for decision in decisions(step)]
            analysed = tuple(
                _read_decision(converter, one, decision)
                for one, decision in zip(found["decisions"], decided, strict=True)
            )
            figures = converter.structure(found["figures"], tuple[PlayerStatistics, PlayerStatistics])
            games.append(GameAnalysis(game.number, analysed, figures))
        figures = converter.structure(values["figures"], tuple[PlayerStatistics, PlayerStatistics])
    except (KeyError, TypeError) as error:
        raise FormatError(f"expected an analysis that to_json has written, got one without {error}") from None
    return MatchAnalysis(
        transcript,
        converter.structure(values["evaluator"], str),
        tuple(games),
        figures,
        converter.structure(values["details"], str),
    )


def _read_decision(converter: Converter, values: dict[str, Any], decision: Decision) -> AnalysedDecision:
    from attrs import resolve_types  # noqa: PLC0415 - as above

    from fibsbot.analysis.model import AnalysedDecision  # noqa: PLC0415 - as above

    kinds: dict[str, Any] = {field.name: field.type for field in fields(resolve_types(AnalysedDecision))}
    known = {name: converter.structure(value, kinds[name]) for name, value in values.items()}
    return AnalysedDecision(decision, **{"equity": None, **known})
