"""Training of the networks: self-play, labels, fitting; see docs/engine.md."""
