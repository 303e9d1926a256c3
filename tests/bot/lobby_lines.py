"""Lines of a server in the lobby."""

from __future__ import annotations

INVITED = ("ford wants to play a 5 point match with you.", "Type 'join ford' to accept.")
TIME = "Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )"
RESUME = ("ford wants to resume a saved match with you.", "Type 'join ford' to accept.")


def who(
    name: str,
    opponent: str = "-",
    *,
    ready: bool = True,
    away: bool = False,
    rating: float = 1623.45,
    experience: int = 2396,
    client: str = "client",
) -> str:
    """Return a `5` line."""
    return f"5 {name} {opponent} - {int(ready)} {int(away)} {rating:.2f} {experience} 0 1 h {client} -"


def saved(*names: str, length: int | str = 5, score: str = "1 -  3") -> tuple[str, ...]:
    """Return the list of saved matches."""
    header = "  opponent          matchlength   score (your points first)"
    return header, *(f" *{name:20}{length}              {score}" for name in names)


SAVED = saved("ford")
