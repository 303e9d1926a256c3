"""Decisions of analysed matches as exercises: what is asked, what each choice is worth, and what was played.

An exercise is complete: showing it needs neither the match nor an evaluator. It can be written as JSON.
"""

from __future__ import annotations

import datetime as dt
import enum
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import evolve, frozen

from fibsbot.analysis.model import (
    AnalysedDecision,
    Grade,
    MatchAnalysis,
    ValuedChoice,
    grade,
    loss_against,
)
from fibsbot.analysis.selection import (
    ACCEPT,
    DOUBLE,
    GRADED,
    NAME,
    PLAY,
    RESIGN,
    TAKE,
    DecisionSelection,
    decision_kind,
)
from fibsbot.drawing.markup import clean
from fibsbot.games.sides_text import format_sides
from fibsbot.games.state_json import StateJsonError, state_flaw, state_from_json, state_to_json
from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.position import Play
from fibsbot.rules.laws import REDOUBLE_NAMES, Level
from fibsbot.rules.state import Seat
from fibsbot.strategies.base import Chances, CubeValues, reversed_chances
from fibsbot.text import describe_error
from fibsbot.transcript import Decision, Game, Throw, Transcript

ID_LENGTH: Final = 20
"""Hexadecimal digits of an exercise's ID."""
NAME_LENGTH: Final = 30
"""Characters of a name that are shown."""
_LEAST_CHOICES: Final = 2
"""Choices that a decision has at least."""


class ExerciseError(ValueError):
    """Values that are no exercise; the text is one line."""


class ExerciseKind(enum.Enum):
    """What an exercise asks for; the value is a name in JSON."""

    PLAY = "play"
    """Which play, after the roll."""
    OFFER = "offer"
    """Whether to double before the roll."""
    ANSWER = "answer"
    """Take, pass or beaver."""
    NAME = "name"
    """Which double to play or which point to open, in games with such a law."""
    RESIGNATION = "resignation"
    """Whether to resign."""
    ACCEPTANCE = "acceptance"
    """Whether to accept a resignation."""


@frozen
class Exercise:
    """A decision of a player, to be made again: the same for every file that has the match and every evaluation."""

    id: str
    """Names the decision, by the content of the match alone; see `exercise_id`."""
    kind: ExerciseKind
    state: MatchState
    """The decision as the player sees it: board, dice, cube, score."""
    choices: tuple[ValuedChoice, ...]
    """The best first; of plays the best ones and that which was made, of all other decisions every choice."""
    made: str
    """The text of the choice that was made."""
    position_class: str
    """A name of `analysis.position_classes.CLASSES`; `other` in games with another board than backgammon's."""
    player: str
    """Who decided."""
    opponent: str
    evaluator: str
    """Name, version and plies of the evaluator."""
    game: int
    """Number of the game in its match, from 1."""
    turn: int
    """Number of the turn in the game, from 1, as in links of report pages."""
    date: dt.datetime | None = None
    """When it was decided, or when the match began, UTC; None if the file does not say."""
    source: str = ""
    """Name of the file, or of the match in the store."""
    cube: CubeValues | None = None
    """Of a cube decision: its values for the player who may double."""
    chances: Chances | None = None
    """Of a decision that is no play: the chances of the player who decides, if the game is played on."""

    @property
    def best(self) -> ValuedChoice:
        """The best choice."""
        return self.choices[0]

    @property
    def loss(self) -> float:
        """What the choice that was made lost against the best one; normalised equity."""
        return next((choice.loss for choice in self.choices if choice.text == self.made), 0.0)

    @property
    def grade(self) -> Grade | None:
        """Grade of the choice that was made."""
        return grade(self.loss)

    @property
    def title(self) -> str:
        """The question as a person is asked it: `Your play with 3-1?`."""
        match self.kind:
            case ExerciseKind.PLAY:
                dice = self.state.dice or (self.state.part.numbers if self.state.todo else ())
                return f"Your play with {'-'.join(map(str, sorted(dice, reverse=True)))}?"
            case ExerciseKind.OFFER:
                return "Redouble, or roll?" if self.state.owner is Owner.PLAYER else "Double, or roll?"
            case ExerciseKind.ANSWER:
                return f"You are doubled to {2 * self.state.cube}. Your answer?"
            case ExerciseKind.NAME:
                naming = self.state.naming
                return f"You name {naming.value if naming else 'a number'}. Which?"
            case ExerciseKind.RESIGNATION:
                return "Resign, or play on?"
        return (
            f"{clean(self.opponent, NAME_LENGTH)} offers to resign {Level(self.state.resignation or 1).words}. Accept?"
        )

    def choice_name(self, text: str) -> str:
        """Return the text of a choice as a button or a card has it: `No double`; plays stay as they are."""
        if text == CubeAction.DOUBLE.value and self.state.owner is Owner.PLAYER:
            return "Redouble"
        if text == CubeAction.ROLL.value and self.state.owner is Owner.PLAYER:
            return "No redouble"
        if text == CubeAction.BEAVER.value and self.state.redoubled:
            return REDOUBLE_NAMES[1].capitalize()
        if text.startswith(_NAME):
            return text.removeprefix(_NAME)
        if text.startswith("resign "):
            return f"Resign {Level(int(text.removeprefix('resign '))).words}"
        return _CHOICE_NAMES.get(text, text)

    def choice_of(self, play: Play) -> ValuedChoice | None:
        """Return the choice that leads to the same board as a legal play; None if it is not among the choices."""
        after = self.state.board_after(play)
        plays = ((choice, choice.play) for choice in self.choices)
        return next(
            (choice for choice, made in plays if made is not None and self.state.board_after(made) == after), None
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values that `from_json` reads."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "state": state_to_json(self.state.game(Seat.A)),
            "choices": [_choice_to_json(choice) for choice in self.choices],
            "made": self.made,
            "class": self.position_class,
            "player": self.player,
            "opponent": self.opponent,
            "evaluator": self.evaluator,
            "game": self.game,
            "turn": self.turn,
            "date": self.date and self.date.isoformat(),
            "source": self.source,
            "cube": self.cube and _cube_to_json(self.cube),
            "chances": self.chances,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Exercise:
        """Read what `to_json` has written. Raises ExerciseError for anything else."""
        try:
            return _read(values)
        except StateJsonError as error:
            raise ExerciseError(str(error)) from None
        except (LookupError, TypeError, ValueError) as error:
            raise ExerciseError(f"expected an exercise: {describe_error(error)}"[:200]) from None


_NAME: Final = "name "
"""Before the number that a choice names."""
_CHOICE_NAMES: Final = {
    "roll": "No double",
    "double": "Double",
    "take": "Take",
    "pass": "Pass",
    "beaver": "Beaver",
    "accept": "Accept",
    "reject": "Reject",
    "play on": "Play on",
}


# -- from a match -----------------------------------------------------------------------------------------------------


def exercises_of(
    analysis: MatchAnalysis,
    seats: Collection[Seat] = tuple(Seat),
    *,
    selection: DecisionSelection = GRADED,
    source: str = "",
) -> Iterator[Exercise]:
    """Yield the decisions of a match that lost something, as exercises, in the order of the match.

    Args:
        analysis: the match.
        seats: whose decisions; by default those of both players.
        selection: which of them; `DecisionSelection()` for every decision with a choice.
        source: name of the file that the match is from.
    """
    from fibsbot.analysis.position_classes import classes_of  # noqa: PLC0415 - loads the engine's arrays

    for game, analysed in zip(analysis.transcript.games, analysis.games, strict=True):
        possible = (one for one in analysed.decisions if one.decision.seat in seats and _has_choice(one))
        chosen = selection.of_match(analysis.transcript, possible)
        for one, position_class in zip(chosen, classes_of(one.decision for one in chosen), strict=True):
            yield exercise_of(analysis, game, one, position_class, source)


def own_seats(transcript: Transcript, player: str | None) -> list[Seat]:
    """Return whose decisions in a match are a person's own: the seats of `player`, or else of the log's owner."""
    if player is None:
        return [] if transcript.user is None else [transcript.user]
    return [seat for seat in Seat if transcript.players[seat].name == player]


def is_selected(exercise: Exercise, selection: DecisionSelection) -> bool:
    """Return whether an exercise is selected; its date is then that of the decision, if that is known."""
    return selection.has(
        player=exercise.player,
        started=exercise.date,
        kind=_DECISION_KINDS[exercise.kind],
        loss=exercise.loss,
        position_class=exercise.position_class,
    )


def _has_choice(analysed: AnalysedDecision) -> bool:
    return (len(analysed.options) or len(analysed.alternatives)) >= _LEAST_CHOICES


def exercise_of(
    analysis: MatchAnalysis, game: Game, analysed: AnalysedDecision, position_class: str = "", source: str = ""
) -> Exercise:
    """Return a decision in a game of a match as an exercise; it has choices."""
    transcript, decision = analysis.transcript, analysed.decision
    player, opponent = (transcript.players[seat].name for seat in (decision.seat, decision.seat.other))
    kind = _EXERCISE_KINDS[decision_kind(decision)]
    return Exercise(
        id=exercise_id(transcript, game, decision),
        kind=kind,
        state=decision.state,
        choices=choices_of(analysed),
        made=decision.text,
        position_class=position_class,
        player=player,
        opponent=opponent,
        evaluator=analysis.short_details or analysis.evaluator,
        game=decision.step.game,
        turn=decision.step.turn,
        date=decision.step.entry.at or transcript.started,
        source=source,
        cube=analysed.cube,
        chances=_chances(analysed),
    )


def exercise_of_position(
    state: MatchState, choices: Iterable[ValuedChoice], evaluator: str, chances: Chances | None = None
) -> Exercise:
    """Return a position, of no match, as an exercise; `choices` are the best ones and `chances` those before them."""
    return Exercise(
        id="",
        kind=_KINDS[state.phase],
        state=state,
        choices=tuple(sorted(choices, key=lambda choice: choice.loss)),
        made="",
        position_class="",
        player="you",
        opponent="opponent",
        evaluator=evaluator,
        game=0,
        turn=0,
        chances=chances,
    )


_KINDS: Final = {
    Phase.ROLL: ExerciseKind.OFFER,
    Phase.MOVE: ExerciseKind.PLAY,
    Phase.DOUBLED: ExerciseKind.ANSWER,
    Phase.RESIGNED: ExerciseKind.ACCEPTANCE,
    Phase.NAME: ExerciseKind.NAME,
}


def exercise_id(transcript: Transcript, game: Game, decision: Decision) -> str:
    """Return the ID of a decision in a game of a match, from what every file has: players, score, rolls, position.

    It says nothing of the file, of other games or matches in it, of the order of the seats, or of times, which many
    formats leave out. A part of the game that one file lacks, before the decision, makes another ID.
    """
    state = decision.state
    before = game.entries[: decision.step.index]
    # Some formats write a roll once more after a resignation that was refused before the play.
    rolls = [entry.numbers for entry in before if isinstance(entry, Throw) and entry.play is not None]
    dice = sorted(state.dice or (), reverse=True)
    known = (
        state.rules.full_name,
        sorted(player.name for player in transcript.players),
        transcript.players[decision.seat].name,
        (state.length, state.score, state.crawford),
        rolls,
        (state.phase.value, dice, format_sides(state.sides), state.cube, state.owner.value),
        # Who resigns in vain decides again, in the same position.
        *(["resign"] if isinstance(decision.answer, Level) else []),
    )
    return hashlib.sha256(repr(known).encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


def choices_of(analysed: AnalysedDecision) -> tuple[ValuedChoice, ...]:
    """Return the choices of an analysed decision, the best first."""
    if analysed.options:
        best = max(option.value.equity for option in analysed.options)
        found = [
            ValuedChoice(
                option.text,
                option.value.equity,
                loss_against(best, option.value.equity),
                option.play,
                option.value.chances,
                option.value.plies,
            )
            for option in analysed.options
        ]
    else:
        best = max((equity for _, equity in analysed.alternatives), default=0.0)
        plies = analysed.cube.plies if analysed.cube else None
        found = [
            ValuedChoice(text, equity, loss_against(best, equity), plies=plies)
            for text, equity in analysed.alternatives
        ]
    return tuple(sorted(found, key=lambda choice: choice.loss))


_EXERCISE_KINDS: Final = {
    PLAY: ExerciseKind.PLAY,
    DOUBLE: ExerciseKind.OFFER,
    TAKE: ExerciseKind.ANSWER,
    NAME: ExerciseKind.NAME,
    RESIGN: ExerciseKind.RESIGNATION,
    ACCEPT: ExerciseKind.ACCEPTANCE,
}
"""What is asked, by the kind of the decision."""
_DECISION_KINDS: Final = {asked: kind for kind, asked in _EXERCISE_KINDS.items()}


def _chances(analysed: AnalysedDecision) -> Chances | None:
    """Return the chances of the player who decides, before a decision that is no play."""
    if analysed.resigning is not None:
        return analysed.resigning.played_on.chances
    if analysed.cube is None or analysed.cube.chances is None:
        return None
    state = analysed.decision.state
    answers = state.phase is Phase.DOUBLED and not state.redoubled
    return reversed_chances(analysed.cube.chances) if answers else analysed.cube.chances


# -- JSON -------------------------------------------------------------------------------------------------------------


def _choice_to_json(choice: ValuedChoice) -> dict[str, Any]:
    return {
        "text": choice.text,
        "equity": choice.equity,
        "loss": choice.loss,
        "moves": choice.play and [[move.source, move.target] for move in choice.play.moves],
        "chances": choice.chances,
        "plies": choice.plies,
    }


def _cube_to_json(cube: CubeValues) -> dict[str, Any]:
    return {
        "no_double": cube.no_double,
        "double_take": cube.double_take,
        "double_pass": cube.double_pass,
        "plies": cube.plies,
        "chances": cube.chances,
    }


def _read(values: Mapping[str, Any]) -> Exercise:
    kind = ExerciseKind(values["kind"])
    game = state_from_json(values["state"])
    if flaw := state_flaw(game):
        raise ExerciseError(flaw)
    state = MatchState.of(game, Seat.A)
    if state is None:
        raise ExerciseError("expected a position in which the player decides")
    choices = tuple(map(_read_choice, values["choices"]))
    if len(choices) < _LEAST_CHOICES:
        raise ExerciseError(f"expected {_LEAST_CHOICES} choices or more, got {len(choices)}")
    cube = values["cube"]
    date = values["date"]
    return Exercise(
        id=str(values["id"]),
        kind=kind,
        state=evolve(state, may_reject=False) if kind is ExerciseKind.PLAY else state,
        choices=choices,
        made=str(values["made"]),
        position_class=str(values["class"]),
        player=str(values["player"]),
        opponent=str(values["opponent"]),
        evaluator=str(values["evaluator"]),
        game=int(values["game"]),
        turn=int(values["turn"]),
        date=None if date is None else dt.datetime.fromisoformat(date),
        source=str(values["source"]),
        cube=None if cube is None else CubeValues(**{**cube, "chances": _read_chances(cube["chances"])}),
        chances=_read_chances(values["chances"]),
    )


def _read_choice(values: Mapping[str, Any]) -> ValuedChoice:
    moves = values["moves"]
    play = None if moves is None else Play.of(*((int(source), int(target)) for source, target in moves))
    plies = values["plies"]
    return ValuedChoice(
        str(values["text"]),
        float(values["equity"]),
        float(values["loss"]),
        play,
        _read_chances(values["chances"]),
        None if plies is None else int(plies),
    )


def _read_chances(values: Any) -> Chances | None:
    if values is None:
        return None
    win, gammon, backgammon, lose, lose_gammon, lose_backgammon = map(float, values)
    return (win, gammon, backgammon, lose, lose_gammon, lose_backgammon)
