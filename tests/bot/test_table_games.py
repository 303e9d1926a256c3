"""The agent plays games other than backgammon: a script in place of the server plays whole games against it."""

from __future__ import annotations

import itertools
import random

import pytest

from fibs_protocol import commands as c
from fibs_protocol.grammar import parse, parse_command
from fibs_protocol.session import State
from fibs_protocol.words import Colour
from fibsbot.bot.decisions import open_key
from fibsbot.bot.match_tracker import apply_message
from fibsbot.bot.tracked_match import TrackedMatch, cannot_move, show_table
from fibsbot.fast_evolve import fast_evolve
from fibsbot.games import GAMES, load_ruleset
from fibsbot.match import MatchState, Phase
from fibsbot.policy import Policy
from fibsbot.position import Move, Play
from fibsbot.rules.game import name, play, roll, start_match_of
from fibsbot.rules.sides import HAND, OFF
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.questions import AcceptAnswer, LastResort, RollQuestion
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.table_lines import game_from_state, table_state
from tests.bot.agent_script import Script, board
from tests.games.random_games import advance
from tests.marks import is_long, some_slow

ANY = Policy(games=("any",))
PLAYER = RandomStrategy(1)
OFF_CELLS = ":".join(["0"] * 26)
INVITED = "ford wants to play a 1 point match of {} with you."


def line(game: GameState) -> str:
    """Return the line of a game as our agent gets it."""
    return table_state(game, Seat.A, "You", "ford", Colour.O).to_line()


def title(game: str) -> str:
    """Return a game's name as lines have it."""
    name_, *options = game.split(":")
    return name_.capitalize() + (f" ({', '.join(options)})" if options else "")


def to_match(game: str, policy: Policy = ANY) -> Script:
    """Return a script whose agent has accepted an invitation to a match of one point."""
    script = Script(policy=policy).to_lobby()
    script.server(INVITED.format(title(game)))
    assert [] == script.answer(AcceptAnswer(accepted=True))
    assert ["join ford"] == script.wait(1.5)
    script.server(f"** You are now playing a 1 point match of {title(game)} with ford")
    script.server("Starting a new game with ford.")
    return script


def decide(script: Script, *, last_resort: bool = False) -> list[str]:
    """Let a random player answer the open question."""
    question = script.questions[0].question
    return script.answer(question.put_to(LastResort() if last_resort else PLAYER))


def carry_out(game: GameState, text: str) -> GameState:
    """Return the game after our agent's command."""
    command = parse_command(text)
    match command:
        case c.Roll():
            return game  # the dice are the server's
        case c.Move(moves=moves):
            return play(game, Seat.A, Play(tuple(Move(it.source or HAND, it.target or OFF) for it in moves)))
        case c.EmptyMove():
            return play(game, Seat.A, Play())
        case c.Name(name=number):
            return name(game, Seat.A, int(number))
    raise AssertionError(f"expected a command of the game, got {text}")


def takes_long(game: str) -> bool:
    """Return whether a whole game takes long."""
    return is_long(game) or game in {"tabula", "around", "acey-deucey"}


@pytest.mark.parametrize("game", some_slow([*GAMES, "irish:binding", "gioul:may", "acey-deucey:navy"], takes_long))
def test_a_whole_game_is_played_with_legal_commands_only(game: str) -> None:
    script = to_match(game)
    rng = random.Random(game)
    state = start_match_of(load_ruleset(game), 1)
    while state.stage is not Stage.OVER:
        if state.decides is not Seat.A:
            state = advance(state, rng)
            continue
        sent = script.server(line(state))
        if script.questions:
            assert sent == []
            sent = decide(script, last_resort=state.turns % 2 == 0)
        assert len(sent) == 1
        if sent == ["roll"]:
            state = roll(state, Seat.A, tuple(rng.randint(1, 6) for _ in range(state.rules.dice)))
        else:
            state = carry_out(state, sent[0])
    assert script.agent.counters.differences == 0
    assert script.agent.counters.decisions > 0


@pytest.mark.parametrize("game", some_slow([*GAMES, "irish:binding", "gioul:may", "acey-deucey:navy"], takes_long))
def test_the_tracked_match_has_the_whole_game_of_each_line(game: str) -> None:
    rng, state = random.Random(game), start_match_of(load_ruleset(game), 3)
    track = TrackedMatch("marvin", opponent="ford")
    while state.stage is not Stage.OVER:
        shown = table_state(state, Seat.A, "You", "ford", Colour.O)
        track = show_table(track, shown)
        assert track.game_state is not None
        assert game_from_state(shown) == fast_evolve(track.game_state, throws=state.throws)
        assert track.decision_state(Phase.MOVE) == (MatchState.of(game_from_state(shown), Seat.A) or track.state)
        assert track == show_table(track, shown), "the same line again is no news"
        state = advance(state, rng)


def test_lines_of_two_games_in_one_match_are_no_error() -> None:
    began = start_match_of(load_ruleset("plakoto"), 1, begins=Seat.A)
    of_plakoto = [line(began), line(roll(began, Seat.A, (6, 5))), line(roll(began, Seat.A, (6, 5))).replace("O", "X")]
    others = [
        *(line(began).replace("plakoto", "tabula"), board(turn=-1, other_dice="6:1"), board(dice="6:4", length=1)),
        *(board(length=1, dice="6:5", may="1:0", cube=2), board(cells=OFF_CELLS, length=1)),
        *("You roll 6 and 4.", "ford moves 17-23 19-20 .", "ford doubles. Type 'accept' or 'reject'."),
        *("ford can't move.", "ford wants to resign. You will win 1 point. Type 'accept' or 'reject'."),
        *("You win the game and get 1 point. Congratulations!", "ford gives up. You win 1 point."),
        *("Starting a new game with ford.", "You rolled 1, ford rolled 6", "ford makes the first move."),
    ]
    for texts in itertools.product(of_plakoto, others, [*others, *of_plakoto]):
        track = TrackedMatch("marvin")
        for text in texts:
            track = apply_message(fast_evolve(track, own_play=Play.of((24, 18), (13, 9))), parse(text))
            for phase in Phase:
                assert track.state is None or track.decision_state(phase) is not None
            for state in State:
                open_key(track, state, 1, resignation_pending=True)
            assert (track.state is None) is (track.game_state is None)
            assert track.final_score is None or max(track.final_score) > 0
            cannot_move(track)


def test_games_are_asked_for_only_if_they_are_played() -> None:
    assert "set games on" in Script(policy=ANY).to_lobby().sent_so_far
    assert "set games on" not in Script().to_lobby().sent_so_far


def test_an_invitation_to_a_game_that_is_not_played_is_refused_with_a_sentence() -> None:
    script = Script(policy=Policy(games=("tabula", "fevga"))).to_lobby()
    assert ["tell ford I only play backgammon, tabula and fevga."] == script.server(INVITED.format("Plakoto"))
    assert [] == script.server(INVITED.format("Tabula"))


def test_a_match_of_another_game_than_the_agreed_one_is_left() -> None:
    script = Script(policy=ANY).to_lobby()
    script.server(INVITED.format("Plakoto"))
    script.answer(AcceptAnswer(accepted=True))
    script.wait(1.5)
    assert ["leave"] == script.server("** You are now playing a 1 point match of Tabula with ford")
    assert [{"opponent": "ford", "agreed": "plakoto", "game": "tabula"}] == script.events("game_swapped")


def test_a_line_that_its_game_does_not_allow_is_a_difference_and_decides_nothing() -> None:
    script = to_match("plakoto")
    script.agent._connection.context.settings = script.agent.settings
    wrong = line(start_match_of(load_ruleset("tabula"), 1, begins=Seat.A)).replace("tabula", "plakoto")
    with pytest.raises(Exception, match="course"):
        script.server(wrong)


def test_a_server_that_falls_silent_in_a_game_is_asked_for_the_board_and_then_left() -> None:
    script = to_match("plakoto")
    state = roll(start_match_of(load_ruleset("plakoto"), 1, begins=Seat.A), Seat.A, (6, 5))
    script.server(line(state))
    assert decide(script)[0].startswith("move ")
    assert "board" in script.wait(1000)
    assert script.hang_ups


def test_a_server_that_only_repeats_the_board_is_left_in_the_end() -> None:
    script = to_match("plakoto")
    state = roll(start_match_of(load_ruleset("plakoto"), 1, begins=Seat.B), Seat.B, (6, 5))
    sent = script.server(line(state))
    for _ in range(200):
        sent = script.server(line(state)) if "board" in sent else script.wait(30)
        if "leave" in sent or script.hang_ups:
            break
    assert "leave" in sent or script.hang_ups


def test_a_refused_play_is_followed_by_another_one() -> None:
    script = to_match("plakoto")
    state = roll(start_match_of(load_ruleset("plakoto"), 1, begins=Seat.A), Seat.A, (6, 5))
    script.server(line(state))
    first = script.answer(PlayAnswer(Play.of((24, 18), (24, 19))))
    assert first == ["move 24-18 24-19"]
    assert ["board"] == script.server("** You can't play that: something is wrong.")
    assert ["time"] == script.server(line(state))
    again = script.server("Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )")
    assert again[0].startswith("move ")
    assert again != first


def test_the_status_and_the_records_know_the_score_of_a_game() -> None:
    script = to_match("plakoto")
    state = start_match_of(load_ruleset("plakoto"), 5, scores=(2, 3), begins=Seat.B)
    script.server(line(state))
    assert script.agent.status.score == (2, 3)
    script.server("ford wins 1 point, having borne off all checkers.")
    assert "plakoto" == script.events("match_started")[0]["game"]
    assert ("ford", 1) == (script.events("game_ended")[0]["winner"], script.events("game_ended")[0]["points"])


@pytest.mark.parametrize(("scores", "crawford"), [((0, 2), True), ((1, 1), False)])
def test_no_double_is_asked_for_in_the_crawford_game(scores: tuple[int, int], *, crawford: bool) -> None:
    script = to_match("nackgammon")
    script.server(line(start_match_of(load_ruleset("nackgammon"), 3, scores, begins=Seat.A)))
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert (crawford, not crawford) == (question.state.crawford, question.may_double)


@pytest.mark.parametrize(
    ("game", "scores", "most"),
    [
        ("nackgammon", (0, 0), 3),
        ("nackgammon", (0, 4), 2),
        ("nackgammon", (0, 6), 0),
        ("portes", (0, 0), 2),
        ("fevga", (0, 5), 1),
    ],
)
def test_what_a_game_counts_may_be_resigned_but_not_the_match(game: str, scores: tuple[int, int], most: int) -> None:
    script = to_match(game)
    before = start_match_of(load_ruleset(game), 7, scores, begins=Seat.A)
    script.server(line(before))
    question = script.questions[0].question
    assert isinstance(question, RollQuestion)
    assert most == question.resign_to
