"""Hypothesis strategies for all messages: one per form of a field, combined by the templates of the grammar."""

from __future__ import annotations

import datetime as dt
import functools
import string
from typing import Any, Final

from hypothesis import strategies as st

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.grammar.blocks import BLOCKS
from fibs_protocol.grammar.messages import WORDINGS
from fibs_protocol.grammar.templates import Wording
from fibs_protocol.table_state import SideState, TableCourse, TablePlayer, TableStage, TableState
from fibs_protocol.words import UNLIMITED, YOU, Colour, FibsMove, Setting, TableNaming, Toggle

PRINTABLE: Final = "".join(map(chr, range(32, 127)))

names = st.one_of(
    st.sampled_from([YOU, "Player", "X", "O", "is", "board", "Type", "marvin_42", "<bot>", "It's"]),
    st.text(string.ascii_letters + "_", min_size=3, max_size=20),
)
texts = st.text(PRINTABLE, max_size=60)
filled = texts.map(str.strip).filter(bool)
words = st.text(PRINTABLE.replace(" ", ""), min_size=1, max_size=30)
lengths = st.integers(1, 99) | st.just(UNLIMITED)
points = st.integers(1, 24)
moves = st.lists(st.builds(FibsMove, st.none() | points, st.none() | points), min_size=1, max_size=4).map(tuple)
dice = st.tuples(st.integers(1, 6), st.integers(1, 6))


def decimals(places: int) -> st.SearchStrategy[float]:
    return st.integers(-(10**9), 10**9).map(lambda n: n / 10**places)


@st.composite
def boards(draw: st.DrawFn) -> BoardState:
    """Generate boards with fifteen checkers a side, wherever a line can show them."""
    cells = [0] * 26
    places = draw(st.permutations(range(1, 25)))
    for sign, own, bar in ((1, places[:12], 25), (-1, places[12:], 0)):
        for place in draw(st.lists(st.sampled_from([*own, bar]), max_size=15)):
            cells[place] += sign
    colour = draw(st.sampled_from(Colour))
    off = {1: 15 - sum(n for n in cells if n > 0), -1: 15 + sum(n for n in cells if n < 0)}
    on_bar = {1: cells[25], -1: -cells[0]}
    down = draw(st.booleans())
    rolled = draw(st.sampled_from([(0, 0)]) | dice)
    return BoardState(
        player=draw(names),
        opponent=draw(names),
        length=draw(lengths),
        score=draw(st.integers(0, 99)),
        opponent_score=draw(st.integers(0, 99)),
        points=tuple(cells),
        turn=draw(st.sampled_from([None, *Colour])),
        dice=rolled,
        opponent_dice=(0, 0) if any(rolled) else draw(st.sampled_from([(0, 0)]) | dice),
        cube=2 ** draw(st.integers(0, 10)),
        may_double=draw(st.booleans()),
        opponent_may_double=draw(st.booleans()),
        was_doubled=draw(st.booleans()),
        colour=colour,
        direction=-1 if down else 1,
        home=0 if down else 25,
        bar=25 if down else 0,
        off=off[colour],
        opponent_off=off[-colour],
        on_bar=on_bar[colour],
        opponent_on_bar=on_bar[-colour],
        can_move=draw(st.integers(0, 4)),
        forced_move=draw(st.integers(0, 5)),
        post_crawford=draw(st.integers(0, 1)),
        redoubles=draw(st.integers(0, 99)),
    )


game_names = st.from_regex(r"[a-z][a-z0-9-]{0,20}(:[a-z0-9-]{1,20}){0,3}", fullmatch=True)
parts = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)
choices = st.lists(points, min_size=1, max_size=6, unique=True).map(tuple)
marks = st.lists(st.sampled_from(["released", "five_left", "started"]), unique=True).map(tuple)


@st.composite
def sides(draw: st.DrawFn) -> tuple[SideState, SideState, TableCourse]:
    """Generate the two sides of a table: checkers where the other side has none, or on top of one."""
    course = draw(st.sampled_from(TableCourse))
    checkers = draw(st.integers(1, 15))
    rows = [[0] * 26, [0] * 26]
    pinned: list[set[int]] = [set(), set()]
    places = draw(st.permutations(range(1, 25)))
    for side, own in ((0, places[:12]), (1, [course.facing(place) for place in places[12:]])):
        for place in draw(st.lists(st.sampled_from([*own, 0, 25]), min_size=checkers, max_size=checkers)):
            rows[side][place] += 1
    for place in draw(st.lists(st.sampled_from(places), max_size=3, unique=True)):
        side, under = (0, place) if rows[0][place] else (1, course.facing(place))
        over = course.facing(under)
        if rows[side][under] == 1 and rows[1 - side][25]:
            rows[1 - side][25] -= 1
            rows[1 - side][over] += 1
            pinned[side].add(under)
    made = [
        SideState(
            row=tuple(row),
            pinned=tuple(sorted(under)),
            hit=draw(st.integers(0, row[25])),
            throws=draw(st.integers(0, 99)),
            marks=draw(marks),
            head=draw(st.integers(0, 2)),
            held=tuple(draw(st.lists(points, max_size=3))),
        )
        for row, under in zip(rows, pinned, strict=True)
    ]
    return made[0], made[1], course


@st.composite
def tables(draw: st.DrawFn) -> TableState:
    """Generate states of any tables game, wherever a line can show them."""
    side, opponent_side, course = draw(sides())
    stage = draw(st.sampled_from(TableStage))
    nobody = stage in {TableStage.OPENING, TableStage.OVER}
    resignation = 0 if stage is TableStage.OVER else draw(st.integers(0, 9))
    decides = (not nobody and stage is not TableStage.CONTEST) or bool(resignation)
    following = draw(st.lists(st.sampled_from(["55", "5555", "66<=?+", "roll", "name_double"]), max_size=3))
    part = draw(st.from_regex(r"[1-6]{1,4}<?=?\??\+?", fullmatch=True))
    names_now = stage is TableStage.NAME
    cube = 2 ** draw(st.integers(0, 10))
    return TableState(
        player=draw(names),
        opponent=draw(names),
        game=draw(game_names),
        course=course,
        length=draw(lengths),
        score=draw(st.integers(0, 99)),
        opponent_score=draw(st.integers(0, 99)),
        colour=draw(st.sampled_from(Colour)),
        stage=stage,
        turn=None if nobody else draw(st.sampled_from(TablePlayer)),
        decides=draw(st.sampled_from(TablePlayer)) if decides else None,
        dice=draw(parts) if stage is TableStage.MOVE else (),
        rolls=draw(st.integers(0, 3)),
        todo=(part, *following) if stage is TableStage.MOVE else ("roll",) if names_now else (),
        passed=draw(st.booleans()),
        naming=draw(st.sampled_from(TableNaming)) if names_now else None,
        choices=draw(choices) if names_now else (),
        cube=cube,
        offered=2 * cube if stage is TableStage.DOUBLED else 0,
        resignation=resignation,
        may_double=draw(st.booleans()),
        opponent_may_double=draw(st.booleans()),
        side=side,
        opponent_side=opponent_side,
    )


FORMS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "name": names,
    "typed": words.map(lambda word: word.strip("'.")).filter(bool),
    "zones": st.lists(names, min_size=1, max_size=5).map(tuple),
    "word": words,
    "value": words.map(lambda word: word.strip("'.")).filter(bool),
    "host": words.map(lambda word: f"{word}.org"),
    "quoted": filled,
    "sentence": filled,
    "phrase": filled.map(lambda text: text.rstrip(". ")).filter(bool),
    "text": texts,
    "dash": st.none() | names,
    "list": st.lists(names, min_size=1, max_size=5).map(tuple),
    "names": st.lists(names, max_size=5).map(tuple).filter(lambda it: it != ("none",)),  # `none` means no names
    "number": st.integers(0, 10**17),
    "seconds": st.integers(-(10**17), 10**17),
    "die": st.integers(1, 6),
    "rating": decimals(2),
    "tenth": decimals(1),
    "decimal": decimals(6),
    "change": decimals(6),
    "points": st.integers(0, 200),
    "pieces": st.integers(0, 4),
    "users": st.integers(0, 500),
    "saved_games": st.integers(0, 500),
    "match": lengths,
    "bare_match": lengths,
    "hyphen_match": lengths,
    "length": lengths,
    "saved_length": lengths,
    "ordinal": st.integers(1, 4),
    "redoubles": st.none() | st.integers(0, 99),
    "idle": st.integers(0, 10**6),
    "watching": st.none() | names,
    "stars": st.integers(0, 2),
    "star": st.booleans(),
    "flag": st.booleans(),
    "yes_no": st.booleans(),
    "ready": st.booleans(),
    "restart": st.booleans(),
    "colour": st.sampled_from(Colour),
    "toggle": st.sampled_from(Toggle),
    "setting": st.sampled_from(Setting),
    "animal": st.sampled_from(["beaver", "raccoon", "otter"]),
    "dice": dice,
    "dice_pair": dice,
    "moves": moves,
    "offs": st.lists(points, min_size=1, max_size=4).map(tuple),
    "board": boards(),
    "table": tables(),
    "naming": st.sampled_from(TableNaming),
    "three_dice": st.tuples(*3 * [st.integers(1, 6)]),
    "part": parts,
    "odd_part": parts.filter(lambda numbers: len(numbers) != 2),
    "choices": choices,
    "game": game_names,
    "weektime": st.just("Wed 11:08 UTC"),
    "local": filled.map(lambda text: f"Friday, {text}"),
    "period": st.just("12:00-12:59"),
    "utc": st.integers(0, 4 * 10**9).map(lambda seconds: dt.datetime.fromtimestamp(seconds, dt.UTC)),
}

BY_CONTEXT: Final = {
    wording.cls: opener
    for opener, block in BLOCKS.items()
    for wording in (block.row, block.end)
    if wording is not None and wording not in WORDINGS
}
"""Kinds of messages that are recognised only after another line, with the kind of that line."""
SPOKEN: Final = [wording for wording in WORDINGS if wording.spoken]
GROUPS: Final = [SPOKEN[start : start + 12] for start in range(0, len(SPOKEN), 12)]
"""The wordings in groups: a test of a single one spends most of its time on its beginning."""
KINDS: Final = {wording.cls for wording in SPOKEN}


@functools.cache
def said(wording: Wording[Any]) -> st.SearchStrategy[Any]:
    """Generate messages of one wording."""
    fields = {name: FORMS[slot.form.name] for name, slot in wording.slots.items()}
    return st.builds(wording.cls, **{**fields, **{name: st.just(value) for name, value in wording.fixed.items()}})


def all_kinds() -> set[type[m.Message]]:
    """Return every message class of the protocol, without the two base classes."""
    found = {kind for kind in vars(m).values() if isinstance(kind, type) and issubclass(kind, m.Message)}
    return found - {m.Message, m.Refusal}


messages = st.sampled_from(SPOKEN).flatmap(said)
