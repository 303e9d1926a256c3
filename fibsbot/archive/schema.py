"""The tables of an archive: each column with its type and meaning, declared once.

docs/how-to/archive.md is checked against it. A version adds columns, at the end of a table, and changes no other ones
but in name: files of all versions are read together, and a column that an old file does not have is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

VERSIONS: Final = {
    1: "The first one",
    2: "`stage` and `own_move` of decisions, `settled` and `played_on` of judgements: resignations are judged",
    3: "`decided` of decisions, which was `at`: DuckDB 2 has that word for itself",
    4: "`ruleset` of matches, `entry` of decisions: matches of every game",
}
"""The versions of the tables, and what each added."""
SCHEMA_VERSION: Final = max(VERSIONS)
"""The version that is written. Older archives are read; the first writing makes them archives of this version."""
RENAMED: Final = {"decided": "at"}
"""Columns that had another name in earlier versions."""
NO_YEAR: Final = 0
"""The partition of matches without a date."""


@frozen
class Column:
    """A column of a table."""

    name: str
    type: str
    """The type in DuckDB."""
    meaning: str
    since: int = 1
    """The version that added it."""


@frozen
class TableSchema:
    """A table of the archive; each is a folder of Parquet files."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    order: str
    """How the rows of a file are sorted."""
    by_year: bool = True
    """Whether it is partitioned by year."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order, without that of the partition."""
        return [column.name for column in self.columns]


def _columns(
    lines: Sequence[tuple[str, str, str]], added: Mapping[int, Sequence[tuple[str, str, str]]] | None = None
) -> tuple[Column, ...]:
    """Return the columns of the first version, and those that later ones have added."""
    later = [Column(*line, since) for since, columns in (added or {}).items() for line in columns]
    return (*(Column(*line) for line in lines), *later)


_KEY: Final = ("match", "BIGINT", "Key of the match: the first 8 bytes of its digest")
_PLACE: Final = (
    _KEY,
    ("game", "INTEGER", "Number of the game in the match, from 1"),
    ("number", "INTEGER", "Number of the decision in the game, from 1"),
)
_WHO: Final = (
    ("turn", "INTEGER", "Turn in the game, from 1; a double belongs to the turn of the player who doubles"),
    ("seat", "VARCHAR", "`A` or `B`: the player who decided"),
    ("player", "VARCHAR", "Name of that player"),
    ("kind", "VARCHAR", "`play`, `double` (double or roll), `take` (take, pass or beaver), `resign`, `accept`, `name`"),
)

_STAGE: Final = (
    "Of `resign` and `accept`, what was due: `opening`, `roll`, `move`, or the answer to a `double` or `beaver`"
)

_ENTRY: Final = "Of games whose boards are not those of backgammon: what happened, and the game before it, as our JSON"

MATCHES: Final = TableSchema(
    "matches",
    "A row per match",
    _columns(
        (
            _KEY,
            ("digest", "VARCHAR", "SHA-256 of the canonical transcript, in hexadecimal digits"),
            ("started", "TIMESTAMP", "Beginning, UTC; only a date where the source has no time"),
            ("ended", "TIMESTAMP", "Time at which it was won or last seen, UTC"),
            ("site", "VARCHAR", "Server or place"),
            ("length", "INTEGER", "Points; 0 is unlimited"),
            ("player_a", "VARCHAR", "Name of the player at seat A"),
            ("player_b", "VARCHAR", "Name of the player at seat B"),
            ("rating_a", "FLOAT", "Rating of A at the start"),
            ("rating_b", "FLOAT", "Rating of B at the start"),
            ("experience_a", "INTEGER", "Points that A had played before"),
            ("experience_b", "INTEGER", "Points that B had played before"),
            ("score_a", "INTEGER", "Points of A at the end, as far as they are known"),
            ("score_b", "INTEGER", "Points of B at the end"),
            ("winner", "VARCHAR", "`A` or `B`; NULL for an unfinished or unlimited match"),
            ("games", "INTEGER", "Number of games that were seen"),
            ("decisions", "INTEGER", "Number of rows in `decisions`"),
            ("whole", "BOOLEAN", "Whether it was seen from its first roll to its end, without a gap"),
            ("source", "VARCHAR", "File that it was read from"),
            ("source_number", "INTEGER", "Number of the match in that file, from 1"),
            ("format", "VARCHAR", "Format of the file: `mat`, `sgf`, `oldmoves`, `json`, `xg`, `capture`, `store`"),
        ),
        {4: (("ruleset", "VARCHAR", "Game that is played, with its options after colons; NULL is backgammon"),)},
    ),
    "match",
)
GAMES: Final = TableSchema(
    "games",
    "A row per game",
    _columns(
        (
            _KEY,
            ("game", "INTEGER", "Number of the game in the match, from 1"),
            ("score_a", "INTEGER", "Points of A before the game"),
            ("score_b", "INTEGER", "Points of B before the game"),
            ("crawford", "BOOLEAN", "Whether it is the Crawford game"),
            ("winner", "VARCHAR", "`A` or `B`; NULL if the end was not seen"),
            ("points", "INTEGER", "Points won"),
            ("level", "TINYINT", "1 single, 2 gammon, 3 backgammon"),
            ("ending", "VARCHAR", "`borne off`, `dropped`, `resigned`"),
            ("turns", "INTEGER", "Turns that were completed"),
            ("whole", "BOOLEAN", "Whether it was seen from its opening roll, without a gap"),
            ("laws", "VARCHAR", "Name of the laws"),
            ("jacoby", "BOOLEAN", "Whether gammons count only after a double"),
            ("beavers", "INTEGER", "Instant redoubles that are allowed"),
            ("cube", "BOOLEAN", "Whether there is a cube"),
            ("triple", "BOOLEAN", "Whether a backgammon counts three times"),
            ("point_game", "BOOLEAN", "Whether the winner scores for the checkers that the loser has left"),
        )
    ),
    "match, game",
)
DECISIONS: Final = TableSchema(
    "decisions",
    "A row per decision; everything is seen by the player who decided",
    _columns(
        (
            *_PLACE,
            *_WHO,
            ("position", "VARCHAR", "Position ID of GNU Backgammon; in other games the board in words"),
            ("dice", "VARCHAR", "The roll on the board, the highest number first: `31`; NULL before the roll"),
            ("action", "VARCHAR", "The play in notation, or `roll`, `double`, `take`, `pass`, `beaver`, `accept`..."),
            ("length", "INTEGER", "Points of the match; 0 is unlimited"),
            ("own_score", "INTEGER", "Points of the player before the game"),
            ("opponent_score", "INTEGER", "Points of the opponent before the game"),
            ("cube", "INTEGER", "Value of the cube, before the double that is answered"),
            ("owner", "VARCHAR", "`centred`, `player` or `opponent`"),
            ("crawford", "BOOLEAN", "Whether it is the Crawford game"),
            ("post_crawford", "BOOLEAN", "Whether the Crawford game has been played"),
            ("redoubles", "INTEGER", "Instant redoubles that are still allowed"),
            ("resignation", "TINYINT", "1 single, 2 gammon, 3 backgammon: what is offered or answered; else 0"),
            ("own_pips", "SMALLINT", "Pip count of the player"),
            ("opponent_pips", "SMALLINT", "Pip count of the opponent"),
            ("own_back", "TINYINT", "Checkers of the player in the opponent's home board or on the bar"),
            ("opponent_back", "TINYINT", "Checkers of the opponent in the player's home board or on the bar"),
            ("own_bar", "TINYINT", "Checkers of the player on the bar or in hand"),
            ("opponent_bar", "TINYINT", "Checkers of the opponent on the bar or in hand"),
            ("own_off", "TINYINT", "Checkers that the player has borne off"),
            ("opponent_off", "TINYINT", "Checkers that the opponent has borne off"),
            ("own_held", "INTEGER", "Points that the player holds by two checkers or more: bit n - 1 is point n"),
            ("opponent_held", "INTEGER", "Points that the opponent holds, numbered from the opponent's side"),
            ("own_blots", "INTEGER", "Points with one checker of the player"),
            ("opponent_blots", "INTEGER", "Points with one checker of the opponent, numbered from the opponent's side"),
            ("seconds", "FLOAT", "Thinking time"),
            ("rebuilt", "BOOLEAN", "Whether it was not seen but reconstructed"),
        ),
        {
            2: (
                ("stage", "VARCHAR", _STAGE),
                ("own_move", "BOOLEAN", "Of these: whether it was the turn of the player who decided"),
            ),
            3: (("decided", "TIMESTAMP", "Time, UTC"),),
            4: (("entry", "VARCHAR", _ENTRY),),
        },
    ),
    "match, game, number",
)
PLAYERS: Final = TableSchema(
    "players",
    "A row per player of each match",
    _columns(
        (
            _KEY,
            ("seat", "VARCHAR", "`A` or `B`"),
            ("player", "VARCHAR", "Name"),
            ("opponent", "VARCHAR", "Name of the opponent"),
            ("rating", "FLOAT", "Rating at the start"),
            ("opponent_rating", "FLOAT", "Rating of the opponent at the start"),
            ("experience", "INTEGER", "Points played before"),
            ("length", "INTEGER", "Points of the match; 0 is unlimited"),
            ("score", "INTEGER", "Points at the end"),
            ("won", "BOOLEAN", "Whether the player won; NULL if nobody has"),
        )
    ),
    "match, seat",
)
SOURCES: Final = TableSchema(
    "sources",
    "A row per file that was read",
    _columns(
        (
            ("source", "VARCHAR", "Name of the file"),
            ("digest", "VARCHAR", "SHA-256 of its content, in hexadecimal digits"),
            ("bytes", "BIGINT", "Size"),
            ("format", "VARCHAR", "Format; NULL if it could not be read"),
            ("matches", "INTEGER", "Matches in it"),
            ("new", "INTEGER", "Matches of these that the archive did not have"),
            ("problem", "VARCHAR", "What could not be read; NULL if all could"),
            ("version", "VARCHAR", "Version of the program that read it"),
            ("added", "TIMESTAMP", "When, UTC"),
        )
    ),
    "source",
    by_year=False,
)
JUDGEMENTS: Final = TableSchema(
    "judgements",
    "A row per decision and judge; equities are normalised (a single game at the present cube is 1)",
    _columns(
        (
            *_PLACE,
            *_WHO,
            ("judge", "VARCHAR", "The engine: version, plies and networks"),
            ("plies", "TINYINT", "Rolls looked ahead"),
            ("class", "VARCHAR", "Kind of position, such as `opening`, `holding` or `race`"),
            ("counts", "BOOLEAN", "Whether it counts for the performance rating: forced and obvious ones do not"),
            ("equity", "FLOAT", "Equity of what was decided"),
            ("loss", "FLOAT", "Equity lost against the best decision"),
            ("best", "VARCHAR", "The best decision"),
            ("luck", "FLOAT", "Of a play: how much better the roll was than the average one"),
            ("win", "FLOAT", "Chance to win: after the play, before the roll, or if the game goes on"),
            ("win_gammon", "FLOAT", "Chance to win a gammon or backgammon"),
            ("win_backgammon", "FLOAT", "Chance to win a backgammon"),
            ("lose_gammon", "FLOAT", "Chance to lose a gammon or backgammon"),
            ("lose_backgammon", "FLOAT", "Chance to lose a backgammon"),
            ("no_double", "FLOAT", "Of `double` and `take`: equity of the player on roll without doubling"),
            ("double_take", "FLOAT", "The same after a double that is taken"),
            ("double_pass", "FLOAT", "The same after a double that is passed"),
        ),
        {
            2: (
                ("settled", "FLOAT", "Of `resign` and `accept`: equity of the player if the resignation is accepted"),
                ("played_on", "FLOAT", "The same if the game goes on"),
            )
        },
    ),
    "match, game, number",
)
TABLES: Final = {table.name: table for table in (MATCHES, GAMES, DECISIONS, PLAYERS, SOURCES, JUDGEMENTS)}
"""All tables by name."""
ADDED: Final = (MATCHES, GAMES, DECISIONS, PLAYERS)
"""The tables of matches that are added, by year."""
