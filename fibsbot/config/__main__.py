"""Write config/fibsbot.toml and docs/configuration.md in the working directory."""

from pathlib import Path

from fibsbot.config.document import sample_file, settings_page

Path("config/fibsbot.toml").write_text(sample_file(), encoding="utf-8")
Path("docs/configuration.md").write_text(settings_page(), encoding="utf-8")
