"""The table's model: whole matches by random inputs, and inputs that may not be made."""

from __future__ import annotations

from random import Random

import pytest

from fibsbot.formats.transcript_json import iter_json, write_json
from fibsbot.games import GAMES, load_ruleset
from fibsbot.rules.errors import PlayError, RollFirstError
from fibsbot.rules.state import Stage
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import ask_strategy
from fibsbot.table.bot_match import PERSON, BotMatch
from fibsbot.table.model import Action, SheetEntry
from fibsbot.table.set_up import read_position
from fibsbot.transcript import walk
from tests.marks import SAMPLE, all_but, is_no_sample, some_thorough


def new_table(game: str, length: int = 1, seed: int = 1) -> BotMatch:
    rules = load_ruleset(game)
    return BotMatch(rules, rules.laws, length, ("you", "bot"), Random(seed))


def press(table: BotMatch, random: Random) -> None:
    """Do something that may be done, or something else, which changes nothing."""
    before = table.state
    if table.question is not None:
        table.answer(ask_strategy(load("pips"), table.question))
    possible = [action for action in table.actions if action is not Action.UNDO or random.random() < 0.2]
    action = random.choice([*possible, *Action])
    numbers = [random.randint(-1, 27) for _ in range(random.randrange(3))]
    if action not in table.actions:
        before = table.shown
        assert not table.act(action, numbers)
        assert table.shown == before
    elif action is Action.MOVE and random.random() < 0.9:
        move = random.choice(table.moves).move
        assert table.act(action, (move.source, move.target))
    elif action is Action.NAME and random.random() < 0.9:
        assert table.act(action, (random.choice(table.names_offered),))
    elif action is not Action.RESIGN or random.random() < 0.02:
        table.act(action, numbers if random.random() < 0.3 else ())


@pytest.mark.parametrize("game", some_thorough(["backgammon", *sorted(GAMES)], all_but(*SAMPLE, "gioul", "tabula")))
def test_a_match_of_random_inputs_ends_and_its_transcript_is_legal(game: str) -> None:
    table, random = new_table(game, 1 if is_no_sample(game) else 2), Random(5)
    for _ in range(30_000):
        if table.match_over:
            break
        press(table, random)
    assert table.match_over
    games = table.transcript.games
    assert [list(walk(one))[-1].after.stage for one in games] == [Stage.OVER] * len(games)
    assert games[-1].scores == table.state.scores
    assert [read.games for read in iter_json(write_json(table.transcript))] == [games]


def test_moves_are_free_to_undo_until_done() -> None:
    table = new_table("backgammon", seed=3)
    while table.state.stage is not Stage.MOVE or table.state.decides is not PERSON:
        if table.question is not None:
            table.answer(ask_strategy(load("pips"), table.question))
        table.act(Action.ROLL)
    before = table.shown
    while table.moves:
        assert table.act(Action.MOVE, (table.moves[0].move.source,))
    assert table.shown != before
    while table.act(Action.UNDO):
        assert Action.DONE in table.actions or table.moves
    assert table.shown == before
    assert not table.act(Action.DONE)


def test_the_left_die_plays_first_and_the_dice_can_be_swapped() -> None:
    table = next(made for seed in range(50) if len((made := new_table("backgammon", seed=seed)).moves) > 1)
    dice = table.shown.dice
    first = table.moves[0].number
    assert dice is not None
    assert first == dice[0]
    assert table.act(Action.SWAP)
    assert table.moves[0].number == dice[1] != first
    assert table.shown.dice == dice[::-1]


def test_a_whole_play_can_be_typed_and_undone() -> None:
    tables = (new_table("backgammon", seed=seed) for seed in range(200))
    table = next(made for made in tables if made.play and made.shown.dice == (3, 1))
    before = table.shown
    with pytest.raises(PlayError, match="6/1"):
        table.type_play("6/1")
    with pytest.raises(PlayError, match="expected moves such as"):
        table.type_play("over there")
    assert table.shown == before
    table.type_play("8/5, 6/5")
    assert table.actions[0] is Action.DONE
    assert table.act(Action.UNDO)
    assert table.act(Action.UNDO)
    assert table.shown == before
    table.type_play("8/5 6/5")
    assert table.act(Action.DONE)
    assert table.sheet == [SheetEntry(PERSON, "8/5 6/5", "3-1")]
    assert table.last == "you 3-1: 8/5 6/5"
    with pytest.raises(RollFirstError):
        table.type_play("8/5 6/5")


def test_a_double_is_noted_as_two_dice_and_the_end_in_words() -> None:
    rules = load_ruleset("backgammon")
    start = read_position("XGID=-B----------------------b-:0:0:1:66:0:0:0:1:10", rules, rules.laws)
    match = BotMatch(rules, rules.laws, 1, ("ann", "bot"), Random(1), start)
    while match.moves:
        match.act(Action.MOVE, [match.moves[0].move.source])
    assert match.act(Action.DONE)
    assert [(entry.dice, entry.text) for entry in match.sheet] == [("6-6", "1/off(2)")]
    assert match.sentence == "The match is over: ann won 1 point; the score is 1-0."
