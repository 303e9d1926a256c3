"""A server parses the commands that a client writes, with FIBS' short forms, and every refusal can be written."""

from __future__ import annotations

import functools
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import (
    AmbiguousCommandError,
    BadArgumentError,
    CommandError,
    LocalProtocolError,
    UnknownCommandError,
)
from fibs_protocol.grammar import parse, parse_command, write, write_command
from fibs_protocol.grammar.commands import COMMAND_FORMS, SHORT_FORMS
from fibs_protocol.words import UNLIMITED, FibsMove, Setting, Toggle
from tests.examples import examples, more_examples
from tests.protocol.message_examples import PRINTABLE, filled, game_names, moves, names, points, words

passwords = words.filter(lambda word: ":" not in word)
lengths = st.none() | st.integers(1, 99) | st.just(UNLIMITED)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "client": st.text("abcXYZ_019!", min_size=1, max_size=20),
    "password": words,
    "old": passwords,
    "new": passwords,
    "repeated": passwords,
    "text": filled,
    "version": st.integers(0, 9999),
    "length": lengths,
    "moves": st.lists(st.builds(FibsMove, st.none() | points, st.none() | points), min_size=1, max_size=5).map(tuple),
    "level": st.sampled_from(c.ResignLevel),
    "toggle": st.none() | st.sampled_from(Toggle),
    "address": words.map(lambda word: word.rstrip(".") + "@x"),
    "what": st.sampled_from(c.ShowTopic),
    "argument": st.none() | filled,
    "topic": st.none() | filled,
    "zone": st.none() | filled,
    "names": st.lists(names, max_size=4).map(tuple),
    "known": st.sampled_from([None, True, False]),
    "laws": st.lists(st.sampled_from(["1931", "point", "limit", "4"]), max_size=5).map(" ".join),
}
NAMED = {"name": names}
MAYBE_NAMED = {"name": st.none() | names}
GROUP: Final = 12
"""Forms in a test: a test of a single one spends most of its time on its beginning."""


@functools.cache
def said(form: Any) -> st.SearchStrategy[c.Command]:
    kind = form.command
    if kind is c.SetCommand:
        return st.just(c.SetCommand()) | st.builds(c.SetCommand, st.sampled_from(Setting), st.none() | filled)
    if kind is c.Mail:
        return st.just(c.Mail()) | st.builds(c.Mail, names, filled)
    if kind is c.InviteToGame:
        return st.builds(kind, names, lengths.filter(bool), game_names.filter(lambda game: game != "laws"))
    if kind is c.InviteByLaws:
        return st.builds(kind, names, lengths.filter(bool), FIELDS["laws"])
    fields = {field.name: field for field in kind.__attrs_attrs__}
    optional = "name" in fields and "None" in str(fields["name"].type)
    strategies = {**FIELDS, **(MAYBE_NAMED if optional else NAMED)}
    return st.builds(kind, **{name: strategies[name] for name in fields})


def kinds() -> set[type[c.Command]]:
    found = {kind for kind in vars(c).values() if isinstance(kind, type) and issubclass(kind, c.Command)}
    return found - {c.Command}


@pytest.mark.parametrize("start", range(0, len(COMMAND_FORMS), GROUP), ids=lambda start: COMMAND_FORMS[start].name)
@examples(12)
@given(st.data())
def test_a_server_reads_what_a_client_wrote(start: int, data: st.DataObject) -> None:
    for form in COMMAND_FORMS[start : start + GROUP]:
        command = data.draw(said(form))
        assert command == parse_command(write_command(command))


def test_every_command_can_be_written() -> None:
    assert kinds() == {form.command for form in COMMAND_FORMS}


@more_examples(10)
@given(
    st.sampled_from(["", *(form.name for form in COMMAND_FORMS), *SHORT_FORMS, "re", "x", "13-7"]),
    st.text(PRINTABLE, max_size=40) | words.map(lambda word: word * 20) | moves.map(str),
)
def test_any_line_of_a_client_is_a_command_or_is_refused(name: str, rest: str) -> None:
    """The command could have been written by a client, or its refusal can be sent, unless the line is empty."""
    text = f"{name} {rest}"
    refusal: m.Message | None = None
    command: c.Command | None = None
    try:
        command = parse_command(text)
    except CommandError as error:
        refusal = error.refusal
    if command is None:
        assert not text.strip() or (refusal and refusal == parse(write(refusal)))
        return
    assert command == parse_command(write_command(command))
    if isinstance(command, c.Tell | c.Invite | c.Watch | c.Gag | c.Whois) and command.name:
        assert write(m.NoSuchUser(command.name))


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("b", c.ShowBoard()),
        ("k hi", c.Kibitz("hi")),
        ("m 8-5 6-5", c.Move((FibsMove(8, 5), FibsMove(6, 5)))),
        ("r", c.Roll()),
        ("s hi", c.Say("hi")),
        ("t bob hi", c.Tell("bob", "hi")),
        ("to ready", c.ToggleCommand(Toggle.READY)),
        ("w", c.Who()),
        ("wh hi", c.Whisper("hi")),
        ("res n", c.Resign(c.ResignLevel.NORMAL)),
        ("resign gammon", c.Resign(c.ResignLevel.GAMMON)),
        ("rej", c.Reject()),
        ("red", c.Redouble()),
        ("al bob wake up", c.AlertCommand("bob", "wake up")),
        ("sortwho", c.SetCommand(Setting.SORTWHO)),
        ("sortwho rating", c.SetCommand(Setting.SORTWHO, "rating")),
        ("so name", c.SetCommand(Setting.SORTWHO, "name")),
        ("man", c.Help()),
        ("man roll", c.Help("roll")),
        ("do", c.Double()),
        ("tschoe", c.Bye()),
        ("ciao", c.Bye()),
        ("date UTC", c.Time("UTC")),
        ("cl", c.Clear()),
        ("move bar-5 bar 5 bar - 5 bar -5", c.Move((FibsMove(None, 5),) * 4)),
        (
            "move b 22 3 o 4-h 5 home",
            c.Move(tuple(FibsMove(*pair) for pair in ((None, 22), (3, None), (4, None), (5, None)))),
        ),
        ("13 7", c.Move((FibsMove(13, 7),))),
        ("bar-22 13-7", c.Move((FibsMove(None, 22), FibsMove(13, 7)))),
        ("invite bob", c.Invite("bob")),
        ("invite bob unlimited", c.Invite("bob", UNLIMITED)),
        ("  roll  ", c.Roll()),
        ("set bo 3", c.SetCommand(Setting.BOARDSTYLE, "3")),
        ("message", c.Mail()),
        ("login bot 1008 bob secret", c.Login("bot", "bob", "secret")),
        (f"login {20 * 'x'} {10**9 - 1} bob secret", c.Login(20 * "x", "bob", "secret", 10**9 - 1)),
    ],
)
def test_short_forms_and_variants_of_commands(text: str, command: c.Command) -> None:
    assert command == parse_command(text)


@pytest.mark.parametrize(
    ("text", "error", "answer"),
    [
        ("re", AmbiguousCommandError, "** Unknown command: 're'"),
        ("frobnicate bob", UnknownCommandError, "** Unknown command: 'frobnicate'"),
        ("Roll", UnknownCommandError, "** Unknown command: 'Roll'"),
        ("invite", BadArgumentError, "** invite who?"),
        ("tell", BadArgumentError, "** Tell whom?"),
        ("alert", BadArgumentError, "** Tell whom?"),
        (
            "invite bob x",
            BadArgumentError,
            "** The second argument to 'invite' has to be a number or the word 'unlimited'",
        ),
        (
            "invite bob 0",
            BadArgumentError,
            "** The second argument to 'invite' has to be a number or the word 'unlimited'",
        ),
        ("resign", BadArgumentError, "** Type 'n' (normal), 'g' (gammon) or 'b' (backgammon) after resign."),
        ("toggle x", BadArgumentError, "** Don't know how to toggle x"),
        ("set x", BadArgumentError, "** Invalid argument. Type 'help set'."),
        ("show", BadArgumentError, "** show what?"),
        ("show x", BadArgumentError, "** Don't know how to show x"),
        ("address", BadArgumentError, "** You didn't give your address."),
        ("password a:b", BadArgumentError, "** usage: password <old password>:<new password>:<new password>"),
        ("message bob", BadArgumentError, "** usage: message <user> <text>"),
        ("move 8-5 6", BadArgumentError, "** second move: legal words are 'bar', 'home', 'off', 'b', 'h' and 'o'."),
        ("move 25-20", BadArgumentError, "** first move: legal words are 'bar', 'home', 'off', 'b', 'h' and 'o'."),
        ("login", BadArgumentError, "** Unknown command: 'login'"),
        ("login bot 1008 bob", BadArgumentError, "** Unknown command: 'login'"),
        ("login bot 1008 bob secret more", BadArgumentError, "** Unknown command: 'login'"),
        ("login bot new bob secret", BadArgumentError, "** Unknown command: 'login'"),
        (f"login bot {10**9} bob secret", BadArgumentError, "** Unknown command: 'login'"),
        (f"login {21 * 'x'} 1008 bob secret", BadArgumentError, "** Unknown command: 'login'"),
        ("name a b", BadArgumentError, "** Your name may only contain letters and the underscore character _ ."),
    ],
)
def test_kinds_of_wrong_commands_are_distinguished(text: str, error: type[CommandError], answer: str) -> None:
    with pytest.raises(error) as caught:
        parse_command(text)
    assert answer == write(caught.value.refusal)


@pytest.mark.parametrize(
    "command",
    [
        c.Kibitz("a\r\nresign b"),
        c.Tell("bob resign", "hi"),
        c.AlertCommand("bob", "hi\r\nresign b"),
        c.Invite("bob 5"),
        c.Invite("bob", 0),
        c.Move((FibsMove(25, 5),)),
        c.Move(()),
        c.Login("a client", "bob", "x"),
        c.Login("x" * 21, "bob", "x"),
        c.Shout("naïve"),
        c.SetCommand(None, "3"),
        c.Mail(None, "x"),
        c.Mail("bob", ""),
        c.Say(None),  # type: ignore[arg-type] # what a caller without a type checker may pass
        c.Move(5),  # type: ignore[arg-type]
        c.Invite("bob", "3"),  # type: ignore[arg-type]
        c.ShowLaws("on"),  # type: ignore[arg-type]
        m.Rolls("bob", (3, 1)),
    ],
)
def test_a_command_that_no_line_can_carry_is_not_written(command: c.Command) -> None:
    """Above all, a text must not contain a second command."""
    with pytest.raises(LocalProtocolError):
        write_command(command)


@given(words.filter(lambda word: len(word) > 3))
def test_a_password_is_in_no_error(password: str) -> None:
    secret = f"S3cret{password}"
    commands = [c.Login("bot", "a b", secret), c.Login("bot", "bob", secret + "\n"), c.Password(secret, ":", secret)]
    for command in commands:
        assert secret not in repr(command)
        with pytest.raises(LocalProtocolError) as caught:
            write_command(command)
        assert secret not in str(caught.value)
