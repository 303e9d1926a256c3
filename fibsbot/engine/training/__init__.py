"""How the networks are made: self-play, exact backups, fitting; see docs/engine.md."""
