"""Commands: written by a client, parsed by a server (help text "commands"; specification: each section).

A server accepts any unique prefix of a command's name, and a few fixed short forms. `rethrow`, `laws` and the words
`laws ...` of an invitation belong to this project's server.
"""

from __future__ import annotations

import re
from typing import Any, Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import (
    AmbiguousCommandError,
    BadArgumentError,
    LocalProtocolError,
    ProtocolError,
    UnknownCommandError,
)
from fibs_protocol.grammar.arguments import (
    LONGEST_ARGUMENT,
    LONGEST_WORD,
    CommandForm,
    bare_command,
    check_line,
    check_optional_word,
    check_text,
    check_word,
    first_word,
    name_command,
    optional_text_command,
    shorten,
    tell_command,
    text_command,
)
from fibs_protocol.words import UNLIMITED, FibsMove, Setting, Toggle

_WORD: Final = re.compile(r"[!-~]{1,255}")
_PLACE: Final = re.compile(r"[1-9]|1[0-9]|2[0-4]")
_GAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}(?::[a-z0-9-]{1,32}){0,8}")
_LONGEST_CLIENT: Final = 20
_LAWS: Final = "laws"
_KNOWN: Final = {"": None, "on": True, "off": False}
_WHICH: Final = 4
"""`** fourth move: ...` is the last move that a refusal can name; it stands for the ones after it, too."""


# -- log in and account ---------------------------------------------------------------------------------------------


def _read_login(text: str) -> c.Login:
    words = text.split()
    if len(words) != 4 or not re.fullmatch("[0-9]{1,9}", words[1]) or len(words[0]) > _LONGEST_CLIENT:
        raise BadArgumentError(m.UnknownCommand("login"))
    client, version, name, password = words
    return c.Login(client, name, password, int(version))


def _write_login(login: c.Login) -> str:
    if len(login.client) > _LONGEST_CLIENT:
        raise LocalProtocolError(f"expected at most {_LONGEST_CLIENT} characters as the client's name")
    return f"{check_word(login.client)} {login.version:d} {check_word(login.name)} {check_word(login.password)}"


def _read_name(text: str) -> c.Name:
    """Parse the new name. It is empty if none is given; the server's answer then depends on the user."""
    if " " in text:
        raise BadArgumentError(m.NameInvalid())
    return c.Name(text[:LONGEST_WORD])


def _write_name(command: c.Name) -> str:
    return command.name and check_word(command.name)


def _read_address(text: str) -> c.Address:
    if not text:
        raise BadArgumentError(m.NoAddressGiven())
    return c.Address(text.split(None, 1)[0][:LONGEST_ARGUMENT])


def _read_password(text: str) -> c.Password:
    words = text.split(":")
    if len(words) != 3 or not all(map(_WORD.fullmatch, words)):
        raise BadArgumentError(m.PasswordUsage())
    return c.Password(*words)


def _write_password(command: c.Password) -> str:
    words = (command.old, command.new, command.repeated)
    if any(":" in word for word in words):
        raise LocalProtocolError("expected passwords without colons")
    return ":".join(map(check_word, words))


# -- matches --------------------------------------------------------------------------------------------------------


def _read_invite(text: str) -> c.Invite:
    words = text.split()
    if not words:
        raise BadArgumentError(m.InviteWho())
    name = shorten(words[0])
    if len(words) == 1:
        return c.Invite(name)
    if words[1] == "unlimited":
        length = UNLIMITED
    elif re.fullmatch("[0-9]{1,9}", words[1]) and 1 <= int(words[1]) < UNLIMITED:
        length = int(words[1])
    else:
        raise BadArgumentError(m.InviteBadLength())
    if words[2:3] == [_LAWS]:
        return c.InviteByLaws(name, length, " ".join(words[3:])[:LONGEST_WORD].rstrip())
    if len(words) > 2:
        game = words[2].lower()
        if not _GAME.fullmatch(game):
            raise BadArgumentError(m.UnknownGame(shorten(words[2])))
        if words[3:4] == [_LAWS]:
            raise BadArgumentError(m.UnknownLaws(f"expected options of {game} after colons, got other laws"))
        return c.InviteToGame(name, length, game)
    return c.Invite(name, length)


def _write_invite(command: c.Invite) -> str:
    name, length = check_word(command.name), command.length
    if length is None:
        return name
    if length == UNLIMITED:
        return f"{name} unlimited"
    if not 1 <= length < UNLIMITED:
        raise LocalProtocolError(f"expected a match length of 1 to {UNLIMITED - 1}, got {length}")
    return f"{name} {length}"


def _write_invite_to_game(command: c.InviteToGame) -> str:
    if command.length is None:
        raise LocalProtocolError("expected a length with the game of a match, got none")
    if not _GAME.fullmatch(command.game):
        raise LocalProtocolError("expected the name of a game, with options after colons")
    return f"{_write_invite(command)} {command.game}"


def _write_invite_by_laws(command: c.InviteByLaws) -> str:
    if command.length is None:
        raise LocalProtocolError("expected a length with the laws of a match, got none")
    laws = " ".join(command.laws.split())
    if laws != command.laws or len(laws) > LONGEST_WORD:
        raise LocalProtocolError(f"expected laws as words of at most {LONGEST_WORD} characters")
    return f"{_write_invite(command)} {_LAWS} {check_line(laws)}".rstrip()


def _read_laws(text: str) -> c.ShowLaws:
    if text not in _KNOWN:
        raise BadArgumentError(m.UnknownCommand("laws"))
    return c.ShowLaws(_KNOWN[text])


def _write_laws(command: c.ShowLaws) -> str:
    return next(word for word, known in _KNOWN.items() if known is command.known)


def _read_moves(text: str) -> c.Move | c.EmptyMove:
    """Parse `13-7 bar-22`, `13/7`, `13 7`, `bar - 22` and mixtures; `b`, `o`, `h` and `home` are allowed, too."""
    places = re.sub(r" *[-/] *", " ", text).split()
    moves: list[FibsMove] = []
    for index in range(0, len(places), 2):
        pair = places[index : index + 2]
        which = min(index // 2 + 1, _WHICH)
        if len(pair) != 2:
            raise BadArgumentError(m.MoveWords(which))
        source = _place(pair[0], ("bar", "b"), which)
        moves.append(FibsMove(source, _place(pair[1], ("off", "o", "home", "h"), which)))
    return c.Move(tuple(moves)) if moves else c.EmptyMove()


def _place(word: str, words: tuple[str, ...], which: int) -> int | None:
    if word in words:
        return None
    if not _PLACE.fullmatch(word):
        raise BadArgumentError(m.MoveWords(which))
    return int(word)


def _write_moves(command: c.Move) -> str:
    if not command.moves:
        raise LocalProtocolError("expected at least one move, got none; a turn without any is passed by the server")
    words = []
    for move in command.moves:
        for place in (move.source, move.target):
            if place is not None and not 1 <= place <= 24:
                raise LocalProtocolError(f"expected points from 1 to 24, got {place}")
        words.append(f"{move.source or 'bar'}-{move.target or 'off'}")
    return " ".join(words)


def _read_resign(text: str) -> c.Resign:
    word = (first_word(text) or "?").lower()
    for level in c.ResignLevel:
        if level.name.lower().startswith(word):
            return c.Resign(level)
    raise BadArgumentError(m.ResignHow())


# -- settings and information ---------------------------------------------------------------------------------------


def _read_toggle(text: str) -> c.ToggleCommand:
    word = first_word(text)
    if word is None:
        return c.ToggleCommand()
    toggle = _match_prefix({toggle.value: toggle for toggle in Toggle}, word)
    if toggle is None:
        raise BadArgumentError(m.UnknownToggle(word))
    return c.ToggleCommand(toggle)


def _read_set(text: str) -> c.SetCommand:
    words = text.split(None, 1)
    if not words:
        return c.SetCommand()
    setting = _match_prefix({setting.value: setting for setting in Setting}, words[0])
    if setting is None:
        raise BadArgumentError(m.UnknownSetting())
    return c.SetCommand(setting, words[1][:LONGEST_ARGUMENT].rstrip() if len(words) > 1 else None)


def _write_set(command: c.SetCommand) -> str:
    if command.setting is None:
        if command.value is not None:
            raise LocalProtocolError("a value without a setting")
        return ""
    return command.setting.value + ("" if command.value is None else " " + check_text(command.value))


def _read_show(text: str) -> c.Show:
    words = text.split()
    if not words:
        raise BadArgumentError(m.ShowWhat())
    what = _match_prefix({what.value: what for what in c.ShowTopic}, words[0])
    if what is None:
        raise BadArgumentError(m.UnknownShow(shorten(words[0])))
    return c.Show(what, shorten(words[1]) if len(words) > 1 else None)


def _write_show(command: c.Show) -> str:
    return f"{command.what.value} {check_optional_word(command.name)}".rstrip()


def _match_prefix(choices: dict[str, Any], word: str) -> Any:
    """Return the choice whose name or unique prefix the word is; None if there is none."""
    if word in choices:
        return choices[word]
    found = [choice for name, choice in choices.items() if name.startswith(word)]
    return found[0] if len(found) == 1 else None


def _write_toggle(command: c.ToggleCommand) -> str:
    return "" if command.toggle is None else command.toggle.value


def _read_mail(text: str) -> c.Mail:
    name, _, words = text.partition(" ")
    if name and not words.strip():
        raise BadArgumentError(m.MailUsage())
    return c.Mail(shorten(name) if name else None, words.strip())


def _write_mail(command: c.Mail) -> str:
    if command.name is None:
        if command.text:
            raise LocalProtocolError("expected a name with the message, got none")
        return ""
    return f"{check_word(command.name)} {check_text(command.text)}"


def _names(command: c.Waitfor) -> str:
    return " ".join(map(check_word, command.names))


# -- the table ------------------------------------------------------------------------------------------------------

COMMAND_FORMS: Final = (
    CommandForm("login", c.Login, _read_login, _write_login),
    CommandForm("name", c.Name, _read_name, _write_name),
    *(bare_command(word, c.Bye) for word in ("bye", "adios", "ciao", "end", "exit", "logout", "quit", "tschoe")),
    text_command("shout", c.Shout),
    text_command("kibitz", c.Kibitz),
    text_command("say", c.Say),
    text_command("whisper", c.Whisper),
    tell_command("tell", c.Tell),
    tell_command("tellx", c.Tellx),
    tell_command("alert", c.AlertCommand),
    CommandForm("message", c.Mail, _read_mail, _write_mail),
    CommandForm("waitfor", c.Waitfor, lambda text: c.Waitfor(tuple(map(shorten, text.split()))), _names),
    name_command("gag", c.Gag),
    name_command("blind", c.Blind),
    text_command("away", c.Away),
    bare_command("back", c.Back),
    bare_command("wave", c.Wave),
    CommandForm("invite", c.Invite, _read_invite, _write_invite),
    CommandForm("invite", c.InviteToGame, _read_invite, _write_invite_to_game),
    CommandForm("invite", c.InviteByLaws, _read_invite, _write_invite_by_laws),
    name_command("join", c.Join),
    bare_command("leave", c.Leave),
    optional_text_command("chouette", c.Chouette, "argument"),
    name_command("watch", c.Watch),
    bare_command("unwatch", c.Unwatch),
    name_command("look", c.Look),
    name_command("oldboard", c.Oldboard),
    name_command("oldmoves", c.Oldmoves),
    bare_command("roll", c.Roll),
    CommandForm("move", c.Move, _read_moves, _write_moves),
    CommandForm("move", c.EmptyMove, _read_moves, lambda _: ""),
    bare_command("off", c.Off),
    bare_command("board", c.ShowBoard),
    bare_command("pip", c.Pip),
    bare_command("double", c.Double),
    bare_command("accept", c.Accept),
    bare_command("reject", c.Reject),
    bare_command("redouble", c.Redouble),
    bare_command("beaver", c.Beaver),
    bare_command("raccoon", c.Raccoon),
    bare_command("otter", c.Otter),
    CommandForm("resign", c.Resign, _read_resign, lambda command: str(command.level.value)),
    bare_command("panic", c.Panic),
    CommandForm("rethrow", c.Rethrow, lambda _: c.Rethrow(), lambda _: "", shortened=False),
    CommandForm("laws", c.ShowLaws, _read_laws, _write_laws, shortened=False),
    CommandForm("toggle", c.ToggleCommand, _read_toggle, _write_toggle),
    CommandForm("set", c.SetCommand, _read_set, _write_set),
    CommandForm("sortwho", c.SetCommand, lambda text: _read_set(f"sortwho {text}"), _write_set),
    bare_command("save", c.Save),
    CommandForm("address", c.Address, _read_address, lambda command: check_word(command.address)),
    CommandForm("password", c.Password, _read_password, _write_password),
    optional_text_command("who", c.Who, "argument"),
    optional_text_command("rawwho", c.Rawwho, "argument"),
    CommandForm("show", c.Show, _read_show, _write_show),
    name_command("whois", c.Whois),
    name_command("where", c.Where),
    optional_text_command("ratings", c.Ratings, "argument"),
    bare_command("last", c.Last),
    *(optional_text_command(word, c.Time, "zone") for word in ("time", "date")),
    *(optional_text_command(word, c.Help, "topic") for word in ("help", "man")),
    bare_command("motd", c.Motd),
    bare_command("about", c.About),
    bare_command("average", c.Average),
    bare_command("dicetest", c.Dicetest),
    bare_command("version", c.Version),
    bare_command("stat", c.Stat),
    bare_command("port", c.Port),
    *(bare_command(word, c.Clear) for word in ("clear", "cls")),
    bare_command("erase", c.Erase),
    bare_command("shutdown", c.ShutdownCommand),
)
"""All commands by name. If a command has several names, the first one is written."""

SHORT_FORMS: Final = {
    "b": "board",
    "k": "kibitz",
    "m": "move",
    "r": "roll",
    "s": "say",
    "t": "tell",
    "to": "toggle",
    "w": "who",
    "wh": "whisper",
}
"""Fixed short forms, which are prefixes of other commands, too (help texts "commands" and "toggle")."""

_BY_NAME: Final = {form.name: form for form in COMMAND_FORMS}
_BY_COMMAND: Final = {form.command: form for form in reversed(COMMAND_FORMS)}
_BARE_MOVE: Final = re.compile(r"(?:[0-9]|bar\b).*")


def parse_command(text: str) -> c.Command:
    """Parse a client's line as a server does.

    Args:
        text: one line, as `LineSplitter` gives it.

    Raises:
        CommandError: with the refusal that the server sends: UnknownCommandError (AmbiguousCommandError for a prefix
            of several commands) or BadArgumentError. Where no source shows how FIBS refuses bad arguments, the
            command is called unknown.
    """
    word, _, rest = text.strip().partition(" ")
    if _BARE_MOVE.fullmatch(text.strip()):
        return _read_moves(text.strip())
    return _find(word).read(rest.strip())


def _find(word: str) -> CommandForm:
    form = _BY_NAME.get(SHORT_FORMS.get(word, word))
    if form is not None:
        return form
    found = [form for form in _BY_NAME.values() if word and form.shortened and form.name.startswith(word)]
    if not found:
        raise UnknownCommandError(m.UnknownCommand(shorten(word)))
    if len({form.command for form in found}) > 1:
        raise AmbiguousCommandError(m.UnknownCommand(shorten(word)))
    return found[0]


def write_command(command: c.Command) -> str:
    """Write a command's line, without the line's end.

    Raises:
        LocalProtocolError: if the line cannot carry a field; its value is not shown, as it may be a password.
    """
    form = _BY_COMMAND.get(type(command))
    if form is None:
        raise LocalProtocolError(f"expected a command of a client, got {type(command).__name__}")
    try:
        rest = form.write(command)
    except ProtocolError as error:
        raise LocalProtocolError(f"{form.name}: {error}") from None
    except (AttributeError, TypeError, ValueError, StopIteration):
        raise LocalProtocolError(f"{form.name}: no line can carry a field of another type") from None
    return f"{form.name} {rest}" if rest else form.name
