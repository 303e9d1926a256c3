"""MessageReader: glued lines are split, blocks are recognised by their first line, user text is never split."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.grammar import holds_free_text, parse, write
from fibs_protocol.grammar.blocks import BLOCKS
from fibs_protocol.lines import PROMPTS
from fibs_protocol.stream import MessageReader, ParsedMessage, split_glued
from fibs_protocol.words import Toggle
from tests.examples import examples, more_examples
from tests.protocol.message_examples import BY_CONTEXT, SPOKEN, boards, messages, said, texts
from tests.protocol.test_board import START
from tests.protocol.test_lines import cut, streams, taken

WHO = "5 anotherplayer - - 0 0 1439.79 1262 410 1041251697 somehost.com - -"


def read(*chunks: bytes) -> list[ParsedMessage]:
    reader = MessageReader()
    return taken(reader.receive_data, reader.next_message, chunks)


def kinds(text: str) -> list[str]:
    return [record.message.kind() for record in read(text.replace("\n", "\r\n").encode("ascii"))]


@examples(30)
@given(st.lists(messages, max_size=8), st.lists(st.integers(1, 40), min_size=1, max_size=10))
def test_written_messages_are_read_back_from_any_chunks(said_by_server: list[m.Message], sizes: list[int]) -> None:
    assume(not any(isinstance(message, _PROMPTS_AND_BLOCKS) for message in said_by_server))
    data = "".join(f"{write(message)}\r\n" for message in said_by_server).encode("ascii")
    chunks, place = [], 0
    for size in sizes * (len(data) // sum(sizes) + 1):
        chunks.append(data[place : place + size])
        place += size
    received = read(*chunks)
    assert said_by_server == [record.message for record in received]
    assert read(data) == received
    for record in received:
        assert data[record.offset :].startswith(record.text.encode("ascii"))


@more_examples(2.5)
@given(streams, st.lists(st.integers(0, 2000)))
def test_any_chunking_of_any_bytes_gives_the_same_messages(data: bytes, places: list[int]) -> None:
    assert read(data) == read(*cut(data, places))


_PROMPTS_AND_BLOCKS = (
    m.LoginPrompt,
    m.PasswordPrompt,
    m.CommandPrompt,
    m.NewPasswordPrompt,
    m.RetypePasswordPrompt,
    m.PasswordsDifferPrompt,
    m.MovesAction,
    *BY_CONTEXT.values(),
)


# -- glue -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts",
    [
        [START, WHO],
        [START, "12 bob hi"],
        ["someplayer accepts the double. The cube shows 2.", "13 anotherplayer Anybody for a 5 point match?"],
        ["You win the game and get 1 point. Congratulations!", "Score is 1-0 in a 3 point match."],
        ["a_b and c_d start a 3 point match.", "** You can't watch the match between a_b and c_d."],
        ["** You did already roll the dice.", "15 bob move"],
        ["** Use 'toggle ready' first", "12 bob ready?"],
        ["bob accepts the double. The cube shows 2.", START, WHO],
        ["bob can't move.", "bob rolls 3 and 1."],
    ],
)
def test_glued_lines_are_split(parts: list[str]) -> None:
    assert parts == split_glued("".join(parts))


@pytest.mark.parametrize(
    "glued", [WHO, START, "You roll 3 and 5.", "bob wants to play a 3 point match with you.", "** You're not playing."]
)
def test_the_echo_of_our_own_text_may_lack_its_line_end(glued: str) -> None:
    """BaldLies: `16 name text` without a line end."""
    assert ["16 bob I play 5 point matches.", glued] == split_glued(f"16 bob I play 5 point matches.{glued}")


@pytest.mark.parametrize(
    "text", ["16 bob at 17 o'clock", "16 bob ok6", "16 bob hm.12 bob You roll 3 and 5.", "16 a3 4"]
)
def test_the_echo_of_our_own_text_is_split_only_before_a_message(text: str) -> None:
    assert [text] == split_glued(text)


@more_examples(2.5)
@given(boards(), st.sampled_from([m.WhoInfo, m.Says, m.Shouts, m.Kibitzes, m.LoggedIn, m.LoggedOut]), st.data())
def test_a_message_glued_to_a_board_is_found(board: BoardState, kind: type[m.Message], data: st.DataObject) -> None:
    message = data.draw(st.sampled_from([wording for wording in SPOKEN if wording.cls is kind]).flatmap(said))
    state = attrs.evolve(board, redoubles=0)
    received = read((write(m.Board(state)) + write(message) + "\r\n").encode("ascii"))
    assert [m.Board(state), message] == [record.message for record in received]


@more_examples(2.5)
@given(st.sampled_from([m.Says, m.Kibitzes, m.Shouts]), messages, messages)
def test_user_text_is_never_split(kind: type[m.Says], first: m.Message, second: m.Message) -> None:
    line = write(kind("villain", f"hm.{write(first)}{write(second)}"))
    assert [line] == split_glued(line)


@more_examples(2.5)
@given(messages, messages, texts)
def test_a_line_is_never_split_after_user_text(first: m.Message, second: m.Message, text: str) -> None:
    """Only complete messages without free text precede a split, and the parts make up the whole line.

    The echo of our own text is an exception, see `split_glued`.
    """
    line = f"{write(first)}{text}{write(second)}"
    *before, last = split_glued(line)
    assert line == "".join([*before, last])
    before = [part for part in before if not isinstance(parse(part), m.YouSay)]
    assert not any(isinstance(parse(part), m.Unknown) or holds_free_text(parse(part)) for part in before)


def test_only_the_echo_of_our_own_text_is_split_after_free_text() -> None:
    glued = write(m.ToggleSet(Toggle.DOUBLE, value=False))
    echo = write(m.YouSay("0"))
    assert [echo, glued] == split_glued(f"{echo}{glued}")
    line = write(m.Says("bob", "0")) + glued
    assert [line] == split_glued(line)


def test_a_line_with_many_possible_splits_is_fast() -> None:
    line = "A" * 8000
    assert [line] == split_glued(line)


# -- blocks ---------------------------------------------------------------------------------------------------------


def test_the_message_of_the_day_is_text_even_if_it_looks_like_messages() -> None:
    received = kinds("3\nYou can't move.\n\n12 rules\n| framed |\n4\nYou can't move.\n")
    assert ["motd_start", *["motd_line"] * 4, "motd_end", "cannot_move"] == received


@pytest.mark.parametrize("line", [WHO, "6", START])
def test_the_message_of_the_day_ends_even_if_its_end_is_lost(line: str) -> None:
    received = kinds(f"3\nwelcome\n{line}\nbob can't move.\n")
    assert ["motd_start", "motd_line", parse(line).kind(), "cannot_move"] == received


def test_the_statistics_are_blocks() -> None:
    text = "*** running dice test:\n1-1  92359\n5 - -\nDone.\nDone.\n"
    assert ["dicetest_start", "dicetest_line", "dicetest_line", "dicetest_end", "dicetest_end"] == kinds(text)
    text = (
        "The server is running since Tue Dec 31 21:17:01 UTC.\n12 bytes sent.\n3 ratings saved. reset log 5 times.\nx\n"
    )
    assert ["stat_start", "stat_line", "stat_end", "unknown"] == kinds(text)


def test_lists_without_an_end_contain_only_unknown_lines() -> None:
    text = "The following users are away:\nbob: Back soon.\nYou: out\nbob can't move.\nbob: hi\n"
    assert ["away_list_start", "away_listed", "away_listed", "cannot_move", "unknown"] == kinds(text)
    text = "You are waiting for the following 2 players:\n  bob , carol\nWelcome back.\n"
    assert ["waiting_for_many", "waiting_for_names", "welcome_back"] == kinds(text)
    text = "Can't find timezone 'x'. Try one of:\nAfrica/Abidjan, Africa/Accra,\nUTC\nsome prose\n"
    assert ["bad_timezone", "timezones_listed", "timezones_listed", "unknown"] == kinds(text)


@pytest.mark.parametrize("kind", BY_CONTEXT, ids=lambda kind: kind.__name__)
@more_examples(2.5)
@given(data=st.data())
def test_messages_recognised_by_context_are_read_back(kind: type[m.Message], data: st.DataObject) -> None:
    opener = data.draw(
        st.sampled_from([wording for wording in SPOKEN if wording.cls is BY_CONTEXT[kind]]).flatmap(said)
    )
    block = BLOCKS[type(opener)]
    wording = block.row if block.row.cls is kind else block.end
    assert wording is not None
    message = data.draw(said(wording))
    if block.end is not None and isinstance(message, m.MotdLine | m.DicetestLine | m.StatLine):
        assume(not isinstance(parse(message.text), m.WhoEnd) and block.end.read(message.text.lstrip()) is None)
    if isinstance(message, m.MotdLine | m.DicetestLine | m.StatLine | m.ProseLine):
        assume(not message.text.encode("ascii").startswith(PROMPTS))
    assume(not isinstance(message, m.AwayListed | m.ProseLine) or isinstance(parse(write(message)), m.Unknown))
    assume(not isinstance(message, m.ProseLine) or (message.text and message.text == message.text.lstrip()))
    received = read(f"{write(opener)}\r\n{write(message)}\r\n".encode("ascii"))
    assert [opener, message] == [record.message for record in received]


BANNER = (
    b"Welcome!\n   ____\nhave  a  look\n"
    b"Friday, July 03 18:04:27 MEST   ( Fri Jul  3 16:04:27 2020 UTC )\nguests: guest\nlogin: "
)


def test_only_a_connection_begins_with_a_banner() -> None:
    """A banner must not add to the count of unknown lines, which serves as an alarm."""

    def of(*, banner: bool) -> list[str]:
        reader = MessageReader(banner=banner)
        reader.receive_data(BANNER + b"x\n")
        return [record.message.kind() for record in iter(reader.next_message, None)]

    prompt_and_rest = ["login_prompt", "unknown"]
    assert [*["prose_line"] * 3, "server_time", "prose_line", *prompt_and_rest] == of(banner=True)
    assert [*["unknown"] * 3, "server_time", "unknown", *prompt_and_rest] == of(banner=False)


@pytest.mark.parametrize("first", ["Welcome to JIBS.You just logged in as guest.", "Thanks for using this server!"])
def test_the_guest_and_farewell_texts_end_at_the_next_message(first: str) -> None:
    text = f"{first}\nPlease register:\n  ONE NAME!\nYour name will be bob\nsomething\n"
    assert ["prose_line", "prose_line", "name_chosen", "unknown"] == kinds(text)[1:]


def test_prompts_are_messages() -> None:
    data = b"\xff\xfb\x01Please give your password: \xff\xfc\x01\r\nYou are registered.\r\n> "
    assert ["new_password_prompt", "registered", "command_prompt"] == [r.message.kind() for r in read(data)]


def test_a_refused_board_has_a_reason() -> None:
    (record,) = read(START.replace(":-2:", ":-3:", 1).encode("ascii") + b"\r\n")
    assert isinstance(record.message, m.RefusedBoard)
    assert "15 checkers" in record.message.reason
