"""An archive of matches: a folder of Parquet files that DuckDB writes and reads (extra `archive`).

`open_archive` opens one for questions; docs/how-to/archive.md describes it. Importing this package imports
nothing slow.
"""

from __future__ import annotations

from fibsbot.archive.reader import Archive, open_archive

__all__ = ["Archive", "open_archive"]
