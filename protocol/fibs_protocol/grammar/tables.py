"""Wordings about tables games other than backgammon (docs/protocol.md, "Other games").

The parts of turns in a list of moves are in game.py, beside those of backgammon.
"""

from __future__ import annotations

from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.grammar.wording import Wording, says
from fibs_protocol.words import YOU, Setting

TABLE: Final = says(m.TableBoard, "{state}")

TABLES: Final[tuple[Wording[Any], ...]] = (
    # -- invitations and the start of a match
    says(m.GameInvitation, "{name} wants to play {length:match} of {game:game} with you."),
    says(m.GameResumeInvitation, "{name} wants to resume a saved match of {game:game} with you."),
    says(
        m.InvitedWithoutGames,
        "{name} wants to play {game:game}, but your client has not asked for it. Type 'set games on'.",
    ),
    says(m.WatchedWithoutGames, "{name} plays {game:game}, which your client has not asked for. Type 'set games on'."),
    says(m.YouInvitedToGame, "** You invited {name} to {length:match} of {game:game}."),
    says(m.OpponentJoinedGame, "** Player {name} has joined you for {length:match} of {game:game}."),
    says(m.YouJoinedGame, "** You are now playing {length:match} of {game:game} with {name}"),
    says(m.ResumeGame, "game: {game:game}"),
    # -- turns
    says(m.RollsThree, "You roll {dice:three_dice}.", player=YOU),
    says(m.RollsThree, "{player} rolls {dice:three_dice}."),
    says(m.NextPart, "You go on with {numbers:part}.", player=YOU),
    says(m.NextPart, "{player} goes on with {numbers:part}."),
    says(m.RestLeft, "You leave the rest of the turn to {heir}.", player=YOU),
    says(m.RestLeft, "{player} leaves the rest of the turn to you.", heir=YOU),
    says(m.RestLeft, "{player} leaves the rest of the turn to {heir}."),
    says(m.RollsAgain, "You have another roll.", player=YOU),
    says(m.RollsAgain, "{player} has another roll."),
    says(m.NamePrompt, "Please name the {naming:naming}: {choices:choices}"),
    says(m.NumberNamed, "You name the {naming:naming}: {number}", player=YOU),
    says(m.NumberNamed, "{player} names the {naming:naming}: {number}"),
    says(m.ContestRolls, "For the point to open, you roll {dice}, {opponent} rolls {opponent_dice}.", player=YOU),
    says(m.ContestRolls, "For the point to open, {player} rolls {dice}, {opponent} rolls {opponent_dice}."),
    # -- the end of a game
    says(m.GameWonBy, "You win {points:points}, having {reason:phrase}.", winner=YOU),
    says(m.GameWonBy, "{winner} wins {points:points}, having {reason:phrase}."),
    says(m.GameDrawn, "Nobody wins the game: {reason:phrase}."),
    # -- lists
    says(m.MovesGame, "The game is {game:game}."),
    says(m.GameReportStart, "{player1} and {player2} start {length:match} of {game:game}."),
    says(m.GameReportResume, "{player1} and {player2} are resuming their {length:hyphen_match} of {game:game}."),
    says(
        m.GameReportEnd,
        "{winner} wins {length:match} of {game:game} against {loser}  {winner_points}-{loser_points} .",
    ),
    says(
        m.SavedGameMatch,
        "{stars:stars}{name:name<18} {length:saved_length} {own_points:number>13} - {opponent_points:number>2}"
        "  {game:game}",
    ),
    says(m.WhoisGameRating, "  Rating in {game:game}: {rating} Experience: {experience}"),
    # -- refusals
    says(m.UnknownGame, "** There is no game called '{game:quoted}'. Type 'help games'."),
    says(m.GamesOff, "** Type 'set games on' if you want to play other games than backgammon."),
    says(m.GamesNotWanted, "** {name} plays backgammon only."),
    says(m.GamesInUse, "** You can't turn games off while you play or watch one."),
    says(m.BadSettingValue, "** Valid arguments are 'on' and 'off'.", setting=Setting.GAMES),
    says(m.IllegalPlay, "** You can't play that: {reason:phrase}."),
    says(m.NameFirst, "** Type 'name' and one of these numbers first: {choices:choices}"),
    says(m.NothingToName, "** There is nothing to name."),
    says(m.CantName, "** You can't name that. Choose one of {choices:choices}."),
)
