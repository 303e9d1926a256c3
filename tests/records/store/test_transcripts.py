"""Transcripts from rows that are not as they should be: of old stores, with entries lost, changed by somebody."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import delete, update

from fibsbot.match import CubeAction
from fibsbot.notation import Xgid, format_play
from fibsbot.position import Play
from fibsbot.records.store import Store, StoreError
from fibsbot.records.store.database import locate, open_engine
from fibsbot.records.store.migrations import upgrade
from fibsbot.records.store.schema import ENTRIES, SHEETS
from fibsbot.records.store.states import write_state
from fibsbot.rules.game import decision, start_match, throw_opening
from fibsbot.rules.laws import FIBS
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Cube, Entry, Gap, Resign, Throw, apply, walk
from tests.records.store.telling import Teller
from tests.records.store.test_live_transcripts import play_with_breaks, remembered
from tests.records.store.test_migrations import make_version
from tests.transcript.papers import assert_nothing_wrong, from_other_seat

OPENING = start_match(FIBS, 5)
FIRST = Throw(seat=Seat.A, dice=(3, 1), play=Play.of((8, 5), (6, 5)))


def change(url: str, *statements: Any) -> None:
    """Change rows as nobody should."""
    with open_engine(locate(url), writing=True).begin() as connection:
        for statement in statements:
            connection.execute(statement)


def own_plays(entries: Iterable[Entry]) -> int:
    """Count our plays that are no dances."""
    ours = [entry for entry in entries if isinstance(entry, Throw) and entry.seat is Seat.A]
    return sum(bool(entry.play and entry.play.moves) for entry in ours)


@pytest.mark.slow
async def test_our_own_decisions_alone_tell_nothing_wrong(tmp_path: Path) -> None:
    """A store of version 2 had nothing else."""
    url, rebuilt, gaps, told, made = str(tmp_path / "store.sqlite"), 0, 0, 0, 0
    await play_with_breaks(url, [20, 7, 13], length=7)
    (played,) = remembered(url, "ford")
    change(url, delete(ENTRIES), delete(SHEETS))
    for name in ("ford", "marvin"):
        (papers,) = remembered(url, name)
        for game, paper in zip(played.games, papers.games, strict=True):
            truth = game if name == "ford" else from_other_seat(game)
            assert_nothing_wrong(truth, paper)
            entries = [step.entry for step in walk(paper)]
            rebuilt += sum(entry.rebuilt for entry in entries)
            gaps += sum(isinstance(entry, Gap) for entry in entries)
            told += own_plays(entries)
            made += own_plays(truth.entries)
    assert told > 0.8 * made
    assert rebuilt > gaps / 2


def test_an_old_store_that_is_upgraded_in_mid_game_has_both_parts(url: str) -> None:
    make_version(2, url)
    upgrade(url)
    before = apply(start_match(FIBS, 5, (2, 0)), FIRST)
    reply = Throw(seat=Seat.B, dice=(6, 4), play=Play.of((24, 18), (18, 14)))
    now = apply(before, reply)
    with Teller(url) as bot:
        bot.log_in()
        bot.resume(score=(2, 0))
        bot.sheet("s", state=now, score=(2, 0))
        bot.enter("throw", 1, "s", dice=(2, 1), play="13/11 6/5")
        games = bot.transcript().games
    assert (2, True) == (games[0].result and games[0].result.points, isinstance(games[0].entries[0], Gap))
    assert [FIRST, reply] == [evolve(it, at=None, rebuilt=False) for it in games[1].entries[:2]]
    assert [False, True, False] == [it.rebuilt for it in games[1].entries]


def test_where_nothing_but_results_is_stored_it_is_said(url: str) -> None:
    with Teller(url) as bot:
        bot.start()
        bot.win_game(5, (5, 0))
        bot.end(score=(5, 0))
        with pytest.raises(StoreError) as caught:
            bot.transcript()
    assert "of match 1 of marvin against ford nothing is stored but how its games ended" == str(caught.value)


def test_a_match_is_found_by_its_number(url: str) -> None:
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


def test_lost_entries_are_made_up_for_by_decisions(url: str) -> None:
    with Teller(url) as bot:
        state = began(bot)
        thrown = evolve(throw_opening(OPENING, 2, 1), position=state.position, turns=2)
        mine = decision(thrown, Seat.A)
        assert mine is not None
        play = Play.of((13, 11), (6, 5))
        bot.enter("throw", 4, "s", own=False, dice=(2, 2), play="13/11 13/11 6/4 6/4")
        shown = format_play(play, mine.position)
        bot.decide(5, shown, dice=(2, 1), xgid=str(Xgid.of(mine)), equity=-0.5)
        (game,) = bot.transcript().games
    *_, first = game.entries
    assert (Seat.A, (2, 1), play, -0.5) == (
        (first.seat, first.dice, first.play, first.equity) if isinstance(first, Throw) else None
    )
    assert 3 == len(list(walk(game)))


def test_what_nobody_can_have_played_ends_what_is_believed(url: str) -> None:
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
def test_rows_that_say_nothing_are_left_out(tmp_path: Path, values: dict[str, Any]) -> None:
    url = str(tmp_path / "store.sqlite")
    with Teller(url) as bot:
        began(bot)
        bot.matches()
        change(url, update(ENTRIES).where(ENTRIES.c.number == 2).values(values))
        (game,) = bot.transcript().games
        assert [FIRST] == [evolve(entry, at=None) for entry in game.entries]
        change(url, update(SHEETS).values(state='{"laws": 1}'))
        bot.decide(1)
        assert 1 == len(bot.transcript().games)


def test_a_pass_that_was_not_seen_follows_from_the_end(url: str) -> None:
    with Teller(url) as bot:
        began(bot)
        bot.enter("double", 3, "s", own=True)
        bot.tell("game_ended", winner="You", points=1, how="gave_up", cube=1, score=[1, 0])
        (game,) = bot.transcript().games
    last = game.entries[-1]
    assert isinstance(last, Cube)
    assert (Seat.B, CubeAction.PASS, True) == (last.seat, last.action, last.rebuilt)
    assert game.whole


def test_an_offer_to_resign_stands_with_its_answer(url: str) -> None:
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
        bot.tell("sheet", sheet="t", opponent="arthur", score=[0, 0], state=write_state(OPENING))
        bot.tell("sheet", sheet="t", opponent="ford", score="none", state=write_state(OPENING))
        bot.enter("throw", 3, "nowhere", dice=(2, 1), play="13/11 6/5")
        bot.enter("somersault", 3, "s")
        bot.enter("throw", 3, "s", dice=(9, 1), play="13/11 6/5")
        bot.enter("throw", 3, "s", dice=(2, 1), play="\0")
        bot.enter("gap", 3, "s", reason="x" * 1000, state={})
        bot.enter("resign", 3, "s", level=4, accepted=True)
        bot.enter("gap", 3, "s", reason="x\0" * 1000, state=write_state(OPENING))
        (game,) = bot.transcript().games
        assert 9 == bot.writer.lost
    gap = game.entries[-1]
    assert 400 == len(gap.reason if isinstance(gap, Gap) else "")
