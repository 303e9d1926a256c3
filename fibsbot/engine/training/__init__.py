"""Training of the networks: self-play, labels, fitting; see docs/explanation/engine.md."""

from fibsbot.engine.jit import require_compiler

require_compiler("training")  # at once, and not after the first games
