"""What the process and its commands say."""

from __future__ import annotations


def lasting(seconds: float) -> str:
    """Say how long something lasts, in its largest unit: `4 d`, `23 h`, `5 min`, `12 s`."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"
