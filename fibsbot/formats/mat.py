"""`.mat`, the match format of Jellyfish that every program reads: to text and back."""

from __future__ import annotations

from fibsbot.formats.mat_reading import read_mat, read_mats
from fibsbot.formats.mat_writing import write_mat

__all__ = ["read_mat", "read_mats", "write_mat"]
