"""Wordings about invitations, matches, games, turns, the cube and the rating (specification: "Game Play").

OTHER_GAMES has those that only games other than backgammon have (docs/reference/protocol.md, "Other games").
"""

from __future__ import annotations

from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.grammar.templates import Wording, hears, says
from fibs_protocol.words import UNLIMITED, YOU, Colour, Departure, Setting

GAME: Final[tuple[Wording[Any], ...]] = (
    # -- invitations and the start of a match: "Invitations", "Invite", "Join", "Start or Resume a Match"
    says(m.Invitation, "{name} wants to play {length:match} with you."),
    says(m.ResumeInvitation, "{name} wants to resume a saved match with you."),
    says(m.JoinHint, "Type 'join {name}' to accept."),
    says(m.MatchLaws, "The match is played by laws {words:sentence} ({text:sentence})."),
    says(m.LawsKnown, "You will be shown invitations to matches by other laws than those of FIBS.", known=True),
    says(m.LawsKnown, "You won't be shown invitations to matches by other laws than those of FIBS.", known=False),
    says(m.SavedMatchWarning, "WARNING: Don't accept if you want to continue the saved {length:bare_match}!"),
    hears(m.SavedMatchWarning, "** WARNING: Don't accept if you want to continue the saved {length:bare_match}!"),
    says(m.YouInvited, "** You invited {name} to {length:match}."),
    says(m.YouInvitedToResume, "** You invited {name} to resume a saved match."),
    # The unlimited match's line has no stars; some servers leave them out of both, some of none.
    says(m.OpponentJoined, "Player {name} has joined you for {length:match}.", length=UNLIMITED),
    says(m.OpponentJoined, "** Player {name} has joined you for {length:match}."),
    hears(m.OpponentJoined, "Player {name} has joined you for {length:match}."),
    hears(m.OpponentJoined, "** {name} has joined you for {length:match}."),
    says(m.YouJoined, "** You are now playing {length:match} with {name}"),
    says(m.OpponentResumed, "{name} has joined you. Your running match was loaded."),
    says(m.YouResumed, "You are now playing with {name}. Your running match was loaded."),
    says(m.ResumeTurn, "turn: {player}."),
    says(m.ResumeLength, "unlimited matchlength", length=UNLIMITED),
    hears(m.ResumeLength, "unlimited match", length=UNLIMITED),
    says(m.ResumeLength, "match length: {length}"),
    says(m.ResumePoints, "points for {player}: {points:number}"),
    hears(m.ResumePoints, "points for user {player}: {points:number}"),
    # -- "Start a Game", "Player's Turn", "Opponent's Turn"
    says(m.GameStarts, "Starting a new game with {opponent}."),
    hears(m.GameStarts, "Starting a new game with .", server="BaldLies", opponent=""),  # after a quick `join`
    says(m.OpeningRoll, "{player} rolled {player_die:die}, {opponent} rolled {opponent_die:die}"),
    hears(m.OpeningRoll, "{player} rolled {player_die:die}, rolled {opponent_die:die}", server="BaldLies", opponent=""),
    says(m.CubeRaised, "The number on the doubling cube is now {cube}"),
    says(m.MayRethrow, "You may reject this roll: type 'rethrow', and the cube shows {cube}."),
    says(m.RollRejected, "You reject the roll. The cube shows {cube}.", player=YOU),
    says(m.RollRejected, "{player} rejects the roll. The cube shows {cube}."),
    says(m.FirstMove, "It's your turn to move.", player=YOU),
    says(m.FirstMove, "{player} makes the first move."),
    hears(m.FirstMove, "makes the first move.", player=""),
    says(m.RollOrDouble, "It's your turn. Please roll or double"),
    hears(m.RollOrDouble, "It's your turn to roll or double."),
    says(m.Rolls, "You roll {dice}.", player=YOU),
    says(m.Rolls, "{player} rolls {dice}."),
    says(m.MovePrompt, "Please move {pieces:pieces}."),
    says(m.OnlyMove, "The only possible move is {moves} ."),
    says(m.BearsOff, "Bearing off: {points}"),
    hears(m.BearsOff, "Bear off: {points}"),
    says(m.CannotMove, "{player} can't move."),
    says(m.Moves, "{player} moves {moves} ."),
    # -- the cube: "Doubling", "Redoubling"
    says(m.YouDouble, "You double. Please wait for {opponent} to accept or reject.", may_redouble=False),
    says(m.YouDouble, "You double. Please wait for {opponent} to accept, reject or redouble.", may_redouble=True),
    says(m.OpponentDoubles, "{player} doubles. Type 'accept' or 'reject'.", may_redouble=False),
    says(m.OpponentDoubles, "{player} doubles. Type 'accept', 'reject' or 'redouble'.", may_redouble=True),
    says(m.WatchedDouble, "{player} doubles."),
    says(m.DoubleAccepted, "{player} accepts the double.", cube=None),
    says(m.DoubleAccepted, "You accept the double. The cube shows {cube}.", player=YOU),
    says(m.DoubleAccepted, "{player} accepts the double. The cube shows {cube}."),
    hears(m.DoubleAccepted, "{player} accepts the double.The cube shows {cube}.", server="JIBS"),
    says(m.YouRedouble, "You accept the double to {cube} and redouble."),
    says(m.RedoubleWait, "Please wait for {opponent} to accept or reject.", may_redouble=False),
    says(m.RedoubleWait, "Please wait for {opponent} to accept, reject or redouble.", may_redouble=True),
    says(m.OpponentRedoubles, "{player} redoubles to {cube}. Type 'accept' or 'reject'.", may_redouble=False),
    says(
        m.OpponentRedoubles, "{player} redoubles to {cube}. Type 'accept', 'reject' or 'redouble'.", may_redouble=True
    ),
    says(m.WatchedRedouble, "{player} redoubles."),
    says(m.RedoubleAccepted, "{player} accepts the redouble.", cube=None),
    says(m.RedoubleAccepted, "You accept the redouble. The cube shows {cube}.", player=YOU),
    says(m.RedoubleAccepted, "{player} accepts the redouble. The cube shows {cube}."),
    # -- "Resigning", "End of a Game", "End of a Match"
    says(m.ResignOffer, "You want to resign. {winner} will win {points:points}.", player=YOU),
    says(
        m.ResignOffer, "{player} wants to resign. You will win {points:points}. Type 'accept' or 'reject'.", winner=YOU
    ),
    says(m.ResignOffer, "{player} wants to resign. {winner} will win {points:points}."),
    says(m.ResignRejected, "You reject. The game continues.", player=YOU),
    says(m.ResignRejected, "{player} rejects. The game continues."),
    says(m.ResignAccepted, "You accept and win {points:points}.", winner=YOU),
    says(m.ResignAccepted, "{winner} accepts and wins {points:points}."),
    says(m.GameWon, "{winner} wins the game and gets {points:points}.", watched=True),
    says(m.GameWon, "You win the game and get {points:points}. Congratulations!", winner=YOU, watched=False),
    says(m.GameWon, "{winner} wins the game and gets {points:points}. Sorry.", watched=False),
    # If O wins more than one point, the line lacks a word and shows a placeholder of its template.
    hears(
        m.GameWon,
        "You win the game and get {points:points}. Congratulation!",
        server="JIBS",
        winner=YOU,
        watched=False,
    ),
    hears(
        m.GameWon,
        "{points:number} win the game and get {{1}} points. Congratulation!",
        server="JIBS",
        winner=YOU,
        watched=False,
    ),
    says(m.GaveUp, "{loser} gives up. You win {points:points}.", winner=YOU),
    says(m.GaveUp, "You give up. {winner} wins {points:points}.", loser=YOU),
    says(m.GaveUp, "{loser} gives up. {winner} wins {points:points}."),
    hears(m.GaveUp, "{loser} gives up. {winner} win {points:points}."),
    hears(m.GaveUp, "gives up. You win {points:points}.", loser="", winner=YOU),
    hears(m.GaveUp, "You give up. wins {points:points}.", loser=YOU, winner=""),
    says(m.Score, "score in {length:bare_match}: {player1}-{points1} {player2}-{points2}"),
    says(m.JoinNextGame, "Type 'join' if you want to play the next game, type 'leave' if you don't."),
    says(m.WaitForJoin, "** Please wait for {name} to join too."),
    says(m.MatchWon, "You win the {length:bare_match} {winner_points}-{loser_points} .", winner=YOU),
    says(m.MatchWon, "{winner} wins the {length:bare_match} {winner_points}-{loser_points} ."),
    # -- "Dropping or Leaving the Game"
    says(m.YouLeft, "** You terminated the game. The game was saved."),
    says(m.OpponentGone, "** Player {name} has left the game. The game was saved.", how=Departure.LEFT),
    says(m.OpponentGone, "** Player {name} terminated the game. The game was saved.", how=Departure.TERMINATED),
    says(m.OpponentGone, "{name} logs out. The game was saved.", how=Departure.LOGGED_OUT),
    says(m.OpponentGone, "{name} drops connection. The game was saved.", how=Departure.DROPPED),
    says(m.OpponentGone, "Connection with {name} timed out. The game was saved.", how=Departure.TIMED_OUT),
    says(m.OpponentGone, "Closed old connection with user {name}. The game was saved.", how=Departure.RECONNECTED),
    says(m.OpponentGone, "Network error with {name}. The game was saved.", how=Departure.NETWORK_ERROR),
    # What happens when an administrator closes a connection is known only from a client's source.
    hears(m.OpponentGone, "{:name} closes connection with {name}, {:phrase}", how=Departure.DROPPED),
    says(m.YourGameSaved, "Your game with {name} was saved."),
    # -- a chouette's table, our own
    says(m.ChouetteInvitation, "chouette: {name} invites you to take a seat."),
    says(m.ChouetteSeat, "chouette: you have a seat at the table of {host}."),
    says(m.ChouetteNoSeat, "chouette: you have no seat at a table."),
    says(m.ChouetteTable, "chouette: {host}'s table, game {game}: {box} in the box against {text:text}"),
    says(m.ChouettePass, "chouette: {name} passes and loses {points:points} to {box}."),
    says(m.ChouetteDropout, "chouette: {name} has not played on in time and drops out at {points:points}."),
    says(m.ChouetteCaptain, "chouette: {name} is captain now."),
    says(m.ChouetteResult, "chouette: game {game}: {text:text}"),
    says(m.ChouetteLedger, "chouette: ledger: {text:text}"),
    says(m.ChouetteLeft, "chouette: {name} leaves the table."),
    says(m.ChouetteNews, "chouette: {text:text}"),
    # -- the rating calculation (toggle `ratings`)
    says(m.RatingStart, "rating calculation:"),
    says(m.RatingDifference, "rating difference D={difference:decimal}"),
    says(m.RatingLength, "match length      N={length}"),
    says(m.RatingExperience, "Experience: {player1} {experience1} - {player2} {experience2}"),
    says(m.RatingUpset, "Probability that underdog wins: Pu=1/(10^(D*sqrt(N)/2000)+1)={probability:decimal}"),
    says(m.RatingProbability, "P={probability:decimal} is 1-Pu if underdog wins and Pu if favorite wins"),
    says(m.RatingFactor, "K=max(1 , -Experience/100+5) for {name}: {factor:decimal}"),
    says(m.RatingChange, "change for {name}: {change:change}"),
    # -- the list of moves ("Oldmoves", toggle `moves`)
    says(m.MovesScore, "Score is {points1}-{points2} in {length:match}."),
    says(m.MovesColours, "{x} is X - {o} is O"),
    *(
        wording
        for colour in Colour
        for wording in (
            says(m.MovesPlay, f"{colour.name}: ({{dice:dice_pair}}) can't move", colour=colour, moves=()),
            says(m.MovesPlay, f"{colour.name}: ({{dice:dice_pair}}) {{moves}}", colour=colour),
            says(m.MovesPart, f"{colour.name}: ({{numbers:odd_part}}) can't move", colour=colour, moves=()),
            says(m.MovesPart, f"{colour.name}: ({{numbers:odd_part}}) {{moves}}", colour=colour),
            says(m.MovesAction, f"{colour.name}: {{text:text}}", colour=colour),
        )
    ),
)

TABLE: Final = says(m.TableBoard, "{state}")

OTHER_GAMES: Final[tuple[Wording[Any], ...]] = (
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
