"""Write config/fibsbot.toml and docs/configuration.md below the working directory anew."""

from pathlib import Path

from fibsbot.config.writing import page, sample

Path("config/fibsbot.toml").write_text(sample(), encoding="utf-8")
Path("docs/configuration.md").write_text(page(), encoding="utf-8")
