"""Transcripts from rows that are not as they should be: lost, or changed by somebody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import update

from fibsbot.games.state_json import state_to_json
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.records.store import Store, StoreError
from fibsbot.records.store.database import database_url, open_engine
from fibsbot.records.store.schema import ENTRIES, SHEETS
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Cube, Gap, RejectedRoll, Resign, Throw, apply, walk
from tests.records.store.recorder import Teller

OPENING = start_match(FIBS, 5)
FIRST = Throw(seat=Seat.A, dice=(3, 1), play=Play.of((8, 5), (6, 5)))


def change(url: str, *statements: Any) -> None:
    """Change rows as nobody should."""
    with open_engine(database_url(url), writing=True).begin() as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_match_with_results_only_has_no_transcript(url: str) -> None:
    with Teller(url) as bot:
        bot.start()
        bot.win_game(5, (5, 0))
        bot.end(score=(5, 0))
        with pytest.raises(StoreError) as caught:
            bot.transcript()
    assert "nothing is stored of match 1 of marvin against ford except how its games ended" == str(caught.value)


def test_a_match_is_found_by_its_id(url: str) -> None:
    with Teller(url) as bot:
        bot.start()
        bot.sheet()
        match = bot.match()
    with Store.open(url) as store:
        assert match == store.match(match.id)
        assert (OPENING, ()) == (store.transcript(match).games[0].start, store.transcript(match).games[0].entries)


# -- entries that are lost or changed -----------------------------------------------------------------------------


def began(bot: Teller) -> GameState:
    """Begin a game with two turns; return where it stands."""
    bot.start()
    bot.sheet("s")
    bot.enter("throw", 1, "s", dice=(3, 1), play="8/5 6/5")
    bot.enter("throw", 2, "s", own=False, dice=(6, 4), play="24/18 18/14")
    return apply(apply(OPENING, FIRST), Throw(seat=Seat.B, dice=(6, 4), play=Play.of((24, 18), (18, 14))))


def test_a_first_roll_that_was_rejected_is_kept(url: str) -> None:
    start = evolve(OPENING, laws=evolve(OPENING.laws, reject_first_throw=True))
    with Teller(url) as bot:
        bot.start()
        bot.sheet("s", state=start)
        bot.enter("reject", 1, "s", dice=(3, 1))
        bot.enter("throw", 2, "s", dice=(6, 4), play="24/18 18/14")
        (game,) = bot.transcript().games
    assert [RejectedRoll, Throw] == [type(entry) for entry in game.entries]
    assert 2 == list(walk(game))[-1].after.cube


def test_an_illegal_entry_ends_the_readable_part_of_a_sheet(url: str) -> None:
    with Teller(url) as bot:
        began(bot)
        bot.enter("throw", 3, "s", dice=(2, 1), play="24/18")
        bot.enter("throw", 4, "s", own=False, dice=(6, 5), play="24/13")
        bot.win_game(2, (2, 0))
        (game,) = bot.transcript().games
    assert 3 == len(list(walk(game)))
    assert isinstance(game.entries[-1], Gap)
    assert "the end of the game was not seen" == game.entries[-1].reason
    assert (Seat.A, 2, Level.GAMMON) == (
        (game.result.winner, game.result.points, game.result.level) if game.result else None
    )
    assert not game.whole


@pytest.mark.parametrize(
    "values",
    [{"dice": None}, {"dice": "77"}, {"play": "nonsense"}, {"kind": "gap", "state": "{}"}, {"kind": "resign"}],
)
def test_unreadable_rows_are_left_out(tmp_path: Path, values: dict[str, Any]) -> None:
    url = str(tmp_path / "store.sqlite")
    with Teller(url) as bot:
        began(bot)
        bot.matches()
        change(url, update(ENTRIES).where(ENTRIES.c.number == 2).values(values))
        (game,) = bot.transcript().games
        assert [FIRST] == [evolve(entry, at=None) for entry in game.entries]
        change(url, update(SHEETS).values(state='{"laws": 1}'))
        assert () == bot.transcript().games


def test_an_unseen_pass_is_inferred_from_the_end(url: str) -> None:
    with Teller(url) as bot:
        began(bot)
        bot.enter("double", 3, "s", own=True)
        bot.tell("game_ended", winner="You", points=1, how="gave_up", cube=1, score=[1, 0])
        (game,) = bot.transcript().games
    last = game.entries[-1]
    assert isinstance(last, Cube)
    assert (Seat.B, CubeAction.PASS, True) == (last.seat, last.action, last.rebuilt)
    assert game.whole


def test_an_offer_to_resign_is_stored_with_its_answer(url: str) -> None:
    with Teller(url) as bot:
        began(bot)
        bot.enter("resign", 3, "s", own=False, level=2, accepted=False)
        bot.enter("resign", 4, "s", own=False, level=3, accepted=True)
        (game,) = bot.transcript().games
    offers = [(it.seat, it.level, it.accepted) for it in game.entries if isinstance(it, Resign)]
    assert [(Seat.B, Level.GAMMON, False), (Seat.B, Level.BACKGAMMON, True)] == offers
    assert (Seat.A, 3) == ((game.result.winner, game.result.points) if game.result else None)


def test_hostile_records_are_dropped_one_by_one(url: str) -> None:
    with Teller(url) as bot:
        began(bot)
        bot.tell("sheet", sheet="t", opponent="ford", score=[0, 0], state={"laws": {"name": "x" * 10_000}})
        bot.tell("sheet", sheet="t", opponent="arthur", score=[0, 0], state=state_to_json(OPENING))
        bot.tell("sheet", sheet="t", opponent="ford", score="none", state=state_to_json(OPENING))
        bot.enter("throw", 3, "nowhere", dice=(2, 1), play="13/11 6/5")
        bot.enter("somersault", 3, "s")
        bot.enter("throw", 3, "s", dice=(9, 1), play="13/11 6/5")
        bot.enter("throw", 3, "s", dice=(2, 1), play="\0")
        bot.enter("gap", 3, "s", reason="x" * 1000, state={})
        bot.enter("resign", 3, "s", level=4, accepted=True)
        bot.enter("gap", 3, "s", reason="x\0" * 1000, state=state_to_json(OPENING))
        (game,) = bot.transcript().games
        assert 9 == bot.writer.lost
    gap = game.entries[-1]
    assert 400 == len(gap.reason if isinstance(gap, Gap) else "")
