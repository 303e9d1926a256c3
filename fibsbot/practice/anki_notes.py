"""An exercise as a note of Anki: the board as pictures, question, answer, tags, and the style of the card.

Names and texts come from strangers and are shown by Anki's web view: besides HTML, Anki looks for sounds and LaTeX in
square brackets and for formulas after backslashes.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from attrs import frozen

from fibsbot.analysis.model import Grade, ValuedChoice
from fibsbot.drawing.caption import caption_of_state
from fibsbot.drawing.html import Child, Html, join_html, tag
from fibsbot.drawing.markup import clean, escape
from fibsbot.drawing.scene import ViewOptions
from fibsbot.drawing.sentences import describe_state
from fibsbot.drawing.svg import board_svg
from fibsbot.drawing.themes import Theme
from fibsbot.position import Play
from fibsbot.practice.exercises import NAME_LENGTH, Exercise, ExerciseKind
from fibsbot.practice.wording import KINDS, origin, texts_to_choose
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.strategies.base import Chances

FIELDS: Final = ("Title", "Board", "Question", "Solution", "Answer", "Source", "Remarks")
"""The fields of a note; the first one is what Anki's browser lists, and the last one is the person's own."""
FRONT: Final = '<div class="fibsbot">{{Board}}{{Question}}</div>'
BACK: Final = (
    '<div class="fibsbot solved">{{Solution}}{{Question}}{{Answer}}{{Source}}'
    '{{#Remarks}}<div class="remarks">{{Remarks}}</div>{{/Remarks}}</div>'
)
STYLE: Final = """\
.card { --paper: #fbfaf7; --ink: #1b2430; --faint: #4d5762; --line: #dcdad4; margin: 0; padding: 8px;
  background: var(--paper); color: var(--ink); font: 17px/1.4 system-ui, sans-serif; }
.card.nightMode, .card.night_mode, .nightMode .card, .night_mode .card { --paper: #14181d; --ink: #e8ebf0;
  --faint: #a3afbc; --line: #2c343d; }
.fibsbot { max-width: 640px; margin: 0 auto; text-align: left; }
.fibsbot img { display: block; width: 100%; max-width: 100%; height: auto; max-height: none; margin: 0 0 8px; }
.fibsbot img.dark, .nightMode .fibsbot img.light, .night_mode .fibsbot img.light { display: none; }
.nightMode .fibsbot img.dark, .night_mode .fibsbot img.dark { display: block; }
.fibsbot p { margin: 0 0 6px; }
.fibsbot .question { font-size: 20px; font-weight: 600; }
.fibsbot .note, .fibsbot th { color: var(--faint); font-size: 14px; font-weight: 400; text-align: left; }
.fibsbot ul { margin: 0 0 8px; padding-left: 22px; }
.solved ul { display: none; }
.fibsbot table { width: 100%; margin: 8px 0; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.fibsbot td { padding: 4px 0 0; }
.fibsbot td.note { padding: 0 0 4px; border-bottom: 1px solid var(--line); }
.fibsbot .number { padding-left: 8px; text-align: right; white-space: nowrap; }
.fibsbot .played { text-decoration: underline; }
"""
TAG: Final = "fibsbot"
"""Above all tags of the notes, in Anki's tree of tags."""
_FILE_DIGITS: Final = 20
"""Hexadecimal digits in the name of a picture."""
_GRADES: Final = {Grade.DOUBTFUL: "doubtful", Grade.ERROR: "error", Grade.BLUNDER: "blunder"}
_READ_BY_ANKI: Final = str.maketrans({"[": "&#91;", "]": "&#93;", "{": "&#123;", "}": "&#125;", "\\": "\u2216"})
"""Marks by which Anki finds sounds, LaTeX, fields and formulas; a backslash counts however it is written."""


@frozen
class AnkiNote:
    """An exercise as Anki has it."""

    guid: str
    """Names the note for ever: Anki updates a note that it has, and keeps what was learnt."""
    deck: tuple[str, ...]
    """Names of the decks in each other, the outermost first."""
    fields: tuple[str, ...]
    """HTML, but for the title, in the order of FIELDS."""
    tags: tuple[str, ...]
    pictures: dict[str, str]
    """The content of each picture by the name of its file, which depends on the content alone."""
    depth: int
    """Plies of the evaluation: a deeper one replaces another."""


def note_of(exercise: Exercise) -> AnkiNote:
    """Return the note of an exercise."""
    asked, asked_pictures = _board(exercise, None)
    solved, solved_pictures = _board(exercise, exercise.best.play)
    player = clean(exercise.player, NAME_LENGTH)
    title = f"{player} {origin(exercise)}: {exercise.title}"
    return AnkiNote(
        guid=f"{TAG}-{exercise.id}",
        deck=(
            deck_name(exercise.state.rules.title),
            f"Errors of {deck_name(player)}",
            KINDS[exercise.kind].capitalize(),
        ),
        fields=(_plain(title), asked, _question(exercise), solved, _answer(exercise), _source(exercise), ""),
        tags=_tags(exercise),
        pictures=asked_pictures | solved_pictures,
        depth=exercise.best.plies or 0,
    )


def deck_name(name: str) -> str:
    """Return a name as a part of a deck's name: `::` separates decks, and Anki drops quotation marks."""
    return re.sub(r'[:"]', "-", clean(name)) or "?"


def tag_name(text: str) -> str:
    """Return text as a part of a tag: blanks separate tags, and `::` their levels."""
    return re.sub(r"[\s:]+", "-", clean(text)).lower()


def _tags(exercise: Exercise) -> tuple[str, ...]:
    grade = exercise.grade
    parts = [("kind", exercise.kind.value)]
    if exercise.state.rules is BACKGAMMON:
        parts.append(("class", exercise.position_class))
    else:
        parts.append(("game", exercise.state.rules.full_name))
    if grade is not None:
        parts.append(("grade", _GRADES[grade]))
    return tuple(f"{TAG}::{name}::{tag_name(value)}" for name, value in parts)


# -- the fields -------------------------------------------------------------------------------------------------------


def _plain(text: str) -> Html:
    """Return text in one line as HTML in which Anki finds nothing."""
    return Html(escape(clean(text)).translate(_READ_BY_ANKI))


def _board(exercise: Exercise, play: Play | None) -> tuple[Html, dict[str, str]]:
    """Return the board, with a play by arrows, as elements and their pictures: one for light mode, one for dark."""
    names = clean(exercise.player, NAME_LENGTH), clean(exercise.opponent, NAME_LENGTH)
    title = _plain(caption_of_state(exercise.state, names, play).title)
    elements, pictures = [], {}
    for theme in (Theme.LIGHT, Theme.DARK):
        picture = board_svg(exercise.state, view=ViewOptions(theme=theme), play=play, names=names)
        name = f"{TAG}-{hashlib.sha256(picture.encode()).hexdigest()[:_FILE_DIGITS]}.svg"
        elements.append(Html(f'<img class="{theme.value}" alt="{title}" src="{name}">'))
        pictures[name] = picture
    return join_html(*elements), pictures


def _question(exercise: Exercise) -> Html:
    rules, score = exercise.state.rules, dict(describe_state(exercise.state))["score"]
    if rules is not BACKGAMMON:
        score = f"{rules.title} ({rules.full_name}), {score}"
    choices = [tag("li", _plain(exercise.choice_name(text))) for text in texts_to_choose(exercise)]
    return join_html(
        tag("p", _plain(exercise.title), class_="question"),
        tag("p", _plain(score), class_="note"),
        tag("ul", *choices) if choices else None,
    )


def _answer(exercise: Exercise) -> Html:
    best, grade = _plain(exercise.choice_name(exercise.best.text)), exercise.grade
    made = _plain(exercise.choice_name(exercise.made))
    word = f" ({_GRADES[grade]})" if grade else ""
    verb = "You played " if exercise.kind is ExerciseKind.PLAY else "You chose "
    lost = f", which lost {exercise.loss:.3f}{word}." if exercise.loss else ", which is as good."
    rows = [row for choice in exercise.choices for row in _rows(exercise, choice)]
    heads = (
        tag("th", "choice, chances in %" if exercise.best.chances else "choice"),
        *(tag("th", text, class_="number") for text in ("equity", "loss")),
    )
    return join_html(
        tag("p", "Best: ", tag("b", best), "."),
        tag("p", verb, tag("b", made), lost) if exercise.made != exercise.best.text else None,
        tag("table", tag("tr", *heads), *rows),
        tag("p", f"Chances in %: {_chances(exercise.chances)}", class_="note") if exercise.chances else None,
    )


def _rows(exercise: Exercise, choice: ValuedChoice) -> list[Html]:
    name: Child = _plain(exercise.choice_name(choice.text))
    if choice.text == exercise.best.text:
        name = tag("b", name)
    if choice.text == exercise.made:
        name = tag("span", name, class_="played")
    loss = f"{choice.loss:.3f}" if choice.loss else ""
    numbers = (tag("td", text, class_="number") for text in (f"{choice.equity:+.3f}", loss))
    found = [tag("tr", tag("td", name), *numbers)]
    if choice.chances:
        found.append(tag("tr", tag("td", _chances(choice.chances), class_="note", colspan=3)))
    return found


def _chances(chances: Chances) -> str:
    win, gammon, backgammon, lose, lose_gammon, lose_backgammon = (f"{100 * chance:.1f}" for chance in chances)
    return f"win {win} (G {gammon}, BG {backgammon}), lose {lose} (G {lose_gammon}, BG {lose_backgammon})"


def _source(exercise: Exercise) -> Html:
    source = f"; {clean(exercise.source, 60)}" if exercise.source else ""
    evaluator = clean(exercise.evaluator, 120)
    return tag("p", _plain(f"{origin(exercise)}{source}. Evaluated by {evaluator}."), class_="note")
