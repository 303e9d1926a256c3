"""What keys mean, and the line of keys that says what may be done now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import field, frozen

from fibsbot.rules.laws import REDOUBLE_NAMES, Level
from fibsbot.table.model import Action, Preference, TableModel

ACTION_KEYS: Final[Mapping[str, tuple[Action, ...]]] = {
    "space": (Action.DONE, Action.ROLL, Action.NEXT),
    "d": (Action.DOUBLE,),
    "t": (Action.TAKE,),
    "p": (Action.PASS,),
    "b": (Action.BEAVER,),
    "y": (Action.ACCEPT,),
    "n": (Action.REJECT, Action.NEXT),
    "x": (Action.REJECT_ROLL,),
    "u": (Action.UNDO,),
    "backspace": (Action.UNDO,),
    "s": (Action.SWAP,),
    "r": (Action.RESIGN,),
}
"""The actions of each key; the first that may be done is done."""
PREFERENCE_KEYS: Final[Mapping[str, Preference]] = {
    "a": Preference.ROLL,
    "f": Preference.FORCED,
    "g": Preference.GREEDY,
}
TUTOR_KEY: Final = "c"
"""Switches the tutor, which checks decisions."""
LABELS: Final[Mapping[Action, str]] = {
    Action.DONE: "done",
    Action.ROLL: "roll",
    Action.NEXT: "next game",
    Action.DOUBLE: "double",
    Action.TAKE: "take",
    Action.PASS: "pass",
    Action.ACCEPT: "accept",
    Action.REJECT: "reject",
    Action.REJECT_ROLL: "reject roll",
    Action.UNDO: "undo",
    Action.SWAP: "swap dice",
    Action.RESIGN: "resign",
}
CONFIRMED: Final = frozenset({Action.DOUBLE, Action.PASS, Action.BEAVER})
"""Actions that are asked about first."""
LEVELS: Final = ", ".join(f"{level.value} {level.name.lower()}" for level in Level)


@frozen
class Prompt:
    """A question that is answered by one key; any other key leaves all as it is."""

    text: str
    answers: Mapping[str, Callable[[], object]] = field(factory=dict)


@frozen
class KeyLabel:
    """A key that may be pressed, and what it does."""

    key: str
    label: str

    @property
    def text(self) -> str:
        """The key and its label, as on the screen: `[u]ndo`, `[space] roll`."""
        if self.label.startswith(self.key):
            return f"[{self.key}]{self.label.removeprefix(self.key)}"
        return f"[{self.key}] {self.label}"


ALWAYS: Final = (KeyLabel("h", "help"), KeyLabel("q", "quit"))


def label_of(action: Action, model: TableModel) -> str:
    """Return the label of an action; an instant redouble has a name of its own each time."""
    if action is Action.BEAVER:
        return REDOUBLE_NAMES[min(model.state.redoubles, len(REDOUBLE_NAMES) - 1)]
    return LABELS[action]


def labels_of(model: TableModel, more: Sequence[KeyLabel] = ()) -> list[KeyLabel]:
    """Return what may be done now, with its keys; `more` are those of what the table offers beside the match."""
    found, done, possible = [], set[Action](), model.actions
    for key, actions in ACTION_KEYS.items():
        action = next((one for one in actions if one in possible), None)
        if action is not None and action not in done:
            found.append(KeyLabel(key, label_of(action, model)))
            done.add(action)
    if Action.MOVE in possible:
        found += [KeyLabel("tab", "checker"), KeyLabel("enter", "move"), KeyLabel("/", "type")]
    return [*found, *more, *ALWAYS]


@frozen
class Digits:
    """Digits that were typed, and what they mean among the numbers that may be typed."""

    typed: str = ""

    def after(self, digit: str, numbers: Sequence[int]) -> Digits:
        """Return the digits with another one; without those before it if they cannot go on so."""
        longer = self.typed + digit
        return Digits(longer if self.typed and _possible(longer, numbers) else digit)

    def meant(self, numbers: Sequence[int]) -> int | None:
        """Return the number that is meant; None while a longer one is possible, or if there is none of this kind."""
        possible = _possible(self.typed, numbers)
        return possible[0] if len(possible) == 1 and str(possible[0]) == self.typed else None

    def entered(self, numbers: Sequence[int]) -> int | None:
        """Return the number that is meant when no more digits come."""
        return int(self.typed) if self.typed and int(self.typed) in numbers else None

    def open(self, numbers: Sequence[int]) -> bool:
        """Return whether more digits may come."""
        return bool(_possible(self.typed, numbers))


def _possible(typed: str, numbers: Sequence[int]) -> list[int]:
    return [number for number in numbers if str(number).startswith(typed)]
