"""Content security policies of our pages: what a page may load and run, which is only what is in it."""

from __future__ import annotations

import base64
import hashlib
from typing import Final

PLAIN_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Of a page without scripts and styles."""


def source_of(text: str) -> str:
    """Return the source expression that allows exactly this script or style (CSP 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def own_policy(script: str, style: str) -> str:
    """Return the policy of a page with one script and one style, which asks its own server and nobody else."""
    allowed = f"connect-src 'self'; script-src {source_of(script)}; style-src {source_of(style)}"
    return PLAIN_POLICY.replace("; ", f"; {allowed}; ", 1)
