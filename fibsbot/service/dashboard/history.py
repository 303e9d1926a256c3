"""What the store knows of an account, as the dashboard shows it: ratings as a curve, the last matches."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final

from fibsbot.drawing.axes import Scale, seconds
from fibsbot.drawing.plot import Series, curve_svg
from fibsbot.drawing.themes import Theme
from fibsbot.records.store import Store
from fibsbot.records.stored_rows import BACKGAMMON, CHOUETTE, StoredMatch

MATCHES_SHOWN: Final = 12
"""Last matches of an account that are listed."""
RATED_FOR: Final = dt.timedelta(days=365)
"""How far back the curve of the ratings goes."""
MATCHES_SINCE: Final = dt.timedelta(days=30)
"""How far back matches are looked for."""


def history(store: str, account: str, now: dt.datetime) -> dict[str, Any]:
    """Return the history of an account in JSON types. Raises StoreError."""
    with Store.open(store) as reader:
        ratings = list(reader.ratings(account, since=now - RATED_FOR))
        matches = list(reader.matches(account=account, since=now - MATCHES_SINCE))
    curve = Series(account, [(seconds(point.at), point.rating) for point in ratings])
    last = ratings[-1] if ratings else None
    finished = [match for match in matches if match.finished]
    return {
        "rating": None if last is None else round(last.rating, 2),
        "experience": None if last is None else last.experience,
        "curve": curve_svg([curve], title="", x=Scale.TIME, theme=Theme.PAGE, width=560, height=190) if ratings else "",
        "won": sum(match.won is True for match in finished),
        "finished": len(finished),
        "days": MATCHES_SINCE.days,
        "matches": [_match_row(match) for match in _last(matches)],
    }


def _last(matches: Iterable[StoredMatch]) -> list[StoredMatch]:
    """Return the matches that were played last, the last one first."""
    return sorted(matches, key=lambda match: match.ended or match.seen, reverse=True)[:MATCHES_SHOWN]


def _match_row(match: StoredMatch) -> Mapping[str, Any]:
    return {
        "id": match.id,
        "at": (match.ended or match.seen).astimezone(dt.UTC).isoformat(timespec="seconds"),
        "opponent": match.opponent,
        "rated": None if match.opponent_rating is None else round(match.opponent_rating),
        "game": match.game or BACKGAMMON,
        "length": match.length,
        "score": match.score,
        "won": match.won,
        "outcome": match.outcome.value,
        "gain": None if match.gain is None else round(match.gain, 2),
        "report": match.game != CHOUETTE and match.finished,
    }
