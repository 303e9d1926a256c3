"""What XGID and Match ID share: the cube as a logarithm, and a post-Crawford game told only by the score."""

from __future__ import annotations

from fibsbot.notation.errors import expected


def log_of_cube(cube: int, most: int) -> int:
    """Return the logarithm to the base 2 of the cube's value; raise NotationError unless it is 0 to `most`."""
    if cube < 1 or cube & (cube - 1) or cube > 1 << most:
        raise expected(f"a cube that is a power of two up to {1 << most}", cube)
    return cube.bit_length() - 1


def infer_post_crawford(length: int, score: tuple[int, int], *, crawford: bool) -> bool:
    """Whether the Crawford game has been played: somebody is a point away, and this is not it."""
    return length > 1 and length - 1 in score and not crawford
