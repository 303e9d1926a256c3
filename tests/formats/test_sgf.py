"""Matches as SGF: what GNU Backgammon writes and reads, what the specification says, and whatever else people have."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.formats import FormatError, decode_text
from fibsbot.formats.sgf import iter_sgf, write_sgf
from fibsbot.formats.sgf_trees import escape_value, parse_trees
from fibsbot.match import CubeAction
from fibsbot.position import Play, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Player, Resign, Throw, Transcript, walk
from tests.formats.gnubg import ask_gnubg, requires_gnubg
from tests.formats.one_match import read_sgf
from tests.formats.simulated_matches import simulate

START: Final = start_match(FIBS, 3)
THROW: Final = Throw(seat=Seat.A, dice=(4, 1), play=Play.of((24, 23), (13, 9)))
REPLY: Final = Throw(seat=Seat.B, dice=(6, 5), play=Play.of((24, 18), (18, 13)))
DOUBLE: Final = Cube(seat=Seat.A, action=CubeAction.DOUBLE)
TAKE: Final = Cube(seat=Seat.B, action=CubeAction.TAKE)
ROOT: Final = "(;FF[4]GM[6]MI[length:3][game:0][ws:0][bs:0]PW[alice]PB[bob]RU[Crawford]"
EXAMPLE: Final = f"""{ROOT}RE[B+2]DT[2026-11-20]PC[FIBS]
;W[41xwmi]
;B[65aggl]
;W[double]
;B[take]
;W[33hehefcfc]
;B[62agln]
;W[64xrrn]
;B[double]
;W[drop])
"""
"""From the description of the format; the result is that of the drop."""


def match_of(*entries: Entry, **more: Any) -> Transcript:
    """Return a match of one game between Alice and Bob."""
    game = Game(1, START, entries)
    return evolve(Transcript((Player("alice"), Player("bob")), 3, games=(game,)), **more)


def nodes(match: Transcript) -> list[str]:
    """Return what is written behind the first node."""
    return write_sgf(match).removesuffix(")\n").split("\n;")[1:]


def entries_of(text: str) -> tuple[Entry, ...]:
    """Return what is read in the first game."""
    return read_sgf(text).games[0].entries


def test_the_well_known_example_is_read() -> None:
    match = read_sgf(EXAMPLE)
    assert ("alice", "bob") == tuple(player.name for player in match.players)
    assert ("FIBS", dt.datetime(2026, 11, 20, tzinfo=dt.UTC)) == (match.site, match.started)
    (game,) = match.games
    assert (THROW, REPLY, DOUBLE, TAKE) == game.entries[:4]
    assert Result(Seat.B, 2, Level.SINGLE, Ending.DROPPED) == game.result
    assert (0, 2) == match.scores


def test_letters_are_the_same_for_both_players() -> None:
    assert ["W[41xwmi]", "B[65aggl]", "W[double]", "B[take]"] == nodes(match_of(THROW, REPLY, DOUBLE, TAKE))


def test_bar_and_off_have_letters_and_a_dance_has_none() -> None:
    match = simulate(18, 5)
    moves = "".join(node for node in nodes(match) if node[2:3].isdigit())
    assert "y" in moves
    assert "z" in moves
    dances = [step for game in match.games for step in walk(game) if getattr(step.entry, "play", None) == Play()]
    assert dances
    assert len(dances) == sum(len(node.strip()) == 5 for node in nodes(match) if node[2:3].isdigit())


def test_the_first_game_has_the_number_0() -> None:
    assert "MI[length:3][game:0][ws:0][bs:0]" in write_sgf(match_of())


def test_a_resignation_is_in_the_result_and_a_refused_one_in_a_comment() -> None:
    refused = Resign(seat=Seat.A, level=Level.BACKGAMMON, accepted=False)
    accepted = Resign(seat=Seat.B, level=Level.GAMMON, accepted=True)
    match = match_of(THROW, refused, REPLY, accepted)
    text = write_sgf(match)
    assert "RE[W+2R]" in text
    assert "C[White wants to resign a backgammon: refused]" == nodes(match)[1]
    assert match.games[0].entries == entries_of(text)
    assert Result(Seat.A, 2, Level.GAMMON, Ending.RESIGNED) == read_sgf(text).games[0].result


def test_the_crawford_game_is_marked() -> None:
    text = write_sgf(simulate(18, 5))
    assert 1 == text.count("RU[Crawford:CrawfordGame]")
    assert [game.start for game in simulate(18, 5).games] == [game.start for game in read_sgf(text).games]


@pytest.mark.parametrize(("length", "crawford"), [(1, False), (2, True)])
def test_a_crawford_game_needs_a_match_of_two_points(length: int, *, crawford: bool) -> None:
    root = ROOT.replace("length:3", f"length:{length}").replace("ws:0", f"ws:{length - 1}")
    (game,) = read_sgf(f"{root.replace('RU[Crawford]', 'RU[Crawford:CrawfordGame]')})").games
    assert crawford is game.start.crawford


def test_a_roll_that_was_not_played_is_dice_on_the_board() -> None:
    thrown = Throw(seat=Seat.B, dice=(6, 6))
    accepted = Resign(seat=Seat.B, level=Level.SINGLE, accepted=True)
    assert "PL[B]DI[66]" == nodes(match_of(THROW, thrown, accepted))[-1]
    assert (THROW, thrown, accepted) == entries_of(write_sgf(match_of(THROW, thrown, accepted)))


def test_beavers_are_doubles_that_answer_doubles() -> None:
    laws = evolve(FIBS, redoubles=1)
    game = Game(1, start_match(laws, 0), (THROW, REPLY, DOUBLE, Cube(seat=Seat.B, action=CubeAction.BEAVER)))
    match = Transcript((Player("a"), Player("b")), 0, (game,))
    assert ["W[double]", "B[double]"] == nodes(match)[-2:]
    assert (game,) == read_sgf(write_sgf(match)).games


def test_a_game_seen_from_its_middle_and_a_gap_are_boards_that_are_set_up() -> None:
    seen = evolve(START, stage=Stage.ROLL, turn=Seat.B, turns=6, cube=2, owner=Seat.A)
    later = evolve(seen, turn=Seat.A, turns=9, cube=4, owner=Seat.B)
    gap = Gap(reason="2 turns are missing", then=later)
    match = evolve(match_of(), games=(Game(2, seen, (gap, THROW)),))
    board, missing, _ = nodes(match)
    assert board.startswith("PL[B]MN[7]AE[a:y]AW[f][f][f][f][f][h]")
    assert board.endswith("CV[2]CP[w]")
    assert missing.endswith("CV[4]CP[b]C[gap: 2 turns are missing]")
    assert match.games == read_sgf(write_sgf(match)).games


@pytest.mark.parametrize("turn", Seat)
def test_a_board_that_is_set_up_is_that_of_the_player_on_turn(turn: Seat) -> None:
    seen = evolve(START, stage=Stage.ROLL, turn=turn, turns=6, board=Position.start().play(THROW.play or Play()))
    match = evolve(match_of(), games=(Game(1, seen, (evolve(THROW, seat=turn),)),))
    assert match.games == read_sgf(write_sgf(match)).games


@pytest.mark.parametrize("turns", [0, 6])
def test_dice_on_a_board_that_is_set_up_belong_to_it(turns: int) -> None:
    seen = evolve(START, stage=Stage.MOVE, turn=Seat.A, turns=turns, dice=(4, 1))
    for entry in (THROW, evolve(THROW, play=None)):
        match = evolve(match_of(), games=(Game(1, seen, (entry,)),))
        assert match.games == read_sgf(write_sgf(match)).games


def test_a_board_with_a_pending_double_is_set_up_before_the_double() -> None:
    doubled = evolve(START, stage=Stage.DOUBLED, turn=Seat.A, turns=6, offered=2, answering=Seat.B)
    match = evolve(match_of(), games=(Game(1, doubled, (TAKE,)),))
    (game,) = read_sgf(write_sgf(match)).games
    assert (DOUBLE, TAKE) == game.entries
    assert (Stage.ROLL, 1) == (game.start.stage, game.start.cube)


def test_the_first_player_to_act_takes_precedence_over_pl() -> None:
    """GNU Backgammon writes PL[W] whoever is on turn."""
    checkers = "AE[a:y]AW[m][m]AB[l][l]"
    (game,) = read_sgf(f"{ROOT}\n;PL[W]{checkers}\n;CV[2]\n;CP[b]\n;B[21lnno])").games
    assert (Seat.B, 2, Seat.B) == (game.start.turn, game.start.cube, game.start.owner)
    own = [0] * 25
    own[12] = 2
    assert Position.from_sides(own, own) == game.start.position
    assert not game.whole


def test_automatic_doubles_are_the_cube_of_the_first_node() -> None:
    game = Game(1, evolve(start_match(FIBS, 0), cube=4), (THROW,))
    text = write_sgf(Transcript((Player("a"), Player("b")), 0, (game,)))
    assert "CV[4]" in text
    assert (game,) == read_sgf(text).games


def test_other_laws_are_named_in_a_comment_beside_that_of_others() -> None:
    start = start_match(evolve(FIBS, triple=False), 3)
    for words in ("", "A fine game. Well played."):
        games = (Game(1, start, (THROW, REPLY)),)
        match = match_of(games=games, tags={"Comment": words} if words else {})
        text = write_sgf(match)
        assert f"GC[{f'Laws: fibs no-triple. {words}'.strip()}]" in text
        assert (match.tags, start.laws) == (read_sgf(text).tags, read_sgf(text).games[0].start.laws)
        assert text == write_sgf(read_sgf(text))
    assert {"Comment": "Laws: those of our club."} == read_sgf(f"{ROOT}GC[Laws: those of our club.];W[41xwmi])").tags


def test_rebuilt_entries_are_marked() -> None:
    match = match_of(THROW, evolve(REPLY, rebuilt=True))
    assert "B[65aggl]C[rebuilt]" == nodes(match)[1]
    assert match.games == read_sgf(write_sgf(match)).games


def test_ratings_site_day_user_and_number_of_the_match_are_kept() -> None:
    match = match_of(
        players=(Player("alice", 1712.5, 100), Player("bob", 1500.0)),
        user=Seat.B,
        site="fibs.com",
        started=dt.datetime(2026, 11, 20, tzinfo=dt.UTC),
        tags={"Event": "Club evening", "Round": "2"},
    )
    read = read_sgf(write_sgf(match))
    assert match.match_id == read.match_id
    assert evolve(match, given_id=match.match_id) == read


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_escaping(text: str) -> None:
    (tree,) = parse_trees(f"(;GM[6]C[{escape_value(text)}])")
    assert [text] == tree[0].properties["C"]


def test_only_the_main_line_counts() -> None:
    text = f"{ROOT}(;W[41xwmi](;B[65aggl](;W[double])(;W[51xwmh]))(;B[65]))(;W[31hefe]))"
    assert (THROW, REPLY, DOUBLE) == entries_of(text)
    assert 1 == len(list(parse_trees(text)))


def test_lower_case_letters_blanks_and_unknown_properties_are_accepted() -> None:
    text = (
        "Sent by mail:\r\n( ;\r\nGaMe[6] MI [length:3]\r\n [ game:0 ] PlayerWhite [ali\\\r\nce]"
        "PB[b\\]o\\\\b]XX[1][2];Comment[(;W[never\\])] W [ 41 xw mi ] BM[1] LU[0.3])"
    )
    match = read_sgf(text)
    assert ("alice", "b]o\\b") == tuple(player.name for player in match.players)
    assert (THROW,) == match.games[0].entries


def test_joined_moves_are_taken_apart() -> None:
    assert (THROW, REPLY) == entries_of(f"{ROOT};W[41xwmi];B[65al])")


def test_a_text_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    assert (THROW, REPLY) == entries_of(f"{ROOT};W[41xwmi];B[65aggl];W[dou")


@pytest.mark.parametrize(
    ("charset", "name"),
    [
        ("KOI8-R", "Иван"),
        ("windows-1251", "Иван"),
        ("Shift_JIS", "太郎"),
        *((charset, "Zoë") for charset in ("ISO-8859-1", "UTF-8", "ascii", "rot13", "UTF-16", "unicode_escape")),
    ],
)
def test_names_are_in_the_encoding_that_the_file_names(charset: str, name: str) -> None:
    text = EXAMPLE.replace("GM[6]", f"GM[6]CA[{charset}]").replace("alice", name)
    data = text.encode("cp1252" if name == "Zoë" else charset)  # what is no encoding of such a file is passed over
    (match,) = iter_sgf(decode_text(data))
    assert name == match.players[0].name


def test_the_encoding_may_stand_behind_other_properties_in_any_letters() -> None:
    text = EXAMPLE.replace("GM[6]", "GM[6]GN[a (1); \\] b]ca[koi8-r]").replace("alice", "Иван")
    assert "Иван" in decode_text(text.encode("koi8-r"))


def test_an_encoding_that_takes_minutes_is_passed_over() -> None:
    data = b"\xff(;CA[punycode]C[" + b"a" * 300_000 + b"]-" + b"aaaa9" * 60_000
    assert decode_text(data).startswith("ÿ(;CA[punycode]")


def test_other_games_are_skipped() -> None:
    assert ["alice"] == [match.players[0].name for match in iter_sgf(f"(;GM[1];B[aa]){EXAMPLE}(;FF[4])")]


def test_games_of_several_matches_are_separated() -> None:
    other = EXAMPLE.replace("alice", "carol")
    found = list(iter_sgf(EXAMPLE + EXAMPLE.replace("game:0", "game:1") + EXAMPLE + other))
    assert [2, 1, 1] == [len(match.games) for match in found]


def test_a_name_that_is_spelt_differently_is_noted() -> None:
    second = ROOT.replace("game:0][ws:0][bs:0", "game:1][ws:1][bs:0").replace("alice", "ALICE (USA)")
    (match,) = iter_sgf(f"{ROOT}RE[W+1];W[41xwmi])\n{second};W[41xwmi])")
    assert [(0, 0), (1, 0)] == [game.start.scores for game in match.games]
    assert ("line 2: ALICE (USA) and bob are taken for alice and bob",) == match.remarks
    assert [1, 1] == [
        len(it.games) for it in iter_sgf(f"{ROOT};W[41xwmi])\n{second.replace('ALICE', 'carol')};W[41xwmi])")
    ]


def test_games_without_numbers_are_of_another_match_where_the_score_falls() -> None:
    first, second = (ROOT.replace("[game:0][ws:0]", f"[ws:{points}]") + ";W[41xwmi])" for points in (0, 1))
    assert [2, 2] == [len(match.games) for match in iter_sgf(first + second + first + second)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected SGF, which begins with `(;`, got ''"),
        ("(;GM[1])", "expected a game of backgammon in SGF, GM[6], got 'GM[1]'"),
        (f"{ROOT}\n;W[41xwmj])", "line 2: game 1, turn 1: 13/10: a checker moves by a number that was rolled, each"),
        (f"{ROOT};W[71xwmi])", "line 1: expected a move such as 31hefe, double, take or drop, got '71xwmi'"),
        (f"{ROOT};AE[a:y]AW[a]AB[a])", "line 1: expected a board of 15 checkers a side, each point held by one of th"),
        (f"{ROOT};AE[a:z])", "line 1: expected AE with points from a to y, got 'a:z'"),
        (f"{ROOT};CV[0])", "line 1: expected CV with a number from 1 to 1048576, got '0'"),
        (
            "(;GM[6]MI[length:3][ws:3])",
            "line 1: expected scores from 0 to below the length of the match, got (3, 0)",
        ),
        ("(;GM[6]RU[Hypergammon1])", "line 1: expected backgammon, got Hypergammon1"),
        (f"{ROOT}\n;W[41]?)", "line 2: expected a node, a property or a value of SGF, got '?)'"),
    ],
)
def test_errors_are_one_line(text: str, told: str) -> None:
    with pytest.raises(FormatError) as error:
        read_sgf(text)
    assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        ("W[31hefe]", "line 2: it is the opponent's turn"),
        ("B[take]", "line 2: nobody has doubled"),
        ("B[accept]", "line 2: expected an offer to resign before its answer, got 'accept'"),
        ("B[65aggm]", "line 2: 18/12: a checker moves by a number that was rolled, each number once"),
    ],
)
def test_an_unreadable_node_costs_its_game_and_not_the_match(moves: str, reason: str) -> None:
    broken = f"{ROOT}RE[B+2];W[41xwmi]\n;{moves};W[double])"
    first, second = read_sgf(f"{broken}{EXAMPLE.replace('game:0', 'game:1')}").games
    gap = first.entries[-1]
    assert isinstance(gap, Gap)
    assert reason == gap.reason
    assert THROW == first.entries[0]
    assert first.result == gap.then.result == Result(Seat.B, 2, Level.GAMMON, Ending.BORNE_OFF)
    assert read_sgf(EXAMPLE).games[0].entries == second.entries


# -- GNU Backgammon ---------------------------------------------------------------------------------------------------


@requires_gnubg
@pytest.mark.slow
def test_a_file_rewritten_by_gnubg_reads_as_the_same_match() -> None:
    texts = [write_sgf(simulate(seed)) for seed in range(60)]
    for text, found in zip(texts, ask_gnubg("sgf", texts, exports=["sgf"]), strict=True):
        assert "error" not in found.output
        ours, theirs = read_sgf(text), read_sgf(found.exports["sgf"])
        assert [without_refusals(game) for game in ours.games] == list(theirs.games)
        assert (ours.players, ours.length, ours.site) == (theirs.players, theirs.length, theirs.site)


def without_refusals(game: Game) -> Game:
    """Return a game without the refused resignations, which are no concern of GNU Backgammon."""
    kept = [entry for entry in game.entries if not (isinstance(entry, Resign) and not entry.accepted)]
    return evolve(game, entries=tuple(kept))


@requires_gnubg
@pytest.mark.slow
def test_gnubg_takes_boards_that_are_set_up() -> None:
    matches = [simulate(seed, gaps=True, finished=False) for seed in range(40)]
    for match, found in zip(matches, ask_gnubg("sgf", [write_sgf(match) for match in matches]), strict=True):
        assert "error" not in found.output
        assert len(match.games) == len(found.match["games"])
        for game, seen in zip(match.games, found.match["games"], strict=True):
            throws = [entry for entry in game.entries if isinstance(entry, Throw) and entry.play is not None]
            moves = [action for action in seen["game"] if action["action"] == "move"]
            assert [entry.dice for entry in throws] == [tuple(action["dice"]) for action in moves]
            boards = sum(isinstance(entry, Gap) for entry in game.entries) + (game.start.stage is not Stage.OPENING)
            assert boards == sum("board" in action for action in seen["game"])
