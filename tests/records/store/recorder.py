"""Tells a store what happens to an account, as a bot does, and reads it again."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from attrs import define, field
from sqlalchemy import insert

from fibsbot.games.state_json import state_to_json
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.database import database_url, open_engine
from fibsbot.records.store.practice_cards import CardWriter, StoredCard, StoredReview
from fibsbot.records.store.schema import ACTIONS
from fibsbot.records.stored_rows import RatingPoint, StoredDecision, StoredGame, StoredMatch, StoredOpponent
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.state import GameState
from fibsbot.transcript import Transcript

NOON: Final = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)
XGID: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"


def add_action(url: str, *, number: int = 1, own: bool = True, text: str = "31: 8/5 6/5") -> None:
    """Have an action of the first game in a store, as earlier versions wrote it for games other than backgammon."""
    values = {"game_id": 1, "at": NOON, "sitting": 0, "number": number, "own": own, "text": text}
    engine = open_engine(database_url(url), writing=True)
    with engine.begin() as connection:
        connection.execute(insert(ACTIONS).values(values))
    engine.dispose()


def add_card(url: str, player: str) -> None:
    """Have an exercise that a player has answered once."""
    writer = CardWriter.open(url)
    writer.write(
        StoredCard(player, "0123", '{"made": "8/5 6/5"}', 0.25, 6.5, NOON, NOON + dt.timedelta(days=1)),
        StoredReview(NOON, 1, "13/9", 0.125, 4.5),
    )
    writer.close()


@contextlib.contextmanager
def writing(path: Path) -> Iterator[StoreWriter]:
    """Open a store to write to it; in the end everything has to be written."""
    writer = StoreWriter(path)
    yield writer
    assert writer.close()


@define
class Teller:
    """An account, and the store that is told about it."""

    url: str
    account: str = "marvin"
    now: dt.datetime = NOON
    """A second later with each record."""
    _writer: StoreWriter = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._writer = StoreWriter(self.url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        assert self._writer.close() or error

    @property
    def writer(self) -> StoreWriter:
        """The store's writer, for whoever wants to see more of it."""
        return self._writer

    def restart(self, *, after: float = 0.0) -> None:
        """Have another process go on, so many seconds later."""
        assert self._writer.close()
        self._writer = StoreWriter(self.url)
        self.now += dt.timedelta(seconds=after)

    def tell(self, name: str, /, **fields: Any) -> None:
        """Put a record."""
        self.now += dt.timedelta(seconds=1)
        self._writer.put(self.account, name, fields, self.now)

    def wait(self, seconds: float) -> None:
        """Let time go by."""
        self.now += dt.timedelta(seconds=seconds)

    # -- what bots tell -----------------------------------------------------------------------------------------

    def log_in(self, rating: float | None = None, experience: int = 0) -> None:
        """Log in, and learn our rating."""
        self.tell("logged_in", name=self.account)
        if rating is not None:
            self.rate(rating, experience)

    def rate(self, rating: float, experience: int) -> None:
        """Learn our rating."""
        self.tell("rating", rating=rating, experience=experience)

    def start(self, opponent: str = "ford", length: int = 5) -> None:
        """Begin a match and its first game."""
        self.tell("match_started", opponent=opponent, length=length, resumed=False)
        self.tell("game_started", opponent=opponent, game=1)

    def resume(self, opponent: str = "ford", length: int = 5, score: tuple[int, int] = (0, 0)) -> None:
        """Go on with a match."""
        self.tell("match_started", opponent=opponent, length=None, resumed=True)
        self.tell("match_resumed", opponent=opponent, length=length, score=list(score))

    def decide(self, turn: int = 1, answer: str = "8/5 6/5", **more: Any) -> None:
        """Make a decision."""
        known = {"phase": "move", "game": 1, "xgid": XGID, "dice": (3, 1), "offer": 0, "equity": 0.125, "seconds": 0.5}
        self.tell("decision", **{**known, "turn": turn, "answer": answer, "fallback": None, **more})

    def sheet(
        self,
        key: str = "s1",
        opponent: str = "ford",
        state: GameState | None = None,
        length: int = 5,
        score: tuple[int, int] = (0, 0),
    ) -> None:
        """Begin a sheet, with a new game if no other state is given."""
        state = state or start_match(FIBS, length, score)
        self.tell("sheet", sheet=key, opponent=opponent, score=list(score), site="test", state=state_to_json(state))

    def enter(self, kind: str, number: int, key: str = "s1", *, own: bool = True, **more: Any) -> None:
        """Make an entry."""
        self.tell("entry", sheet=key, number=number, kind=kind, own=own, **more)

    def win_game(self, points: int = 1, score: tuple[int, int] = (1, 0), opponent: str | None = None) -> None:
        """End a game; it is ours unless an opponent is named."""
        how = {"how": "game_won", "cube": 1}
        self.tell("game_ended", winner=opponent or "You", points=points, score=list(score), **how)

    def end(self, opponent: str = "ford", length: int = 5, *, won: bool = True, score: tuple[int, int]) -> None:
        """End a match."""
        self.tell("match_ended", opponent=opponent, length=length, won=won, score=list(score))

    def save(
        self, opponent: str = "ford", length: int = 5, why: str = "connection lost", how: str | None = None
    ) -> None:
        """Break a match off."""
        self.tell("match_saved", opponent=opponent, length=length, why=why, how=how)

    # -- what the store has then --------------------------------------------------------------------------------

    def matches(self) -> list[StoredMatch]:
        """Return all matches."""
        assert self._writer.flush(), self._writer.error
        with Store.open(self.url) as store:
            return list(store.matches(account=self.account))

    def match(self) -> StoredMatch:
        """Return the only match."""
        (match,) = self.matches()
        return match

    def games(self, match: StoredMatch | None = None) -> list[StoredGame]:
        """Return the games of a match."""
        with Store.open(self.url) as store:
            return list(store.games(match or self.match()))

    def decisions(self, match: StoredMatch | None = None) -> list[StoredDecision]:
        """Return the decisions of a match."""
        with Store.open(self.url) as store:
            return list(store.decisions(match or self.match()))

    def transcript(self, match: StoredMatch | None = None) -> Transcript:
        """Return a match as it is on paper."""
        match = match or self.match()
        with Store.open(self.url) as store:
            return store.transcript(match)

    def opponent(self, name: str = "ford") -> StoredOpponent:
        """Return what is known of a player."""
        assert self._writer.flush()
        with Store.open(self.url) as store:
            (opponent,) = store.opponents(account=self.account, name=name)
            return opponent

    def ratings(self) -> list[RatingPoint]:
        """Return how our rating went."""
        assert self._writer.flush()
        with Store.open(self.url) as store:
            return list(store.ratings(self.account))
