"""GNU Backgammon's Position ID and Match ID, and eXtreme Gammon's XGID."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation import NotationError, Xgid, format_gnubg_id, parse_gnubg_id, parse_state
from fibsbot.notation.position_ids import MatchKey, parse_position_id, position_id
from fibsbot.position import Position
from tests.hypothesis_strategies import Edit, edited, edits, match_states, positions

VECTORS: Final = Path(__file__).parent.parent / "data" / "rules" / "id_vectors.tsv"
ROWS: Final = [row.split("\t") for row in VECTORS.read_text().splitlines() if not row.startswith("#")]
BAD_BOARD: Final = "expected a possible board in field 1 of the XGID, not {}, got '{}'"
OPENING: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"


@pytest.mark.parametrize(("xgid", "position", "match"), ROWS)
def test_gnu_backgammon_gives_the_same_ids(xgid: str, position: str, match: str) -> None:
    """49 positions, read by GNU Backgammon 1.07 from the XGID."""
    read = Xgid.parse(xgid)
    player = 1 if read.side == 1 else 0
    assert f"{position}:{match}" == format_gnubg_id(read.state(), player)
    assert read.state() == parse_gnubg_id(f"{position}:{match}")
    assert xgid == str(Xgid.of(read.state(), read.side))
    assert match == str(MatchKey.parse(match))


def test_there_are_49_recorded_positions() -> None:
    assert 49 == len(ROWS)


def test_the_opening_position_has_its_well_known_id() -> None:
    assert "4HPwATDgc/ABMA" == position_id(Position.start())


@given(positions(over=True))
def test_a_position_survives_its_id(position: Position) -> None:
    assert position == parse_position_id(position_id(position))


def test_the_player_on_roll_comes_second_in_a_position_id() -> None:
    """One checker of the player on roll on the own ace point: 25 zeros for the opponent, then a one."""
    position = Position.from_sides(own=[1, *[0] * 24], opponent=[0] * 25)
    assert "AAAAAgAAAAAAAA" == position_id(position)


@given(match_states(), st.sampled_from((0, 1)))
def test_a_state_survives_its_gnubg_id(state: MatchState, player: int) -> None:
    """All except the instant redoubles, which the ID does not contain."""
    assert evolve(state, redoubles=0) == parse_gnubg_id(format_gnubg_id(state, player))


@given(match_states(resignations=False), st.sampled_from((1, -1)))
def test_a_state_survives_its_xgid(state: MatchState, side: int) -> None:
    text = str(Xgid.of(state, side))
    assert state == Xgid.parse(text).state()
    assert text == str(Xgid.parse(text))
    assert side == Xgid.parse(text).side
    assert state == parse_state(text.removeprefix("XGID="))


@pytest.mark.parametrize(
    ("match", "phase", "cube", "owner"),
    [
        ("cAmgACAACAAE", Phase.ROLL, 1, Owner.CENTRED),
        ("cBGgACAACAAE", Phase.DOUBLED, 1, Owner.CENTRED),
        ("QRkAAAAAAAAA", Phase.DOUBLED, 2, Owner.OPPONENT),
        ("QhEAAAAAAAAA", Phase.DOUBLED, 4, Owner.PLAYER),
        ("cFmgACAACAAE", Phase.RESIGNED, 1, Owner.CENTRED),
    ],
)
def test_doubles_beavers_and_resignations_are_read_as_gnu_backgammon_writes_them(
    match: str, phase: Phase, cube: int, owner: Owner
) -> None:
    """IDs that GNU Backgammon 1.07 showed after `double`, `redouble` twice, and `resign gammon`."""
    state = parse_gnubg_id(f"4HNwAAT2GRwQBg:{match}")
    assert (phase, cube, owner) == (state.phase, state.cube, state.owner)


def test_the_position_id_is_the_doublers_while_a_double_waits() -> None:
    before = parse_gnubg_id("4HNwAAT2GRwQBg:cAmgACAACAAE")
    after = parse_gnubg_id("4HNwAAT2GRwQBg:cBGgACAACAAE")
    assert before.position == after.position.swapped()
    assert before.score == after.score[::-1]


@pytest.mark.parametrize("prefix", ["", "XGID=", "xgid=", " XGID="])
def test_an_xgid_may_have_its_prefix_in_any_case(prefix: str) -> None:
    fields = "-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
    assert f"XGID={fields}" == str(Xgid.parse(prefix + fields))


def test_in_an_xgid_the_doubler_is_still_on_turn() -> None:
    """GNU Backgammon steps back to the doubler's turn when it reads D."""
    doubled = Xgid.parse("XGID=-a---BE-B---cC---c-eA---B-:0:0:1:D:1:2:0:5:10")
    assert (-1, Phase.DOUBLED, (2, 1)) == (doubled.side, doubled.state().phase, doubled.state().score)
    assert doubled.board.swapped() == doubled.state().position


def test_the_rules_field_means_crawford_in_a_match_and_jacoby_and_beavers_for_money() -> None:
    crawford = Xgid.parse("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:2:1:5:10").state()
    assert (True, False, False) == (crawford.crawford, crawford.post_crawford, crawford.jacoby)
    after = Xgid.parse("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:2:0:5:10").state()
    assert (False, True) == (after.crawford, after.post_crawford)
    money = [Xgid.parse(f"XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:{rules}:0:10").state() for rules in range(4)]
    assert [(False, 0), (True, 0), (False, 1), (True, 1)] == [(state.jacoby, state.redoubles) for state in money]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("XGID=", "expected an XGID of 10 fields between colons, got 'XGID='"),
        (OPENING[:-3], f"expected an XGID of 10 fields between colons, got {OPENING[:-3]!r}"),
        (
            OPENING.replace("-b----", "-b---"),
            "expected 26 letters from A to O, a to o or - in field 1 of the XGID, got '-b---E-C---eE---c-e----B-'",
        ),
        (
            OPENING.replace("-b----E", "Ab----D"),
            BAD_BOARD.format("a capital first or a small letter last (the bars)", "Ab----D-C---eE---c-e----B-"),
        ),
        (
            OPENING.replace("-b----E", "-b---AE"),
            BAD_BOARD.format("more than 15 checkers of X", "-b---AE-C---eE---c-e----B-"),
        ),
        (
            OPENING.replace(":00:", ":07:"),
            "expected dice 00, two digits from 1 to 6, D, B or R in field 5 of the XGID, got '07'",
        ),
        (
            OPENING.replace(":00:0:0:0:0:10", ":R:0:0:0:0:2"),
            "expected no double beyond the maximum cube, 2^2, in field 5 of the XGID, got 'R'",
        ),
        (
            OPENING.replace(":0:0:0:0:10", ":0:0:1:5:10"),
            (
                "expected 0 in field 8 of the XGID, as this cannot be the Crawford game: it is one where one player, "
                "not both, needs a single point, and they need 5 and 5, got 1"
            ),
        ),
        (
            OPENING.replace(":0:0:0:0:10", ":4:4:1:5:10"),
            (
                "expected 0 in field 8 of the XGID, as this cannot be the Crawford game: it is one where one player, "
                "not both, needs a single point, and they need 1 and 1, got 1"
            ),
        ),
        (OPENING.replace(":1:00", ":0:00"), "expected turn 1 or -1 in field 4 of the XGID, got 0"),
        (OPENING.replace(":0:0:1:", ":0:2:1:"), "expected owner from -1 to 1 in field 3 of the XGID, got '2'"),
        (OPENING.replace(":0:0:1:", ":x:0:1:"), "expected cube from 0 to 20 in field 2 of the XGID, got 'x'"),
        (
            OPENING.replace(":0:0:0:0:10", ":5:0:0:5:10"),
            "expected scores below the match length 5 in fields 6 and 7 of the XGID, got (5, 0)",
        ),
        ("4HPwATDgc/ABM:cAmgACAACAAE", "expected a Position ID of 14 characters, got '4HPwATDgc/ABM'"),
        ("4HPwATDgc/AB-A:cAmgACAACAAE", "expected a Position ID of letters, digits, + and /, got '4HPwATDgc/AB-A'"),
        ("4HPwATDgc/ABMB:cAmgACAACAAE", "expected a Position ID without stray bits at its end, got '4HPwATDgc/ABMB'"),
        ("//////////////:cAmgACAACAAE", "expected a Position ID without stray bits at its end, got '//////////////'"),
        ("4HPwATDgc/ABMA:cAmg", "expected a Match ID of 12 characters, got 'cAmg'"),
        ("4HPwATDgc/ABMA:AAAAAAAAAAAA", "expected a Match ID of a game that is being played (1), got 0"),
    ],
)
def test_the_error_in_an_id_is_named_in_one_line(text: str, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_state(text)
    assert message == str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"owner": 2}, "expected cube owner 0, 1 or 3 in the Match ID, got 2"),
        ({"die1": 7, "die2": 3}, "expected two dice, each 1 to 6, in the Match ID, got (7, 3)"),
        ({"die1": 2}, "expected two dice, each 1 to 6, in the Match ID, got (2, 0)"),
        ({"score1": 5}, "expected scores below the match length 5 in the Match ID, got (5, 0)"),
        ({"game": 2}, "expected a Match ID of a game that is being played (1), got 2"),
    ],
)
def test_a_match_id_with_impossible_numbers_is_refused(change: dict[str, int], message: str) -> None:
    key = evolve(MatchKey.parse("cAmgAAAAAAAE"), **change)
    with pytest.raises(NotationError) as caught:
        parse_gnubg_id(f"4HPwATDgc/ABMA:{key}")
    assert message == str(caught.value)


def as_written(state: MatchState) -> MatchState:
    """Return what a GNU Backgammon ID keeps of a state: no instant redoubles, the higher die first."""
    dice = (max(state.dice), min(state.dice)) if state.dice else None
    return evolve(state, redoubles=0, dice=dice)


ALPHABET: Final = "XGID=-abcdeABCDE:0123456789+/ \n"


@given(st.text(ALPHABET, max_size=60))
def test_any_text_is_an_id_or_an_error_of_one_line(text: str) -> None:
    message = ""
    try:
        parse_state(text)
    except NotationError as error:
        message = str(error)
    assert "\n" not in message


@given(match_states(resignations=False), st.sampled_from((format_gnubg_id, Xgid.of)), edits(ALPHABET))
def test_an_id_with_a_typing_error_is_another_id_or_an_error_of_one_line(
    state: MatchState, write: Callable[[MatchState], object], changes: list[Edit]
) -> None:
    """A changed ID that is read describes a possible state: it can be written, and is read as the same state again."""
    text = str(write(state))
    assert not parse_state(text).position.status()
    message = ""
    try:
        read = parse_state(edited(text, changes))
    except NotationError as error:
        message = str(error)
    else:
        assert not read.position.status()
        known = evolve(read, redoubles=0, jacoby=False, redoubled=None, cubeless=False)
        assert known == evolve(parse_gnubg_id(format_gnubg_id(read)), jacoby=False), text
    assert "\n" not in message


@given(match_states(), st.integers(0, 8), st.integers(0, 255))
def test_a_match_id_with_any_byte_changed_is_another_id_or_an_error(state: MatchState, place: int, byte: int) -> None:
    position, match = format_gnubg_id(state).split(":")
    bits = bytearray(base64.b64decode(match))
    assert 9 == len(bits)
    bits[place] = byte
    try:
        read = parse_gnubg_id(f"{position}:{base64.b64encode(bits).decode()}")
    except NotationError:
        return
    assert as_written(read) == parse_gnubg_id(format_gnubg_id(read))


@given(st.binary(min_size=10, max_size=10), st.binary(min_size=9, max_size=9))
def test_any_bits_are_an_id_or_an_error(position: bytes, match: bytes) -> None:
    text = ":".join(base64.b64encode(bits).decode().rstrip("=") for bits in (position, match))
    with contextlib.suppress(NotationError):
        parse_gnubg_id(text)


def test_an_xgid_cannot_hold_a_resignation_or_a_cube_of_3() -> None:
    with pytest.raises(NotationError, match="got 'resigned'"):
        Xgid.of(MatchState(Position.start(), phase=Phase.RESIGNED, resignation=1))
    for write in (Xgid.of, format_gnubg_id):
        with pytest.raises(NotationError, match="expected a cube that is a power of two"):
            write(MatchState(Position.start(), cube=3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dice": (7, 1)}, "expected two dice, each 1 to 6, got (7, 1)"),
        ({"dice": (9, 9)}, "expected two dice, each 1 to 6, got (9, 9)"),
        ({"dice": (3, 1, 1)}, "expected two dice, each 1 to 6, got (3, 1, 1)"),
        ({"length": -1}, "expected length and scores from 0 to 32767, got (-1, 0, 0)"),
        ({"length": 5, "score": (0, -1)}, "expected length and scores from 0 to 32767, got (5, 0, -1)"),
        ({"length": 5, "score": (5, 0)}, "expected scores below the match length 5, got (5, 0)"),
        ({"board": Position.from_sides([16, *[0] * 24], [1, *[0] * 24])}, "got one with TOO_MANY_CHECKERS: (0, 16,"),
        ({"board": Position([0] * 20)}, "expected a possible position, got one with WRONG_LENGTH: (0, 0,"),
    ],
)
def test_what_does_not_exist_is_written_as_no_id(changes: dict[str, Any], message: str) -> None:
    state = evolve(MatchState(Position.start(), phase=Phase.MOVE), **changes)
    for write in (Xgid.of, format_gnubg_id):
        with pytest.raises(NotationError, match=re.escape(message)):
            write(state)


def test_a_number_that_its_bits_cannot_hold_does_not_become_others_in_a_match_id() -> None:
    with pytest.raises(NotationError, match="expected resigned from 0 to 3 in a Match ID, got 5"):
        format_gnubg_id(MatchState(Position.start(), phase=Phase.RESIGNED, resignation=5))
    with pytest.raises(NotationError, match="expected the player who decides as 0 or 1, got 5"):
        format_gnubg_id(MatchState(Position.start()), player=5)
    with pytest.raises(NotationError, match="expected the player who decides as 1 or -1, got 0"):
        Xgid.of(MatchState(Position.start()), side=0)


def test_a_match_id_holds_matches_of_up_to_32_767_points() -> None:
    longest = MatchState(Position.start(), length=32_767)
    assert longest == parse_gnubg_id(format_gnubg_id(longest))
    with pytest.raises(NotationError, match=r"expected length and scores from 0 to 32767, got \(32768, 0, 0\)"):
        format_gnubg_id(MatchState(Position.start(), length=32_768))


@pytest.mark.parametrize(
    ("field", "least", "most"),
    [(1, 0, 20), (2, -1, 1), (5, 0, 32_767), (6, 0, 32_767), (7, 0, 3), (8, 0, 32_767), (9, 0, 20)],
)
def test_a_number_in_an_xgid_has_a_least_and_a_greatest_value(field: int, least: int, most: int) -> None:
    fields = OPENING.split(":")
    for number in (least, most):
        fields[field] = str(number)
        assert ":".join(fields) == str(Xgid.parse(":".join(fields)))
    for number in (least - 1, most + 1):
        fields[field] = str(number)
        with pytest.raises(NotationError, match=f"from {least} to {most} in field {field + 1} of the XGID"):
            Xgid.parse(":".join(fields))


def test_a_beaver_and_a_raccoon_wait_for_the_answer_of_the_player_who_has_not_made_them() -> None:
    """O has doubled: X may beaver (D), O answers the beaver (B), X the raccoon (R)."""
    board = "XGID=-b----E-C---eE---c-e---AA-:0:0:-1:"
    double, beaver, raccoon = (Xgid.parse(f"{board}{it}:0:0:2:0:10") for it in "DBR")
    assert [1, -1, 1] == [it.side for it in (double, beaver, raccoon)]
    states = [it.state() for it in (double, beaver, raccoon)]
    assert [1, 2, 4] == [it.cube for it in states]
    assert [None, True, False] == [it.redoubled for it in states]
    assert [1, 1, 0] == [it.redoubles for it in states]
    assert states[0].position == states[1].position.swapped() == states[2].position
    assert str(beaver) == str(Xgid.of(states[1], -1))
    assert all(it.phase is Phase.DOUBLED for it in states)


def test_a_cube_at_its_largest_value_cannot_be_turned() -> None:
    text = "XGID=-b----E-C---eE---c-e----B-:2:1:1:00:0:0:0:7:2"
    state = parse_state(text)
    assert not state.may_double
    assert text == str(Xgid.of(state))
    assert not state.cubeless
    assert parse_state(text.removesuffix("2") + "3").may_double
    assert 0 == parse_state("XGID=-b----E-C---eE---c-e----B-:0:0:-1:D:0:0:2:0:1").redoubles


@given(match_states(), st.integers(1, 9))
def test_the_largest_cube_of_an_xgid_is_kept(state: MatchState, logarithm: int) -> None:
    """10 is what XG writes where nobody has set a limit, and 0 a match without a cube."""
    limited = evolve(state, cube_limit=1 << logarithm, resignation=0, redoubles=0, redoubled=None, cubeless=False)
    if limited.phase is Phase.RESIGNED or (limited.phase is Phase.DOUBLED and 2 * limited.cube > 1 << logarithm):
        limited = evolve(limited, phase=Phase.ROLL)
    text = str(Xgid.of(limited))
    assert text.endswith(f":{logarithm}")
    read = parse_state(text)
    assert limited.cube_limit == read.cube_limit
    assert text == str(Xgid.of(read))
    assert (2 * read.cube <= 1 << logarithm) or not read.may_double


def test_the_usual_largest_cube_is_no_limit() -> None:
    assert parse_state(OPENING).cube_limit is None
    assert OPENING == str(Xgid.of(parse_state(OPENING)))
    assert parse_state(OPENING.removesuffix("10") + "0").cubeless
    high = OPENING.replace(":0:0:1:00:", ":10:1:1:00:")
    assert not parse_state(high).may_double
    assert high == str(Xgid.of(parse_state(high)))


def test_a_beaver_needs_room_below_the_largest_cube() -> None:
    """The double of 1 is to 2, the beaver to 4."""
    allowed = [parse_state(OPENING.replace(":0:0:10", f":2:0:{most}")).redoubles for most in (1, 2, 3, 10)]
    assert [0, 1, 1, 1] == allowed
