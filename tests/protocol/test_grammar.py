"""The table parses what it writes, selects by the right words, and never raises for a line of a peer."""

from __future__ import annotations

import copy
import pickle
import re
from itertools import combinations
from typing import Any, Final

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import LocalProtocolError
from fibs_protocol.grammar import parse, write
from fibs_protocol.grammar.messages import WORDINGS
from fibs_protocol.grammar.templates import Wording
from fibs_protocol.lines import LineSplitter
from fibs_protocol.words import UNLIMITED, YOU, Setting
from tests.examples import examples, more_examples
from tests.protocol.message_examples import (
    BY_CONTEXT,
    GROUPS,
    KINDS,
    PRINTABLE,
    SPOKEN,
    all_kinds,
    messages,
    said,
    texts,
)

frequent: Final = st.sampled_from([m.Rolls, m.Moves, m.Board, m.TableBoard, m.WhoInfo]).flatmap(
    lambda kind: said(next(wording for wording in SPOKEN if wording.cls is kind))
)


def _written(message: m.Message) -> bool:
    """Whether a message is one that a server writes."""
    if isinstance(message, m.MovesAction):  # its text is any action except a roll
        return not message.text.strip().startswith("(")
    return not isinstance(message, m.MatchLaws) or "(" not in message.words  # the words that name laws have none


@pytest.mark.parametrize("wordings", GROUPS, ids=lambda group: group[0].cls.__name__)
@examples(6)
@given(st.data())
def test_written_messages_are_read_back(wordings: list[Wording[m.Message]], data: st.DataObject) -> None:
    for message in filter(_written, (data.draw(said(wording)) for wording in wordings)):
        line = write(message)
        assert message == parse(line)
        assert line.isascii()
        assert line.isprintable()


@examples(20)
@given(st.sampled_from([wordings[0] for wordings in GROUPS]).flatmap(said) | frequent)
def test_messages_survive_copying_and_pickling(message: m.Message) -> None:
    """The most frequent ones, which have no slots, had lost all their fields."""
    pickled = pickle.loads(pickle.dumps(message))  # noqa: S301 - our own
    assert message == copy.copy(message) == copy.deepcopy(message) == pickled


def test_every_wording_is_the_one_for_some_messages() -> None:
    """Where all fixed fields of an earlier wording agree, a later one of the same kind is never written."""
    for earlier, later in combinations(SPOKEN, 2):
        assert earlier.cls is not later.cls or not earlier.fixed.items() <= later.fixed.items(), (earlier, later)


def test_every_kind_of_message_has_a_wording() -> None:
    assert all_kinds() == KINDS | set(BY_CONTEXT) | {m.Unknown, m.RefusedBoard}


@more_examples(2.5)
@given(st.text())
def test_parsing_never_raises(text: str) -> None:
    assert isinstance(parse(text), m.Message)


@more_examples(2.5)
@given(st.sampled_from(WORDINGS), st.lists(texts, min_size=12, max_size=12))
def test_parsing_never_raises_near_a_wording(wording: Wording[m.Message], fillings: list[str]) -> None:
    """Lines with the words of a wording and anything in its fields."""
    pieces = [part if isinstance(part, str) else fillings[index % 12] for index, part in enumerate(wording.parts)]
    assert isinstance(parse("".join(pieces)), m.Message)


@more_examples(2.5)
@given(messages)
def test_blanks_and_a_full_stop_at_the_end_are_ignored(message: m.Message) -> None:
    line = write(message)
    wording = next(wording for wording in SPOKEN if wording.cls is type(message))
    assume(not wording.free and not line[0].isdigit() and not line.startswith(("board:", "table:")))
    assume("Email address" not in line and not isinstance(message, m.WhereIs))  # values that may end with a full stop
    assert message == parse(line.rstrip(" ."))
    assert message == parse(line.rstrip(" .") + " . ")


@more_examples(2.5)
@given(messages)
def test_the_longest_line_of_the_table_fits_the_splitter(message: m.Message) -> None:
    splitter = LineSplitter()
    splitter.receive_data(write(message).encode("ascii") + b"\r\n")
    line = splitter.next_line()
    assert line is not None
    assert message == parse(line.text) or isinstance(message, m.MovesAction)


# -- user text ------------------------------------------------------------------------------------------------------


@more_examples(2.5)
@given(st.sampled_from([m.Says, m.Shouts, m.Whispers, m.Kibitzes, m.Alert]), messages, texts)
def test_user_text_that_imitates_the_server_stays_text(kind: type[m.Says], imitated: m.Message, before: str) -> None:
    said_by_user = kind("villain", before + write(imitated))
    assert said_by_user == parse(write(said_by_user))


@more_examples(2.5)
@given(messages, texts.filter(str.strip))
def test_a_sentence_is_recognised_only_at_the_start_of_a_line(message: m.Message, before: str) -> None:
    """A user cannot start a line, so text before a known sentence must not be skipped."""
    wording = next(wording for wording in SPOKEN if wording.cls is type(message))
    assume(not wording.free)
    read = parse(f"villain says {before} {write(message)}")
    assert not isinstance(read, type(message))


@pytest.mark.parametrize("name", ["a b", "", "x" * 65, "a\n", "é", "a:b", "12", "**", "bob."])
def test_a_name_that_no_line_can_carry_is_refused(name: str) -> None:
    with pytest.raises(LocalProtocolError):
        write(m.Rolls(name, (1, 2)))


@pytest.mark.parametrize("other", [None, "You roll 3 and 1.", c.Roll()])
def test_what_is_no_message_is_refused(other: Any) -> None:
    with pytest.raises(LocalProtocolError, match="expected a message of a server, got "):
        write(other)


@pytest.mark.parametrize("text", ["a\r\nb", "\x07", "naïve", "a\tb", "\x1b[2J"])
def test_a_text_that_no_line_can_carry_is_refused(text: str) -> None:
    with pytest.raises(LocalProtocolError):
        write(m.Shouts("bob", text))


@more_examples(2.5)
@given(messages, st.data())
def test_a_field_of_the_wrong_type_is_refused_or_not_written(message: m.Message, data: st.DataObject) -> None:
    fields = attrs.fields_dict(type(message))
    assume(fields)
    name = data.draw(st.sampled_from(sorted(fields)))
    broken = attrs.evolve(message, **{name: object()})
    wording = next(wording for wording in SPOKEN if wording.cls is type(message))
    assume(name in wording.slots)
    with pytest.raises(LocalProtocolError):
        write(broken)


BOB = m.WhoInfo(
    name="bob",
    opponent=None,
    watching=None,
    ready=True,
    away=False,
    rating=6.93,
    experience=5,
    idle=1,
    login=2,
    host="host",
    client=None,
    email=None,
)

# -- examples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("You roll 6 and 4.", m.Rolls(YOU, (6, 4))),
        ("It's your turn to roll or double.", m.RollOrDouble()),
        ("points for user X_user: 1", m.ResumePoints("X_user", 1)),
        ("Bear off: 6o 5o", m.BearsOff((6, 5))),
        ("unlimited match", m.ResumeLength(UNLIMITED)),
        ("Please move 1 piece.", m.MovePrompt(1)),
        ("** There is no one called bob.", m.NoSuchUser("bob")),
        ("** There is no one called bob", m.NoSuchUser("bob")),
        ("** There's no one called bob.", m.NoSuchUser("bob")),
        ("** There is no one called 'bob'", m.NoSuchUser("bob")),
        ("** X_user is already playing with someone else.", m.AlreadyPlayingOther("X_user", joining=False)),
        ("Player bob has joined you for a 3 point match.", m.OpponentJoined("bob", 3)),
        ("** Player bob has joined you for an unlimited match.", m.OpponentJoined("bob", UNLIMITED)),
        ("bob accepts the double.  The cube shows 4.", m.DoubleAccepted("bob", 4)),
        ("You are now watching bob.", m.YouWatch("bob")),
        ("** The Crawford rule doesn't let you.", m.CrawfordForbids()),
        ("** bob hasn't responded to your double", m.DoublePending("bob")),
        ("6 ", m.WhoEnd()),
        ("12 bob    Hello.", m.Says("bob", "   Hello.")),
        ("12 bob", m.Says("bob", "")),
        ("16 hello", m.YouSay("hello")),
        ("  8 bob bob logs out.", m.Unknown("  8 bob bob logs out.")),
        ("    1 NIHILIST        2295.11     7274", m.RatingListed(1, "NIHILIST", 2295.11, 7274)),
        ("Value of 'redoubles' set to 'none'.", m.SettingChanged(Setting.REDOUBLES, "none")),
        ("5 bob - - 1 0 6.93 5 1 2 host - -", BOB),
        ("5 bob - - 1 0 nan 5 1 2 host - -", m.Unknown("5 bob - - 1 0 nan 5 1 2 host - -")),
        ("05 bob - - 1 0 1500.00 5 1 2 host - -", m.Unknown("05 bob - - 1 0 1500.00 5 1 2 host - -")),
    ],
)
def test_examples_of_lines_and_their_messages(line: str, message: m.Message) -> None:
    assert message == parse(line)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("1 bob 127.0.0.1", m.Welcome),
        ("2 1 1 0 0 0 0 1 1 0 0 0 0 1 1500 0 0 0 1 0 UTC", m.OwnInfo),
        ("2 bob 1 1 0 0 0 0 1 1 0 0 1 0 1 1500.00 0 1 none 1 0 UTC (127.0.0.1)", m.OwnInfo),
        ("** bob has joined you for a 3 point match.", m.OpponentJoined),
        ("Value of boardstyle set to 3.", m.SettingChanged),
        ("Welcome to BaldLies. You just logged in as guest.", m.GuestWelcome),
        ("Welcome to JIBS.You just logged in as guest.", m.GuestWelcome),
        ("** Your name may only contain letters and the unserscore character _ .", m.NameInvalid),
        ("Thanks for using this server!", m.Goodbye),
        ("It's not your turn to move.", m.NotYourMove),
        ("** game over at lib/BaldLies/Backgammon/Game.pm line 227.", m.GameAlreadyOver),
        ("** Illegal move (unknown error, this should not happen) at lib/Game.pm line 433.", m.IllegalMove),
        ("** You cannot move at lib/Game.pm line 311.", m.IllegalMove),
    ],
)
def test_lines_of_other_servers_are_understood(line: str, kind: type[m.Message]) -> None:
    assert kind is type(parse(line))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        # JIBS: apostrophes doubled, or lost with the rest of the template
        ("You can''t move.", m.CannotMove(YOU)),
        ("It''s your turn to move.", m.FirstMove(YOU)),
        ("It''s your turn. Please roll or double", m.RollOrDouble()),
        ("** You can''t play two games at once", m.TwoGamesAtOnce()),
        ("** Theres no saved match with {0}. Please give a match length.", m.NoSavedMatch("{0}")),
        ("** Dont know how to toggle {0}", m.UnknownToggle("{0}")),
        ("bob accepts the double.The cube shows 2.", m.DoubleAccepted("bob", 2)),
        ("You win the game and get 1 point. Congratulation!", m.GameWon(YOU, 1)),
        ("2 win the game and get {1} points. Congratulation!", m.GameWon(YOU, 2)),
        ("6 win the game and get {1} points. Congratulation!", m.GameWon(YOU, 6)),
        ("bob and carol start a new 3-point match.", m.MatchReportStart("bob", "carol", 3)),
        ("** Not yet implemented: 'rawwho'", m.CommandNotImplemented("rawwho")),
        # BaldLies: no name if a player joined before it knew the other one
        ("The command `kibitz' is not yet implemented.", m.CommandNotImplemented("kibitz")),
        ("Starting a new game with .", m.GameStarts("")),
        ("You rolled 5,  rolled 1.", m.OpeningRoll(YOU, 5, "", 1)),
        (" makes the first move.", m.FirstMove("")),
        (" gives up. You win 1 point.", m.GaveUp("", YOU, 1)),
        ("You give up.  wins 2 points.", m.GaveUp(YOU, "", 2)),
        ("** There is no saved match with bob. Please give a match length.", m.NoSavedMatch("bob")),
    ],
)
def test_mistakes_of_other_servers_are_understood(line: str, message: m.Message) -> None:
    assert message == parse(line)


def test_a_list_of_users_may_lack_the_address() -> None:
    assert BOB == parse("5 bob - - 1 0 6.93 5 1 2 host - ")


_CONTRACTION = re.compile("(?<=[A-Za-z])'(?=[a-z])")


_CONTRACTED = [it for it in SPOKEN if any(_CONTRACTION.search(part) for part in it.parts if isinstance(part, str))]


@more_examples(2.5)
@given(st.sampled_from(_CONTRACTED), st.sampled_from(["", "''"]), st.data())
def test_an_apostrophe_within_a_word_may_be_doubled_or_missing(
    wording: Wording[m.Message], apostrophe: str, data: st.DataObject
) -> None:
    """In the words of the template, not in those of users: the message stays the same."""
    message = data.draw(said(wording))
    line = "".join(
        _CONTRACTION.sub(apostrophe, part) if isinstance(part, str) else part.write(getattr(message, part.name), "")
        for part in wording.parts
    )
    assert message == parse(line)


def test_home_is_another_word_for_off() -> None:
    assert parse("bob moves 6-off 1-off .") == parse("bob moves 6-home 1-home .")


def test_kinds_of_messages_have_distinct_names() -> None:
    assert "who_info" == m.WhoInfo.kind()
    assert len(all_kinds()) == len({kind.kind() for kind in all_kinds()})


@more_examples(2.5)
@given(st.text(PRINTABLE))
def test_unknown_lines_are_kept(text: str) -> None:
    message = parse(text)
    if isinstance(message, m.Unknown):
        assert text.rstrip() == message.text


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("** Last login: Fri Jul  3 18:04:27 2020 from 127.0.0.1", m.LastLogin),
        ("Login incorrect", m.LoginIncorrect),
        ("** Login incorrect.", m.LoginIncorrect),
        ("** WARNING: Don't accept if you want to continue the saved 3 point match!", m.SavedMatchWarning),
        ("** WARNING: You are already logged in.", m.AlreadyLoggedIn),
    ],
)
def test_lines_of_other_servers_about_logins_and_saved_matches_are_understood(line: str, kind: type[m.Message]) -> None:
    assert kind is type(parse(line))
