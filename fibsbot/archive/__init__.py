"""An archive of matches: a folder of Parquet files that DuckDB writes and reads (extra `archive`).

`open_archive` opens one for questions. Importing this package imports nothing slow; see docs/archive.md.
"""

from __future__ import annotations




