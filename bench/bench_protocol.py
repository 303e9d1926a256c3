"""Lines per second that the protocol parses, compared with a plain list of patterns tried in order.

Usage: bench_protocol.py [LINES]

The mix is what a player's client sees in an evening: bursts of `5` lines, boards, rolls and moves, chat, reports. It is
made with a fixed seed. The baseline tries the grammar's own patterns one after the other, in the same run: in an order
that knows nothing of the mix, and in the table's own, in which the most frequent lines happen to stand first.
"""

from __future__ import annotations

import random
import sys
import time
import timeit
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.grammar import parse, write
from fibs_protocol.grammar.messages import WORDINGS
from fibs_protocol.grammar.templates import Wording
from fibs_protocol.lines import LineSplitter
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import YOU, Colour, FibsMove

ROUNDS: Final = 5
"""Number of runs, of which the fastest counts, because the machine may be busy."""
NAMES: Final = tuple(
    f"{first}_{last}" for first in ("Some", "player", "anton", "Zaphod") for last in "abcdefghijklmnop"
)
TALK: Final = ("hi", "good luck", "Anybody for a 5 point match?", "nice roll :-)", "thanks, bye", "You can't move.")


def who(rng: random.Random) -> m.Message:
    """Return the state of a user."""
    return m.WhoInfo(
        name=rng.choice(NAMES),
        opponent=rng.choice((None, *NAMES)),
        watching=None,
        ready=rng.random() < 0.7,
        away=rng.random() < 0.1,
        rating=round(rng.gauss(1600, 200), 2),
        experience=rng.randrange(100000),
        idle=rng.randrange(1000),
        login=1593791615 - rng.randrange(100000),
        host=f"host{rng.randrange(100)}.example.net",
        client=rng.choice((None, "ParlorBot", "3DFiBs4.0.79")),
        email=None,
    )


def board(rng: random.Random) -> m.Message:
    """Return a board with all checkers somewhere on the points."""
    points = [0] * 26
    places = rng.sample(range(1, 25), 24)
    for sign, own in ((1, places[:12]), (-1, places[12:])):
        for place in rng.choices(own, k=15):
            points[place] += sign
    return m.Board(
        BoardState(
            player=YOU,
            opponent=rng.choice(NAMES),
            length=5,
            score=rng.randrange(5),
            opponent_score=rng.randrange(5),
            points=tuple(points),
            turn=Colour.O,
            dice=(rng.randint(1, 6), rng.randint(1, 6)),
            opponent_dice=(0, 0),
            cube=1,
            may_double=True,
            opponent_may_double=True,
            was_doubled=False,
            colour=Colour.O,
            direction=-1,
            home=0,
            bar=25,
            off=0,
            opponent_off=0,
            on_bar=0,
            opponent_on_bar=0,
            can_move=2,
            forced_move=0,
            post_crawford=0,
            redoubles=0,
        )
    )


def moves(rng: random.Random) -> m.Message:
    """Return a play of two moves."""
    return m.Moves(rng.choice(NAMES), tuple(FibsMove(rng.randint(7, 24), rng.randint(1, 6)) for _ in range(2)))


def rare(rng: random.Random) -> m.Message:
    """Return one of the less frequent lines."""
    name, other = rng.sample(NAMES, 2)
    return rng.choice(
        (
            m.MatchReportStart(name, other, 5),
            m.MatchReportEnd(name, other, 5, 5, 2),
            m.WatchedDouble(name),
            m.OpponentDoubles(name),
            m.DoubleAccepted(name, 2),
            m.CannotMove(name),
            m.RollOrDouble(),
            m.Invitation(name, 3),
            m.GameWon(YOU, 2),
            m.Score(5, name, 3, other, 1),
            m.Heard(2),
            m.NotYourRoll(),
            m.StartsWatching(name, other),
        )
    )


MIX: Final[tuple[tuple[int, Callable[[random.Random], m.Message]], ...]] = (
    (40, who),
    (14, lambda _: m.WhoEnd()),
    (12, board),
    (9, lambda rng: m.Rolls(rng.choice((YOU, *NAMES)), (rng.randint(1, 6), rng.randint(1, 6)))),
    (9, moves),
    (7, lambda rng: rng.choice((m.Kibitzes, m.Says, m.Shouts))(rng.choice(NAMES), rng.choice(TALK))),
    (4, lambda rng: rng.choice((m.LoggedIn, m.LoggedOut))((name := rng.choice(NAMES)), f"{name} logs in.")),
    (5, rare),
)
"""Number of lines of each kind per hundred."""


def make_lines(count: int) -> list[str]:
    """Return the mixture of lines, the same in every run."""
    rng = random.Random(1992)
    makers = rng.choices([make for _, make in MIX], [weight for weight, _ in MIX], k=count)
    return [write(make(rng)) for make in makers]


def in_turn(wordings: Sequence[Wording[Any]]) -> Callable[[str], m.Message]:
    """Return a parser that tries all patterns in their order."""
    patterns = [(wording.regex.fullmatch, wording.read) for wording in wordings]

    def parse_naively(line: str) -> m.Message:
        for matches, read in patterns:
            if matches(line):
                message: m.Message | None = read(line)
                if message is not None:
                    return message
        return m.Unknown(line)

    return parse_naively


CLOCK_STEP: Final = time.get_clock_info("process_time").resolution


def best(work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of a few runs."""
    return min(timeit.repeat(work, repeat=ROUNDS, number=1, timer=time.process_time))


def each(function: Callable[[str], object], lines: Iterable[str]) -> Callable[[], object]:
    """Return a benchmark that calls a function on every line."""
    return lambda: [function(line) for line in lines]


def with_token(line: str, index: int, token: str) -> str:
    """Return a `board:` line with another token."""
    tokens = line.split(":")
    tokens[index] = token
    return ":".join(tokens)


REFUSED: Final[dict[str, Callable[[str], str]]] = {
    "a checker too many": lambda line: with_token(line, 45, "1"),
    "dice that do not exist": lambda line: with_token(line, 33, "7"),
    "a token too many": lambda line: f"{line}:0",
    "a token too few": lambda line: line.rpartition(":")[0],
    "no number": lambda line: with_token(line, 20, "x"),
}
"""Boards that are refused; none of them has another line glued to it."""
HOSTILE: Final = {
    "no line's end": b"x",
    "CR alone": b"\r",
    "CR and then an odd byte": b"a\r" * 4000 + b"\x01\n",
    "a prompt in each line": b"x\n> ",
    "nearly a prompt": b"Please give your passwor\n",
    "an odd byte in each line": b"ab\x01\n",
    "telnet options": b"\xff\xfb\x01",
    "a subnegotiation without an end": b"\xff\xfa",
}
"""Bytes that nobody sends in good faith, repeated."""
LIMIT_OF_REFUSED: Final = 2
"""How many times as long as a good board a refused one may take."""
LIMIT_OF_GROWTH: Final = 8
"""How many times as long four times as many hostile bytes may take; 4 if the time grows as they do."""


def receive(reader: MessageReader | LineSplitter, take: Callable[[], object], data: bytes) -> None:
    """Read as a client does, in chunks as they arrive from the network."""
    for place in range(0, len(data), 1400):
        reader.receive_data(data[place : place + 1400])
        while take():
            pass


def read_stream(data: bytes) -> None:
    """Parse all messages."""
    reader = MessageReader()
    receive(reader, reader.next_message, data)


def split_stream(data: bytes) -> None:
    """Split into lines only."""
    splitter = LineSplitter()
    receive(splitter, splitter.next_line, data)


def main() -> None:
    """Measure and print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    lines = make_lines(count)
    few = lines[: max(1, count // 10)]
    said = [parse(line) for line in lines]
    shuffled = random.Random(1).sample(WORDINGS, len(WORDINGS))
    data = "".join(f"{line}\r\n" for line in lines).encode("ascii")
    naive = best(each(in_turn(shuffled), few)) / len(few)
    own_order = best(each(in_turn(WORDINGS), few)) / len(few)
    quick = best(each(parse, lines)) / count
    readers = [(line, next(w.read for w in WORDINGS if w.read(line) is not None)) for line in lines]
    known = best(lambda: [read(line) for line, read in readers]) / count
    rows = (
        ("all patterns in turn (baseline)", naive),
        ("... numbered lines first", own_order),
        ("grammar.parse", quick),
        ("... if the wording were known", known),
        ("... the `5` lines", _one_kind(lines, "5 ")),
        ("... the boards", _one_kind(lines, "board:")),
        ("LineSplitter, bytes to lines", best(lambda: split_stream(data)) / count),
        ("MessageReader, bytes to messages", best(lambda: read_stream(data)) / count),
        ("grammar.write", best(lambda: [write(message) for message in said]) / count),
    )
    print(f"{count} lines, {len(WORDINGS)} wordings, best of {ROUNDS}")
    print(f"{'':34}{'lines/s':>10}{'us/line':>9}{'x baseline':>12}")
    for name, seconds in rows:
        print(f"{name:34}{1 / seconds:>10,.0f}{seconds * 1e6:>9.2f}{naive / seconds:>12.1f}")
    _refused_boards([line for line in lines if line.startswith("board:")])
    _hostile_bytes(1 << 15)
    print("Making the messages costs the same everywhere; below it no parser with these messages can get.")


def _refused_boards(boards: list[str]) -> None:
    """Print what boards cost from bytes to messages, beside a good one."""

    def seconds(lines: list[str]) -> float:
        data = "".join(f"{line}\r\n" for line in lines).encode("ascii")
        return best(lambda: read_stream(data)) / max(1, len(lines))

    good = seconds(boards)
    print(f"\n{'a good board':34}{good * 1e6:>10.1f} us")
    for name, change in REFUSED.items():
        refused = seconds([change(line) for line in boards])
        print(f"{name:34}{refused * 1e6:>10.1f} us{refused / good:>10.1f} times, limit {LIMIT_OF_REFUSED}")


def _hostile_bytes(size: int) -> None:
    """Print how the splitter's time grows with bytes that are made to cost much."""

    def seconds(piece: bytes, count: int) -> float:
        data = (piece * (count // len(piece) + 1))[:count]
        return best(lambda: split_stream(data))

    for name, piece in HOSTILE.items():
        few, many = seconds(piece, size), seconds(piece, 4 * size)
        growth = many / max(few, CLOCK_STEP)
        print(f"{name:34}{many / 4 / size * 1e9:>10.0f} ns/byte{growth:>6.1f} times, limit {LIMIT_OF_GROWTH}")
    print()


def _one_kind(lines: list[str], beginning: str) -> float:
    chosen = [line for line in lines if line.startswith(beginning)]
    return best(each(parse, chosen)) / max(1, len(chosen))


if __name__ == "__main__":
    main()
